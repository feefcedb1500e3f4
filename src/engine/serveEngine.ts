import type { TokenCounter } from '../core/tokens/types';
import { createEngine } from './engine';
import { Connection, type Port } from './rpc';

/**
 * Exposes an engine in this thread on a port.
 * @see createEngine
 */
export function serveEngine(port: Port, tokens: () => Promise<TokenCounter>): void {
  new Connection(port, () => createEngine(tokens));
}
