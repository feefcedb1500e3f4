/** What the engine does beside reading, loaded when it is first asked for. */
export { ForecastSession } from '../background/forecast/session';
export { perform } from '../background/perform';
export { MessageCounter } from '../core/tokens/messageCounter';
export { CondenserSession } from './condenser/session';
export { LiveSession } from './live/session';
