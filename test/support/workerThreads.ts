/**
 * Replaces `node:worker_threads` in unit and panel tests. Workers run in the test's process with
 * cloned messages, because real threads first load two megabytes of bundle and the token table.
 * `*.system.test.ts` test real threads.
 */
import { EventEmitter } from 'node:events';
import { createRequire } from 'node:module';
import type * as WorkerThreads from 'node:worker_threads';
import { inject } from 'vitest';
import { ENGINE_BUNDLE } from '../../src/engine/engineThread';
import { serveEngine } from '../../src/engine/serveEngine';
import type { RpcMessage } from '../../src/engine/rpc';
import { loadTokenCounter } from '../../src/storage/assets';
import { basename } from 'node:path';
import type {} from './ranks';

// An import statement would get this module instead of Node's.
export const { getEnvironmentData, setEnvironmentData, threadId } = createRequire(import.meta.url)(
  'node:worker_threads',
) as typeof WorkerThreads;

export class Worker extends EventEmitter {
  /** The ID of an ended thread; no running thread has it. */
  readonly threadId = -1;
  private isEnded = false;
  private receive: (message: RpcMessage) => void = () => undefined;

  constructor(path: string) {
    super();
    if (basename(path) !== ENGINE_BUNDLE) throw new Error(`No worker of ours: ${path}`);
    serveEngine(
      {
        postMessage: (message) => {
          const copy = structuredClone(message);
          setImmediate(() => {
            if (!this.isEnded) this.emit('message', copy);
          });
        },
        on: (_event, listener) => (this.receive = listener),
      },
      () => loadTokenCounter(inject('assets')),
    );
  }

  postMessage(message: RpcMessage): void {
    const copy = structuredClone(message);
    setImmediate(() => {
      // An aborted signal still arrives, because this thread, unlike a terminated one, stops only
      // where it checks the signal.
      if (!this.isEnded || message.type === 'abort') this.receive(copy);
    });
  }

  terminate(): Promise<number> {
    if (!this.isEnded) queueMicrotask(() => this.emit('exit', 1));
    this.isEnded = true;
    return Promise.resolve(1);
  }
}
