/** Time as the calls see it; tests give their own, so that they never wait. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Runs once after so many milliseconds. @returns what takes it back */
  after(milliseconds: number, run: () => void): () => void;
  /** Resolves after so many milliseconds, or at once when the signal aborts. */
  sleep(milliseconds: number, signal: AbortSignal): Promise<void>;
}

/** setTimeout fires at once for anything longer. */
const LONGEST_TIMER = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  after(milliseconds, run) {
    const timer = setTimeout(run, Math.min(milliseconds, LONGEST_TIMER));
    return () => {
      clearTimeout(timer);
    };
  },
  sleep: (milliseconds, signal) =>
    new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', done);
        resolve();
      };
      const timer = setTimeout(done, Math.min(milliseconds, LONGEST_TIMER));
      if (signal.aborted) done();
      else signal.addEventListener('abort', done);
    }),
};
