export interface TimeSource {
  /** Milliseconds since the epoch. */
  now(): number;
  /** @returns a function that cancels the timer */
  after(milliseconds: number, run: () => void): () => void;
  /** Resolves early if the signal aborts. */
  sleep(milliseconds: number, signal: AbortSignal): Promise<void>;
}

/** Maximum delay of setTimeout, which fires at once for longer ones. */
const MAX_TIMER_MS = 2 ** 31 - 1;

export const systemClock: TimeSource = {
  now: () => Date.now(),
  after(milliseconds, run) {
    const timer = setTimeout(run, Math.min(milliseconds, MAX_TIMER_MS));
    return () => {
      clearTimeout(timer);
    };
  },
  sleep: (milliseconds, signal) =>
    new Promise((resolve) => {
      const finish = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', finish);
        resolve();
      };
      const timer = setTimeout(finish, Math.min(milliseconds, MAX_TIMER_MS));
      if (signal.aborted) finish();
      else signal.addEventListener('abort', finish);
    }),
};
