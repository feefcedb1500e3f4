/**
 * Lets the event loop run, so that other conversations proceed and a cancellation takes effect.
 * @throws the signal's reason if it is aborted
 */
export async function yieldBetweenSteps(signal: AbortSignal | undefined): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
  signal?.throwIfAborted();
}
