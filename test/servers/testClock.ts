import type { TimeSource } from '../../src/api/clock';

/**
 * A clock for tests: it records retry delays and ends them immediately; timers run only in
 * `advance`.
 */
export interface TestClock extends TimeSource {
  /** Recorded delays in milliseconds. */
  readonly sleeps: readonly number[];
  /** Delays of the pending timers in milliseconds, counted from when they were set. */
  readonly pending: readonly number[];
  /** Advances the clock and runs due timers. */
  advance(milliseconds: number): void;
}

export function testClock(start = Date.UTC(2026, 0, 1)): TestClock {
  let now = start;
  const sleeps: number[] = [];
  const timers = new Set<{ readonly at: number; readonly milliseconds: number; readonly run: () => void }>();
  return {
    sleeps,
    get pending() {
      return [...timers].map(({ milliseconds }) => milliseconds);
    },
    now: () => now,
    after(milliseconds, run) {
      const timer = { at: now + milliseconds, milliseconds, run };
      timers.add(timer);
      return () => {
        timers.delete(timer);
      };
    },
    sleep(milliseconds) {
      sleeps.push(milliseconds);
      now += milliseconds;
      return Promise.resolve();
    },
    advance(milliseconds) {
      now += milliseconds;
      for (const timer of [...timers]) {
        if (timer.at > now) continue;
        timers.delete(timer);
        timer.run();
      }
    },
  };
}
