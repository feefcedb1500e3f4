import type { Frame, Locator } from 'playwright-core';

/**
 * Maximum milliseconds to wait for a condition. It is long, so that it only ends tests that hang,
 * even on a busy machine.
 */
export const WAIT_MS = 180_000;

/**
 * Timeout of a click in milliseconds. It is long, because a busy machine reports a click late, and
 * a retry would click twice.
 */
export const CLICK = { timeout: 30_000 };

/** Event that tells the page that the click has ended. */
const CLICKED_EVENT = 'condenser-clicked';

/**
 * Clicks an element that may be redrawn at any moment. If the pointer is pressed on one element and
 * released on its replacement, neither is clicked. A click that would hit another element, because
 * the list moved, is suppressed.
 * @param what selector of the elements that count, such as rows or buttons.
 * @param label text of the wanted element.
 * @returns true if the element was clicked, also if the click reloaded the window; otherwise
 *   nothing was clicked.
 */
export async function clickOn(target: Locator, what: string, label: string | RegExp): Promise<boolean> {
  const pattern = typeof label === 'string' ? { text: label } : { text: label.source, flags: label.flags };
  await target.evaluate(
    (element, { what, CLICKED, pattern }) => {
      const { documentElement, defaultView: window } = element.ownerDocument;
      delete documentElement.dataset['clicked'];
      const { text, flags } = pattern;
      const listenerAbort = new AbortController();
      const guard = (event: Event): void => {
        // Node's types of events lack elements.
        const { target } = event as unknown as { readonly target: typeof element };
        const clickedText = (target.closest(what)?.textContent ?? '').replace(/\s+/g, ' ');
        const isWantedElement =
          flags === undefined ? clickedText.includes(text) : new RegExp(text, flags).test(clickedText);
        if (!isWantedElement) event.stopImmediatePropagation();
        else if (event.type === 'click') documentElement.dataset['clicked'] = 'yes';
      };
      for (const kind of ['pointerdown', 'mousedown', 'click'])
        window?.addEventListener(kind, guard, { capture: true, signal: listenerAbort.signal });
      const stopGuarding = (): void => {
        listenerAbort.abort();
      };
      window?.addEventListener(CLICKED, stopGuarding, { once: true });
    },
    { what, CLICKED: CLICKED_EVENT, pattern },
    { timeout: 2_000 },
  );
  const page = target.page();
  const loads: Frame[] = [];
  const noteLoad = (frame: Frame): void => {
    if (frame === page.mainFrame()) loads.push(frame);
  };
  page.on('framenavigated', noteLoad);
  try {
    await target.click(CLICK);
    await page.evaluate(`window.dispatchEvent(new Event('${CLICKED_EVENT}'))`);
    const isClicked = await page.evaluate<boolean>(`document.documentElement.dataset.clicked === 'yes'`);
    return isClicked || loads.length > 0;
  } catch (error) {
    // The click has worked and replaced the page.
    if (loads.length > 0 || AFTER_NAVIGATION.test(String(error))) return true;
    await page.evaluate(`window.dispatchEvent(new Event('${CLICKED_EVENT}'))`);
    throw error;
  } finally {
    page.off('framenavigated', noteLoad);
  }
}

/** Matches Playwright's errors after a navigation. */
const AFTER_NAVIGATION = /context was destroyed/;

/** Selector of list elements for {@link clickOn}. */
export const LIST_ROW = '.monaco-list-row';

/** Milliseconds between checks; they increase, because each check slows the page. */
const FIRST_PAUSE_MS = 40;
const LONGEST_PAUSE_MS = 250;

/**
 * Calls `probe` again until it returns a result. Tests wait for conditions with this, never for a
 * fixed time.
 */
export async function until<T>(
  what: string,
  probe: () => Promise<T | undefined | null | false> | T | undefined | null | false,
  timeout = WAIT_MS,
): Promise<T> {
  const deadline = Date.now() + timeout;
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
    if (Date.now() > deadline) {
      const errorText = last instanceof Error ? `: ${last.message}` : '';
      throw new Error(`Waited ${timeout / 1000} s in vain for ${what}${errorText}`, { cause: last });
    }
    await new Promise((resolve) => setTimeout(resolve, pause));
    pause = Math.min(pause * 1.3, LONGEST_PAUSE_MS);
  }
}
