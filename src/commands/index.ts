/**
 * Commands, agent mode and exported API, in one bundle loaded on first use, so that the window has
 * a single counter and a single copy of the code that calls models.
 */
import { ConversationFolding } from '../window/conversationFolding';

export { getAgentRuntime as agentOf } from '../agent/runtime';
export { chooseCondensingProfile, chooseProvider, setThreshold } from './chooseProvider';
export { accountStored, saveAccount, listToolWeights as toolWeightsOf } from './account';
export { getConversationsView as conversationsOf, runConversationAction } from './conversations';
export { recoverGivenBack } from './conversations/giveBack';
export { removeKilledRuns } from './openAgent';
export { watchIdleTasks } from './conversations/idleTasks';
export { condenseNamedWith } from './condenseWith';
export { condenseNewest, condenseNow } from './condenseNow';
export { judgeStored } from './judgeStored';
export { importRooSettings } from './importRooSettings';
export {
  askKey,
  manageProfiles,
  removeProfile,
  tryConnection,
  listVendorModels as vendorModels,
} from './manageProfiles';
export { loadModelFacts as factsOfModel, listEditorModels as modelsOfEditor } from './modelFacts';
export { getMetrics as metricsOf } from '../window/metrics';
export { watchSettings } from '../window/settings/settings';
export {
  chooseConversation,
  condenseChosen,
  defaultConversation,
  resolveConversation,
  loadConversation as lookAtConversation,
  onLiveChange,
  savePins,
} from './chosenConversation';
export { readPreviewSetup, findPricing as pricingOf, createProfileSetups as profileSetups } from './previewSetup';
export { changeCondensation, clearHistory, exportHistory, readHistory as historyOf, showCondensation } from './history';
export { createTerminalProfile as agentProfile, openAgent } from './openAgent';
export { connectClaudeCode, openGateway } from './openGateway';
export { answerInChat } from './participant';
export { previewPrompt } from './previewPrompt';
export { getOriginals as originalsOf } from '../window/originals';
export const conversationFolding = new ConversationFolding();
export { createPrompt as promptFor } from './promptText';
export { showMetrics } from './showMetrics';
export { saveApiTypes } from './saveApiTypes';
export { undoLast } from './undo';
export { getApi } from './getApi';
