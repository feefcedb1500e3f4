import { Worker } from 'node:worker_threads';
import { ConversationReadError } from '../conversations/readError';
import { GiveBackError } from '../giveBack/giveBackError';
import type { Refusal, Task, TaskProgress, TaskResult, WorkerMessage } from './tasks';

export interface RunTaskOptions {
  /** The bundled worker. */
  readonly workerPath: string;
  readonly signal: AbortSignal;
  readonly onProgress?: (progress: TaskProgress) => void;
}

/**
 * The index runs for minutes beside everything else: with a small heap V8 collects early instead of growing. A file of the
 * largest size that is counted fits.
 */
const INDEX_LIMITS = { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 16 };

/**
 * Runs a task in a worker thread of its own. An abort ends the thread at once, wherever it is; what it was writing is
 * safe, for the ledger's writes are whole or not there.
 * @throws the signal's reason where it was aborted; ConversationReadError where the file can't be read; GiveBackError where
 * nothing may be written; else Error.
 */
export async function runTask<T extends Task>(task: T, options: RunTaskOptions): Promise<TaskResult<T>> {
  const { workerPath, signal, onProgress } = options;
  signal.throwIfAborted();
  const isSmall = task.kind === 'index' || (task.kind === 'account' && !task.with);
  const limits = isSmall ? { resourceLimits: INDEX_LIMITS } : {};
  const worker = new Worker(workerPath, { workerData: task, ...limits });
  let abort: (() => void) | undefined;
  try {
    return await new Promise<TaskResult<T>>((resolve, reject) => {
      abort = () => {
        void worker.terminate();
        reject(signal.reason as Error);
      };
      signal.addEventListener('abort', abort);
      worker.on('message', (message: WorkerMessage) => {
        switch (message.type) {
          case 'progress':
            onProgress?.(message.progress);
            break;
          case 'done':
            // The worker answers a task with its own kind of result.
            resolve(message.result as TaskResult<T>);
            break;
          case 'failed':
            reject(errorOf(message));
            break;
        }
      });
      worker.once('error', reject);
      worker.once('exit', (code) => {
        reject(new Error(`The background worker ended (code ${code}) before it had a result. Nothing was changed.`));
      });
    });
  } finally {
    if (abort) signal.removeEventListener('abort', abort);
    await worker.terminate();
  }
}

function errorOf({ message, refusal }: { readonly message: string; readonly refusal?: Refusal }): Error {
  switch (refusal?.kind) {
    case 'read':
      return new ConversationReadError(refusal.data);
    case 'give-back':
      return new GiveBackError(refusal.data);
    case undefined:
      return new Error(message);
  }
}
