import type { MessageCounter } from '../core/tokens/messageCounter';
import type { CallOptions } from './call';

export interface ModelOptions {
  readonly id: string;
  /** Input and output together, in tokens. */
  readonly contextWindow?: number;
  /** Tokens of one answer at most. */
  readonly maxOutputTokens?: number;
}

/** What every handler is made of. */
export interface HandlerOptions extends CallOptions {
  /** What errors call it, such as the profile's name. Default: the vendor's name. */
  readonly name?: string;
  readonly model: ModelOptions;
  /** Counts where the vendor doesn't. */
  readonly counter: MessageCounter;
}
