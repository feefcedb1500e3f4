/**
 * All commands are in one bundle, so that the window has a single token counter and one copy of the
 * code that calls models.
 */
import { ConversationFolding } from '../window/conversationFolding';

export { getAgentRuntime } from '../agent/runtime';
export { chooseCondensingProfile, chooseProvider, setThreshold } from './chooseProvider';
export { computeStoredAccount, saveAccount, listToolWeights } from './account';
export { getConversationsView, runConversationAction } from './conversations';
export { recoverGivenBack } from './conversations/giveBack';
export { removeKilledRuns } from './openAgent';
export { watchIdleTasks } from './conversations/idleTasks';
export { condenseNamedWith } from './condenseWith';
export { condenseNewest, condenseNow } from './condenseNow';
export { judgeStored } from './judgeStored';
export { importRooSettings } from './importRooSettings';
export { askKey, manageProfiles, removeProfile, testProfileConnection, listVendorModels } from './manageProfiles';
export { loadModelFacts, listEditorModels } from './modelFacts';
export { watchSettings } from '../window/settings/settings';
export {
  chooseConversation,
  condenseChosen,
  getDefaultConversation,
  findOwnConversation,
  resolveConversation,
  loadConversation,
  onLiveChange,
  savePins,
} from './chosenConversation';
export { readPreviewSetup, findPricing, createProfileSetups } from './previewSetup';
export { changeCondensation, clearHistory, exportHistory, readHistory, showCondensation } from './history';
export { createTerminalProfile, openAgent } from './openAgent';
export { connectClaudeCode, openGateway } from './openGateway';
export { answerInChat } from './participant';
export { previewPrompt } from './previewPrompt';
export { getOriginals } from '../window/originals';
export const conversationFolding = new ConversationFolding();
export { createPrompt } from './promptText';
export { showMetrics } from './showMetrics';
export { saveApiTypes } from './saveApiTypes';
export { undoLast } from './undo';
export { getApi } from './getApi';
