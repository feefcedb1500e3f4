import { isConversationReadError } from '../conversations/readError';
import { errorMessage } from '../core/errors';
import type { TokenCounter } from '../core/tokens/types';
import { GiveBackError } from '../giveBack/giveBackError';
import { perform } from './perform';
import type { Refusal, Task, WorkerMessage } from './tasks';

/** The worker's side of `runTask`: does one task and sends what came of it. It never rejects: an error is sent, too. */
export async function serveTask(
  task: Task,
  tokens: () => Promise<TokenCounter>,
  send: (message: WorkerMessage) => void,
): Promise<void> {
  try {
    const result = await perform(task, tokens, (progress) => {
      send({ type: 'progress', progress });
    });
    send({ type: 'done', result });
  } catch (error) {
    const refusal = refusalOf(error);
    send({ type: 'failed', message: errorMessage(error), ...(refusal && { refusal }) });
  }
}

function refusalOf(error: unknown): Refusal | undefined {
  if (isConversationReadError(error)) return { kind: 'read', data: error.data };
  return error instanceof GiveBackError ? { kind: 'give-back', data: error.data } : undefined;
}
