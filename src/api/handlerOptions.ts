import type { MessageCounter } from '../core/tokens/messageCounter';
import type { CallOptions } from './call';

export interface ModelOptions {
  readonly id: string;
  /** Input and output together, in tokens. */
  readonly contextWindow?: number;
  readonly maxOutputTokens?: number;
}

export interface HandlerOptions extends CallOptions {
  /** Name of the endpoint, as shown in errors. Default: the vendor's name. */
  readonly name?: string;
  readonly model: ModelOptions;
  readonly counter: MessageCounter;
}
