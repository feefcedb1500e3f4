/** The background worker's entry point: does the one task it was started with. */
import { parentPort, workerData } from 'node:worker_threads';
import { isConversationReadError } from '../conversations/readError';
import { loadTokenCounter } from '../storage/assets';
import { perform } from './perform';
import type { Task, WorkerMessage } from './tasks';

const send = (message: WorkerMessage): void => {
  parentPort?.postMessage(message);
};

perform(
  workerData as Task,
  () => loadTokenCounter(__dirname),
  (progress) => {
    send({ type: 'progress', progress });
  },
).then(
  (result) => {
    send({ type: 'done', result });
  },
  (error: unknown) => {
    const message = error instanceof Error ? error.message : String(error);
    send(
      isConversationReadError(error) ? { type: 'failed', message, readError: error.data } : { type: 'failed', message },
    );
  },
);
