/** The commands, in a bundle of their own that is loaded when the first of them runs. */
export { condenseNow } from './condenseNow';
export { undoCondensation } from './undo';
