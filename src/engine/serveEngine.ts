import type { TokenCounter } from '../core/tokens/types';
import { createEngine } from './engine';
import { Connection, type Port } from './rpc';

/** Answers for an engine in this thread to whoever has the other end of the port. @see createEngine */
export function serveEngine(port: Port, tokens: () => Promise<TokenCounter>): void {
  new Connection(port, () => createEngine(tokens));
}
