import type { Frame, Locator } from 'playwright-core';

/** Maximum wait for a condition in milliseconds; detects hanging tests even on a busy machine. */
export const WAIT_MS = 180_000;

/**
 * Timeout of a click in milliseconds: on a busy machine its completion is reported late, and a
 * retry would click twice.
 */
export const CLICK = { timeout: 30_000 };

/** Confirms the click to the page. */
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
        // Node's event types lack elements.
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
    // The click succeeded and replaced the page.
    if (loads.length > 0 || LEFT.test(String(error))) return true;
    await page.evaluate(`window.dispatchEvent(new Event('${CLICKED}'))`);
    throw error;
  } finally {
    page.off('framenavigated', loaded);
  }
}

/** Playwright's errors after a navigation. */
const LEFT = /context was destroyed/;

/** An element in a list for {@link clickOn}. */
export const LIST_ROW = '.monaco-list-row';

/** Polling intervals in milliseconds, increasing, since polling slows the page. */
const FIRST_PAUSE_MS = 40;
const LONGEST_PAUSE_MS = 250;

/** Polls until there is an answer. Tests wait for conditions with this, never for time. */
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
