/** The background worker's entry point: does the one task it was started with. */
import { parentPort, workerData } from 'node:worker_threads';
import { isConversationReadError } from '../conversations/readError';
import { errorMessage } from '../core/errors';
import { GiveBackError } from '../giveBack/giveBackError';
import { loadTokenCounter } from '../storage/assets';
import { perform } from './perform';
import type { Refusal, Task, WorkerMessage } from './tasks';

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
    const message = errorMessage(error);
    const refusal = refusalOf(error);
    send({ type: 'failed', message, ...(refusal && { refusal }) });
  },
);

function refusalOf(error: unknown): Refusal | undefined {
  if (isConversationReadError(error)) return { kind: 'read', data: error.data };
  return error instanceof GiveBackError ? { kind: 'give-back', data: error.data } : undefined;
}
