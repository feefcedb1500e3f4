import { describe, expect, it, vi } from 'vitest';
import { systemClock } from './clock';
import { iterateUntilAborted } from './untilAborted';

describe('the system clock', () => {
  it('runs a callback after its delay unless the callback is cancelled, and sleeps until the delay ends or is aborted', async () => {
    vi.useFakeTimers();
    try {
      const run = vi.fn();
      systemClock.after(100, run);
      systemClock.after(100, run)();
      vi.advanceTimersByTime(100);
      expect(run).toHaveBeenCalledTimes(1);
      expect(systemClock.now()).toBe(Date.now());
      const slept = systemClock.sleep(1000, new AbortController().signal);
      vi.advanceTimersByTime(1000);
      await slept;
      const controller = new AbortController();
      const woken = systemClock.sleep(1e12, controller.signal);
      controller.abort();
      await woken;
      await systemClock.sleep(1000, AbortSignal.abort());
      expect(vi.getTimerCount()).toBe(0);
    } finally {
      vi.useRealTimers();
    }
  });
});

describe('a stream that can be aborted', () => {
  it("throws the abort's reason, even if its source then fails or ends", async () => {
    for (const ending of ['fails', 'ends', 'hangs'] as const) {
      const controller = new AbortController();
      const source = (async function* () {
        yield 1;
        await new Promise<void>((resolve, reject) => {
          controller.signal.addEventListener('abort', () => {
            if (ending === 'fails') reject(new Error('socket closed'));
            if (ending === 'ends') resolve();
          });
        });
      })();
      const items = iterateUntilAborted(source, controller.signal);
      expect(await items.next()).toEqual({ done: false, value: 1 });
      const next = items.next();
      controller.abort(new Error('enough'));
      await expect(next).rejects.toThrow('enough');
    }
  });
});
