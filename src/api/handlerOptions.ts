import type { MessageCounter } from '../core/tokens/messageCounter';
import type { CallOptions } from './call';

export interface ModelOptions {
  readonly id: string;
  /** Input and output together, in tokens. */
  readonly contextWindow?: number;
  /** Tokens of one answer at most. */
  readonly maxOutputTokens?: number;
}

/** The options of every handler. */
export interface HandlerOptions extends CallOptions {
  /** The name that errors use, such as the profile's name. Default: the vendor's name. */
  readonly name?: string;
  readonly model: ModelOptions;
  /** Counts where the vendor doesn't. */
  readonly counter: MessageCounter;
}
