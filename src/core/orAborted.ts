/** Rejects with the signal's reason as soon as it aborts; the underlying work continues. */
export async function rejectOnAbort<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return promise;
  let onAbort = (): void => undefined;
  const abortPromise = new Promise<never>((_resolve, reject) => {
    onAbort = (): void => {
      reject(signal.reason as Error);
    };
  });
  signal.addEventListener('abort', onAbort);
  if (signal.aborted) onAbort();
  try {
    return await Promise.race([promise, abortPromise]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
