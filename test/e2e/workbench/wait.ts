import type { Frame, Locator } from 'playwright-core';

/** How long a condition is waited for at most, in milliseconds: it says of one that never comes, and not of a busy machine. */
export const WAIT_MS = 180_000;

/**
 * A click may be done long before it is reported on a busy machine: one that is given up too soon and tried again is done twice. In
 * milliseconds.
 */
export const CLICK = { timeout: 30_000 };

/** Tells the page that the click is over. */
const CLICKED = 'condenser-clicked';

/**
 * Clicks what may be drawn anew at any moment. A button that is pressed on one element and let go on what took its place is a click on
 * neither, and one that another element would get, since the list has moved, is held back.
 * @param what which elements count, as a selector: rows, buttons.
 * @param label stands in the one that is meant.
 * @returns whether it had the click, also where the window was loaded anew for it; else nothing was chosen.
 */
export async function clickOn(target: Locator, what: string, label: string | RegExp): Promise<boolean> {
  const pattern = typeof label === 'string' ? { text: label } : { text: label.source, flags: label.flags };
  await target.evaluate(
    (element, { what, CLICKED, pattern }) => {
      const { documentElement, defaultView: window } = element.ownerDocument;
      delete documentElement.dataset['clicked'];
      const { text, flags } = pattern;
      const over = new AbortController();
      const guard = (event: Event): void => {
        // Node's types of events know nothing of elements.
        const { target } = event as unknown as { readonly target: typeof element };
        const clicked = (target.closest(what)?.textContent ?? '').replace(/\s+/g, ' ');
        const isMeant = flags === undefined ? clicked.includes(text) : new RegExp(text, flags).test(clicked);
        if (!isMeant) event.stopImmediatePropagation();
        else if (event.type === 'click') documentElement.dataset['clicked'] = 'yes';
      };
      for (const kind of ['pointerdown', 'mousedown', 'click'])
        window?.addEventListener(kind, guard, { capture: true, signal: over.signal });
      const end = (): void => {
        over.abort();
      };
      window?.addEventListener(CLICKED, end, { once: true });
    },
    { what, CLICKED, pattern },
    { timeout: 2_000 },
  );
  const page = target.page();
  const loads: Frame[] = [];
  const loaded = (frame: Frame): void => {
    if (frame === page.mainFrame()) loads.push(frame);
  };
  page.on('framenavigated', loaded);
  try {
    await target.click(CLICK);
    await page.evaluate(`window.dispatchEvent(new Event('${CLICKED}'))`);
    const isClicked = await page.evaluate<boolean>(`document.documentElement.dataset.clicked === 'yes'`);
    return isClicked || loads.length > 0;
  } catch (error) {
    // The click did what it should; the page that could say so is gone.
    if (loads.length > 0 || LEFT.test(String(error))) return true;
    await page.evaluate(`window.dispatchEvent(new Event('${CLICKED}'))`);
    throw error;
  } finally {
    page.off('framenavigated', loaded);
  }
}

/** What Playwright says of a page that another one took the place of. */
const LEFT = /context was destroyed/;

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
