import type { Locator } from 'playwright-core';

/** How long a condition is waited for at most, in milliseconds: it says of one that never comes, and not of a busy machine. */
export const WAIT_MS = 180_000;

/**
 * A click may be done long before it is reported on a busy machine: one that is given up too soon and tried again is done twice. In
 * milliseconds.
 */
export const CLICK = { timeout: 30_000 };

/**
 * Clicks what may be drawn anew at any moment. A button that is pressed on one element and let go on what took its place is a click on
 * neither.
 * @param what which elements count, as a selector: rows, buttons.
 * @param label stands in the one that is meant.
 * @returns whether it had the click; else nothing was chosen.
 */
export async function clickOn(target: Locator, what: string, label: string | RegExp): Promise<boolean> {
  await target.evaluate(
    (element, what) => {
      const { dataset } = element.ownerDocument.documentElement;
      delete dataset['clicked'];
      const note = ({ target }: { readonly target: typeof element }): void => {
        dataset['clicked'] = (target.closest(what)?.textContent ?? '').replace(/\s+/g, ' ');
      };
      element.ownerDocument.addEventListener('click', note, { capture: true, once: true });
    },
    what,
    { timeout: 2_000 },
  );
  await target.click(CLICK);
  const clicked = await target.page().evaluate<string>(`document.documentElement.dataset.clicked ?? ''`);
  return typeof label === 'string' ? clicked.includes(label) : label.test(clicked);
}

/** What {@link clickOn} clicks in a list. */
export const LIST_ROW = '.monaco-list-row';

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
