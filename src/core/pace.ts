/** Longest stretch without giving the thread back, in milliseconds: the extension host is shared with everybody. */
const STRETCH_MS = 15;

/** When the thread was last given back, by any of the paces: they all run on the same thread. */
let since = performance.now();

/** Long work that yields wherever it may be interrupted, and returns its result. */
export type Steps<T> = Generator<undefined, T, undefined>;

/** The result of work that nothing interrupts. */
export function inOneGo<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

/**
 * Keeps long mechanical work from blocking the thread: gives it back now and then, and stops the work where it was
 * cancelled.
 */
export class Pace {
  constructor(private readonly signal?: AbortSignal) {}

  /**
   * Whether a stretch is over. Loops that do little in each round ask this first: an `await` would cost more than the
   * round.
   */
  get isDue(): boolean {
    return performance.now() - since >= STRETCH_MS;
  }

  /**
   * Call often; it does something only once a stretch is over.
   * @throws the signal's reason where it was aborted.
   */
  async yieldIfDue(): Promise<void> {
    if (this.isDue) await this.yieldNow();
  }

  /**
   * Gives the thread back at once, for what ran before took its time.
   * @throws the signal's reason where it was aborted.
   */
  async yieldNow(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    this.signal?.throwIfAborted();
    since = performance.now();
  }

  /**
   * The result of work that gives the thread back on its way.
   * @throws the signal's reason where it was aborted.
   */
  async through<T>(steps: Steps<T>): Promise<T> {
    for (;;) {
      const step = steps.next();
      if (step.done) return step.value;
      if (this.isDue) await this.yieldNow();
    }
  }
}
