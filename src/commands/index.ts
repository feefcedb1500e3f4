/**
 * In one bundle, all commands share a single token counter and one copy of the code that calls
 * models.
 */
import { ConversationFolding } from '../window/conversationFolding';

export { getAgentRuntime } from '../agent/runtime';
export { chooseCondensingProfile, chooseProvider, askAndSetThreshold } from './chooseProvider';
export { computeStoredAccount, saveAccount, listToolWeights } from './account';
export { getConversationsView, runConversationAction } from './conversations';
export { recoverGivenBack } from './conversations/giveBack';
export { removeFoldersOfKilledRuns } from './openAgent';
export { watchIdleTasks } from './conversations/idleTasks';
export { condenseNamedConversationWith } from './condenseWith';
export { condenseNewestConversation, condenseNow } from './condenseNow';
export { judgeStoredSessions as judgeStored } from './judgeStored';
export { importRooSettings } from './importRooSettings';
export { askApiKey, manageProfiles, removeProfile, testProfileConnection, listVendorModels } from './manageProfiles';
export { loadModelWindowAndPrices, listEditorModels } from './modelFacts';
export { watchSettings } from '../window/settings/settings';
export {
  chooseConversation,
  condenseChosenConversation,
  getDefaultConversation,
  findOwnConversation,
  resolveConversation,
  loadLiveView,
  subscribeToLiveChanges,
  saveConversationPins,
} from './chosenConversation';
export { readPreviewSetup, findModelPricing, createPreviewSetupsOfProfiles } from './previewSetup';
export { undoOrRedoCondensation, clearHistory, exportHistory, readHistory, showCondensation } from './history';
export { createTerminalProfile, openAgent } from './openAgent';
export { connectClaudeCode, openGateway } from './openGateway';
export { answerInChat } from './participant';
export { previewPrompt } from './previewPrompt';
export { getOriginalDocuments } from '../window/originals';
export const conversationFolding = new ConversationFolding();
export { createPrompt } from './promptText';
export { showMetrics } from './showMetrics';
export { saveApiTypes } from './saveApiTypes';
export { undoLastCondensation } from './undo';
export { getApi } from './getApi';
