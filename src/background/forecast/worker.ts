/** The preview's worker's entry point: answers until the host ends it. */
import { parentPort } from 'node:worker_threads';
import { errorMessage } from '../../core/errors';
import { MessageCounter } from '../../core/tokens/messageCounter';
import { loadTokenCounter } from '../../storage/assets';
import type { FromForecastWorker, ToForecastWorker } from './messages';
import { ForecastSession } from './session';

const session = loadTokenCounter(__dirname).then((counter) => new ForecastSession(new MessageCounter(counter)));
const running = new Map<number, AbortController>();

const send = (message: FromForecastWorker): void => {
  parentPort?.postMessage(message);
};

async function answer({ id, request }: Extract<ToForecastWorker, { type: 'ask' }>): Promise<void> {
  const abort = new AbortController();
  running.set(id, abort);
  try {
    const result = await (await session).ask(request, abort.signal);
    send({ type: 'answer', id, result });
  } catch (error) {
    send({ type: 'failed', id, message: errorMessage(error) });
  } finally {
    running.delete(id);
  }
}

parentPort?.on('message', (message: ToForecastWorker) => {
  switch (message.type) {
    case 'live':
      // An answer waits for the same promise, behind this.
      void session.then((made) => {
        made.update(message.id, message.update);
      });
      return;
    case 'cancel':
      running.get(message.id)?.abort(new Error('cancelled'));
      return;
    case 'ask':
      void answer(message);
  }
});
