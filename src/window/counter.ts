import { join } from 'node:path';
import { MessageCounter } from '../core/tokens/messageCounter';
import { loadTokenCounter } from '../storage/assets';
import type { Services } from './services';

let loadingCounter: Promise<MessageCounter> | undefined;

/** The window's only counter, so that nothing is counted twice. */
export function getMessageCounter({ context }: Services): Promise<MessageCounter> {
  loadingCounter ??= loadTokenCounter(join(context.extensionPath, 'dist')).then(
    (counter) => new MessageCounter(counter),
  );
  // After a failure the next caller loads the counter again.
  loadingCounter.catch(() => (loadingCounter = undefined));
  return loadingCounter;
}
