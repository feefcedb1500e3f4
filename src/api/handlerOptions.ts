import type { MessageCounter } from '../core/tokens/messageCounter';
import type { CallOptions } from './call';

export interface ModelOptions {
  readonly id: string;
  /** Input and output together, in tokens. */
  readonly contextWindow?: number;
  /** Maximum output tokens. */
  readonly maxOutputTokens?: number;
}

export interface HandlerOptions extends CallOptions {
  /** Name shown in errors, such as the profile's. Default: the vendor's name. */
  readonly name?: string;
  readonly model: ModelOptions;
  /** Used if the vendor doesn't count. */
  readonly counter: MessageCounter;
}
