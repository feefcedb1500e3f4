import { Worker } from 'node:worker_threads';
import { errorCode } from '../core/errors';
import { withPersonsAnswersAt } from './personsAnswers';
import { ConversationReadError } from './readError';
import type { Conversation, ReadOptions } from './types';
import type { WorkerReply, WorkerRequest } from './workerReply';

export interface ParseInWorkerOptions extends ReadOptions {
  /** The bundled worker, `dist/readerWorker.cjs`. */
  readonly workerPath: string;
  /** Aborting ends the worker; the promise rejects with the signal's reason. */
  readonly signal?: AbortSignal;
}

/**
 * Reads and parses a file in a worker thread, so that the caller's thread stays free: neither the file's bytes nor its
 * parsing touch it, only the finished messages arrive.
 * @throws {ConversationReadError} for everything that goes wrong, a crash of the worker included
 * @throws the signal's reason, when aborted
 */
export async function parseInWorker(path: string, options: ParseInWorkerOptions): Promise<Conversation> {
  const { workerPath, signal, ...readOptions } = options;
  signal?.throwIfAborted();
  const request: WorkerRequest = { path, options: readOptions };
  const worker = new Worker(workerPath, { workerData: request });
  try {
    const reply = await replyOf(worker, path, signal);
    if ('error' in reply) throw new ConversationReadError(reply.error);
    return withPersonsAnswersAt(reply.conversation, reply.answers);
  } finally {
    // Not awaited: a cancellation must not wait for a parser that is in the middle of one large value.
    void worker.terminate();
  }
}

async function replyOf(worker: Worker, path: string, signal: AbortSignal | undefined): Promise<WorkerReply> {
  const { promise, resolve, reject } = Promise.withResolvers<WorkerReply>();
  const abort = (): void => {
    reject(signal?.reason);
  };
  const fail = (error: unknown): void => {
    reject(workerError(path, error));
  };
  worker.once('message', resolve);
  worker.once('messageerror', fail);
  worker.once('error', fail);
  worker.once('exit', (code) => {
    fail(new Error(`it ended with code ${code} before it answered`));
  });
  signal?.addEventListener('abort', abort);
  try {
    return await promise;
  } finally {
    signal?.removeEventListener('abort', abort);
  }
}

/** The error for a worker's failure: too little memory, or a fault of the reader itself. */
export function workerError(path: string, error: unknown): ConversationReadError {
  const isMemory = errorCode(error) === 'ERR_WORKER_OUT_OF_MEMORY';
  return new ConversationReadError(
    {
      problem: 'worker',
      source: path,
      found: isMemory
        ? 'a conversation that does not fit into memory'
        : `a reader that failed: ${error instanceof Error ? error.message : 'unknown error'}`,
      expected: 'a conversation or a reason why not',
      ...(!isMemory && { advice: 'Try again; if it happens again, please report it with this message.' }),
    },
    { cause: error },
  );
}
