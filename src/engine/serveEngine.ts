import type { TokenCounter } from '../core/tokens/types';
import { createEngine } from './engine';
import { RpcConnection, type MessagePortLike } from './rpc';

/** @see createEngine */
export function serveEngine(port: MessagePortLike, tokens: () => Promise<TokenCounter>): void {
  new RpcConnection(port, () => createEngine(tokens));
}
