/**
 * Runs the real page and the real host side over the double of VS Code. As in VS Code, messages
 * arrive as text, and later.
 */
import { createRoot } from 'react-dom/client';
import { onTestFinished } from 'vitest';
import { openTestPanel, type TestBackend, type TestPanel } from '../../src/panel/testing';
import { setLanguage } from './l10n';
import { HostConnection } from './state/connection';
import { PanelStore } from './state/store';
import type { ViewState } from './state/viewState';

/** This is long enough for a busy machine. */
const MAX_WAIT_MS = 120_000;

export interface TestPage {
  readonly root: HTMLElement;
  readonly host: TestPanel;
  /** Returns the value that the page asked VS Code to keep. */
  readonly kept: () => unknown;
  /**
   * Waits until a probe has an answer and does not throw, while React and the messages continue.
   */
  until<T>(probe: () => T | undefined | null | false): Promise<T>;
  /** Finds the element with this label, text or placeholder. */
  find(selector: string, text?: string | RegExp): HTMLElement;
  all(selector: string): HTMLElement[];
  /** Clicks an element once it exists and is enabled, since a button may wait for figures. */
  click(find: () => HTMLElement): Promise<void>;
  /** Types into one of the toolkit's fields, and then leaves the field. */
  type(find: () => HTMLElement, text: string, leave?: boolean): Promise<void>;
}

export interface PageOptions {
  /** With `none` VS Code keeps nothing of the page, as in a new tab. */
  readonly view?: Partial<ViewState> | 'none';
  /** The state from an earlier panel in the same workspace. */
  readonly workspaceState?: TestPanel['workspaceState'];
  readonly backend?: TestBackend;
  /** The providers of other extensions. */
  readonly providers?: Parameters<typeof openTestPanel>[1];
  /** Translates every text. */
  readonly translate?: (english: string) => string;
}

export async function openPage({
  view = {},
  backend = {},
  providers = [],
  translate,
  workspaceState,
}: PageOptions = {}): Promise<TestPage> {
  const { App } = await import('./App');
  const { PanelProvider } = await import('./state/panel');
  const host = openTestPanel(backend, providers, workspaceState);
  let storedState: unknown = view === 'none' ? undefined : { scope: 'user', scroll: 0, open: [], ...view };
  const store = new PanelStore();
  const connection = new HostConnection(
    {
      postMessage: (message) => {
        const text = JSON.stringify(message);
        queueMicrotask(() => {
          host.page.receive(JSON.parse(text));
        });
      },
    },
    (event) => {
      if (event.type === 'welcome') setLanguage(translate ?? ((text) => event.texts[text]), 'en');
      store.applyEvent(event);
    },
    () => 'no answer',
  );
  const root = document.createElement('div');
  document.body.replaceChildren(root);
  const react = createRoot(root);
  onTestFinished(() => {
    react.unmount();
  });
  let receivedCount = 0;
  const waitForUpdates = async (): Promise<void> => {
    await new Promise((resolve) => setTimeout(resolve, 1));
    for (; receivedCount < host.page.sent.length; receivedCount++)
      connection.receiveMessage(host.page.sent[receivedCount]);
    await new Promise((resolve) => setTimeout(resolve, 1));
  };
  react.render(
    <PanelProvider
      store={store}
      connection={connection}
      host={{ postMessage: () => undefined, getState: () => storedState, setState: (next) => (storedState = next) }}
    >
      <App />
    </PanelProvider>,
  );
  connection.sendReady();
  const queryAll = (selector: string): HTMLElement[] => [...root.querySelectorAll<HTMLElement>(selector)];
  const getLabel = (element: HTMLElement): string =>
    [element.getAttribute('aria-label'), element.getAttribute('placeholder'), element.textContent].join('\n');
  const page: TestPage = {
    root,
    host,
    kept: () => storedState,
    all: queryAll,
    find(selector, text = '') {
      const element = queryAll(selector).find((element) =>
        typeof text === 'string' ? getLabel(element).includes(text) : text.test(getLabel(element)),
      );
      if (!element) throw new Error(`there is no ${selector} with ${String(text)}:\n${root.textContent}`);
      return element;
    },
    async until(probe) {
      for (const deadline = Date.now() + MAX_WAIT_MS; ;) {
        await waitForUpdates();
        try {
          const answer = probe();
          if (answer !== undefined && answer !== null && answer !== false) return answer;
        } catch (error) {
          // The element may still appear.
          if (Date.now() > deadline) throw error;
        }
        if (Date.now() > deadline) throw new Error(`waited in vain:\n${root.textContent}`);
      }
    },
    async click(find) {
      const isEnabled = (element: HTMLElement): boolean => element.getAttribute('aria-disabled') !== 'true';
      const element = await page.until(() => [find()].find(isEnabled));
      element.click();
      await waitForUpdates();
    },
    async type(find, text, leave = true) {
      const field = await page.until(find);
      // React's own property on a native input hides the browser's.
      if (field instanceof HTMLInputElement) {
        Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value')?.set?.call(field, text);
      } else Object.assign(field, { value: text });
      field.dispatchEvent(new Event('input', { bubbles: true }));
      await waitForUpdates();
      if (leave) field.dispatchEvent(new FocusEvent('focusout', { bubbles: true }));
      await waitForUpdates();
    },
  };
  await page.until(() => root.querySelector('main'));
  return page;
}
