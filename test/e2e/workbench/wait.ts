/** How long a condition is waited for at most, in milliseconds: it says of one that never comes, and not of a busy machine. */
export const WAIT_MS = 180_000;

/**
 * A click may be done long before it is reported on a busy machine: one that is given up too soon and tried again is done twice. In
 * milliseconds.
 */
export const CLICK = { timeout: 30_000 };

/** Between two questions, in milliseconds: what does not come soon is asked for less often, since each question costs the page some. */
const FIRST_PAUSE_MS = 40;
const LONGEST_PAUSE_MS = 250;

/** Asks again and again until there is an answer. Tests wait for conditions with this, and never for time. */
export async function until<T>(
  what: string,
  probe: () => Promise<T | undefined | null | false> | T | undefined | null | false,
  timeout = WAIT_MS,
): Promise<T> {
  const end = Date.now() + timeout;
  let last: unknown;
  let pause = FIRST_PAUSE_MS;
  for (;;) {
    try {
      const found = await probe();
      if (found !== undefined && found !== null && found !== false) return found;
      last = undefined;
    } catch (error) {
      last = error;
    }
    if (Date.now() > end) {
      const why = last instanceof Error ? `: ${last.message}` : '';
      throw new Error(`Waited ${timeout / 1000} s in vain for ${what}${why}`, { cause: last });
    }
    await new Promise((resolve) => setTimeout(resolve, pause));
    pause = Math.min(pause * 1.3, LONGEST_PAUSE_MS);
  }
}
