/** Code that the engine loads on demand. */
export { PreviewSession } from '../background/preview/session';
export { performTask } from '../background/perform';
export { MessageCounter } from '../core/tokens/messageCounter';
export { CondenserSession } from './condenser/session';
export { LiveSession } from './live/session';
