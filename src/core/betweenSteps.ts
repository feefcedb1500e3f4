/**
 * Gives the event loop one turn between two steps of a condensation: other conversations go on, and a cancel is heard.
 * A step itself is synchronous.
 * @throws the signal's reason if it is aborted
 */
export async function betweenSteps(signal: AbortSignal | undefined): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
  signal?.throwIfAborted();
}
