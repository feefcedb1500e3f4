export { condensePreviewed, savePins } from './condense';
export { choosePreviewed, defaultConversation, onLiveChange, previewedConversation } from './conversation';
export { pricingOf, profileSetups } from './profileSetups';
export { previewSetup } from './setup';
