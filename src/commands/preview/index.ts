export { condensePreviewed, savePins } from './condense';
export { choosePreviewed, defaultConversation, previewedConversation } from './conversation';
export { previewSetup } from './setup';
