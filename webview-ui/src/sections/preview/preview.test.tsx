// @vitest-environment jsdom
/** The preview in the real page, over the real host side and the real worker. */
import { beforeEach, expect, it } from 'vitest';
import { fake } from '../../../../test/support/vscode';
import { openPage, type Page, type PageOptions } from '../../testing';

beforeEach(() => {
  fake.reset();
});

const open = (options: PageOptions = {}): Promise<Page> => openPage({ view: { open: ['preview'] }, ...options });

const cells = (page: Page): HTMLElement[] => page.all('#preview button.cell');
const figure = (page: Page, name: string): string =>
  page.all('#preview .figure').find((each) => each.textContent.startsWith(name))?.textContent ?? '';

/** Presses a key on what has the focus. */
function press(key: string): void {
  document.activeElement?.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
}

it('shows the sample with no key and no agent, and what would happen to each message', async () => {
  const page = await open();
  await page.until(() => cells(page).length > 20);
  expect(figure(page, 'Tokens now')).toMatch(/\d/);
  expect(figure(page, 'Cost')).toMatch(/\$0\.00.*no model is asked/);
  expect(page.all('#preview .pass-bar').length).toBeGreaterThan(1);
  expect(page.all('#preview .excerpt').length).toBeGreaterThan(1);
  expect(new Set(cells(page).map(({ className }) => className)).size).toBeGreaterThan(1);
  expect(cells(page).filter(({ tabIndex }) => tabIndex === 0)).toHaveLength(1);
});
