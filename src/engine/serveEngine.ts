import { createEngine } from './engine';
import { Connection, type Port } from './rpc';

/** Answers for an engine in this thread to whoever has the other end of the port. */
export function serveEngine(port: Port): void {
  new Connection(port, createEngine);
}
