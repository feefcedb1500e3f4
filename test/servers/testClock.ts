import type { Clock } from '../../src/api/clock';

/** A clock that a test moves: waits between tries end at once and are noted, timeouts come when the test says so. */
export interface TestClock extends Clock {
  /** The waits so far, in milliseconds. */
  readonly sleeps: readonly number[];
  /** Timers that are set, in milliseconds from when they were. */
  readonly pending: readonly number[];
  /** Moves on; what is due runs. */
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
