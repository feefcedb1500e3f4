/**
 * The items of a source until the signal aborts; then it throws the signal's reason at once, even while the source hangs,
 * and lets go of the source.
 */
export async function* untilAborted<T>(source: AsyncIterable<T>, signal: AbortSignal): AsyncGenerator<T, void> {
  const iterator = source[Symbol.asyncIterator]();
  let onAbort = (): void => undefined;
  const aborted = new Promise<void>((resolve) => {
    onAbort = resolve;
  });
  signal.addEventListener('abort', onAbort);
  let isOpen = true;
  try {
    for (;;) {
      signal.throwIfAborted();
      // A source that fails because of the abort fails with the abort's reason.
      const result = await Promise.race([iterator.next(), aborted]).finally(() => {
        signal.throwIfAborted();
      });
      if (!result || result.done === true) {
        isOpen = false;
        return;
      }
      yield result.value;
    }
  } finally {
    signal.removeEventListener('abort', onAbort);
    // Not waited for: a source that hangs would hang here too.
    if (isOpen) iterator.return?.().then(undefined, () => undefined);
  }
}
