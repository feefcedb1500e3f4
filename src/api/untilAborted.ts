/**
 * Yields the source's items. After an abort, throws the signal's reason at once, even if the source
 * hangs.
 */
export async function* iterateUntilAborted<T>(source: AsyncIterable<T>, signal: AbortSignal): AsyncGenerator<T, void> {
  const iterator = source[Symbol.asyncIterator]();
  let onAbort = (): void => undefined;
  const abortPromise = new Promise<void>((resolve) => {
    onAbort = resolve;
  });
  signal.addEventListener('abort', onAbort);
  let isOpen = true;
  try {
    for (;;) {
      signal.throwIfAborted();
      // If the abort makes the source fail, the abort's reason is thrown.
      const result = await Promise.race([iterator.next(), abortPromise]).finally(() => {
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
    // Not awaited, since a hanging source would block here.
    if (isOpen) iterator.return?.().then(undefined, () => undefined);
  }
}
