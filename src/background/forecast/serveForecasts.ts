import { errorMessage } from '../../core/errors';
import { MessageCounter } from '../../core/tokens/messageCounter';
import type { TokenCounter } from '../../core/tokens/types';
import type { FromForecastWorker, ToForecastWorker } from './messages';
import { ForecastSession } from './session';

/** The worker's side of `ForecastThread`. @returns what takes in its messages. */
export function serveForecasts(
  tokens: Promise<TokenCounter>,
  send: (message: FromForecastWorker) => void,
): (message: ToForecastWorker) => void {
  const session = tokens.then((counter) => new ForecastSession(new MessageCounter(counter)));
  const running = new Map<number, AbortController>();

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

  return (message) => {
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
  };
}
