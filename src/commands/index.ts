/** The commands, in a bundle of their own that is loaded when the first of them runs. */
export { chooseCondensingProfile, chooseProvider, setThreshold } from './chooseProvider';
export { condenseNow } from './condenseNow';
export { manageProfiles } from './manageProfiles';
export { previewPrompt } from './previewPrompt';
export { showMeasures } from './showMeasures';
export { undoCondensation } from './undo';
