import type { Locator } from 'playwright-core';
import type { Workbench } from './workbench';
import { clickOn, LIST_ROW, until } from './wait';

export interface QuickPickItem {
  readonly label: string;
  /** Text after the label. */
  readonly description: string;
  readonly detail: string;
  /** Index in the whole list, of which only visible rows exist. */
  readonly index: number;
}

export interface QuickInput {
  readonly title: string;
  readonly placeholder: string;
  readonly value: string;
  /** Message below an input box, such as a validation error. */
  readonly message: string;
  /** Visible rows only. */
  readonly items: readonly QuickPickItem[];
  readonly busy: boolean;
}

const widget = ({ page }: Workbench): Locator => page.locator('.quick-input-widget').filter({ visible: true });
const input = (bench: Workbench): Locator => widget(bench).locator('.quick-input-box input.input');
const rows = (bench: Workbench): Locator => widget(bench).locator('.quick-input-list .monaco-list-row');

const matches = (text: string, wanted: string | RegExp): boolean =>
  typeof wanted === 'string' ? text === wanted : wanted.test(text);

/** The timeout is short, because lists may close by themselves; callers retry. */
const SHORT_TIMEOUT = { timeout: 2_000 };

/** Reads the whole list in one call, because the list may change between calls. */
function readQuickInput(bench: Workbench): Promise<QuickInput> {
  return widget(bench).evaluate(
    (box) => {
      const normalizeText = (text: string | undefined): string => (text ?? '').replace(/[\u00a0\s]+/g, ' ').trim();
      const readText = (parent: typeof box, selector: string): string => {
        const found = parent.querySelector(selector);
        return found === null || found.style.display === 'none' ? '' : normalizeText(found.textContent);
      };
      const input = box.querySelector('.quick-input-box input.input');
      const rows: (typeof box)[] = Array.from(box.querySelectorAll('.quick-input-list .monaco-list-row'));
      return {
        title: readText(box, '.quick-input-title'),
        placeholder: input?.placeholder ?? '',
        value: input?.value ?? '',
        message: readText(box, '.quick-input-message'),
        items: rows
          .toSorted((a, b) => Number(a.dataset.index) - Number(b.dataset.index))
          .map((row) => ({
            label: readText(row, '.quick-input-list-row .label-name'),
            description: readText(row, '.quick-input-list-row .label-description'),
            detail: readText(row, '.quick-input-list-label-meta'),
            index: Number(row.dataset.index),
          })),
        busy: box.querySelector('.quick-input-progress.active') !== null,
      };
    },
    undefined,
    SHORT_TIMEOUT,
  );
}

/**
 * Returns the visible quick pick or input box once it satisfies `wanted`; the command palette
 * doesn't count.
 */
export function quickInput(
  bench: Workbench,
  wanted: (shown: QuickInput) => boolean = () => true,
  what = 'a quick pick',
  timeout?: number,
): Promise<QuickInput> {
  return until(
    what,
    async () => {
      if ((await widget(bench).count()) === 0) return undefined;
      const shownInput = await readQuickInput(bench);
      return !shownInput.value.startsWith('>') && wanted(shownInput) ? shownInput : undefined;
    },
    timeout,
  );
}

/** Clicks a row once the list is stable, because rows that move can be mistaken for others. */
export async function pick(bench: Workbench, label: string | RegExp, timeout?: number): Promise<void> {
  await until(
    `a row ${String(label)} in the quick pick`,
    async () => {
      const { busy, items } = await readQuickInput(bench);
      const matchingItem = items.find((item) => matches(item.label, label));
      if (busy || matchingItem === undefined) return false;
      // While a list loads, its rows move, so the row is found again and its text is checked.
      const matchingRow = widget(bench).locator(`.monaco-list-row[data-index="${matchingItem.index}"]`, {
        hasText: matchingItem.label,
      });
      return clickOn(matchingRow, LIST_ROW, matchingItem.label);
    },
    timeout,
  );
}

/** Filters a quick pick's rows. */
export async function filter(bench: Workbench, text: string, timeout?: number): Promise<void> {
  await input(bench).fill(text, timeout === undefined ? {} : { timeout });
}

/** Fills an input box and accepts it. */
export async function answerInput(bench: Workbench, value: string): Promise<void> {
  await quickInput(bench, () => true, 'an input box');
  await input(bench).fill(value);
  await bench.page.keyboard.press('Enter');
}

/**
 * True if the file dialog proposes a folder. Text that is entered earlier would be replaced by the
 * proposal.
 */
export const proposesFolder = ({ value, items }: QuickInput): boolean => value.endsWith('/') && items.length > 0;

/** True if the save dialog proposes a file. */
export const proposesFile = ({ value }: QuickInput): boolean => /\.\w+$/.test(value);

export async function saveAs(bench: Workbench, path: string): Promise<void> {
  await quickInput(bench, proposesFile, 'a file to save');
  await answerInput(bench, path);
}

export async function dismiss(bench: Workbench): Promise<void> {
  await until('the quick pick to close', async () => {
    if ((await widget(bench).count()) === 0) return true;
    await bench.page.keyboard.press('Escape');
    return (await widget(bench).count()) === 0;
  });
}

/**
 * True if the palette offers a command with this full title. Call this after the extension's
 * commands are registered.
 */
export async function offersCommand(bench: Workbench, title: string): Promise<boolean> {
  const { page } = bench;
  await page.keyboard.press('F1');
  await widget(bench).waitFor();
  await input(bench).fill(`>${title}`);
  await rows(bench).filter({ hasText: 'Context Condenser' }).first().waitFor();
  const count = await rows(bench)
    .filter({ has: page.getByText(title, { exact: true }) })
    .count();
  await dismiss(bench);
  return count > 0;
}

/**
 * Runs a command by its full title (“Category: Title”). The palette is opened again until the
 * extension's command appears, because an open palette isn't updated.
 */
export async function runCommand(bench: Workbench, title: string): Promise<void> {
  const { page } = bench;
  await until(
    `the command "${title}" in the palette`,
    async () => {
      if ((await widget(bench).count()) > 0) await dismiss(bench);
      await page.keyboard.press('F1');
      await widget(bench).waitFor({ timeout: 3_000 });
      await input(bench).fill(`>${title}`, SHORT_TIMEOUT);
      const row = rows(bench).filter({ has: page.getByText(title, { exact: true }) });
      await row.first().waitFor({ timeout: 1_500 });
      return clickOn(row.first(), LIST_ROW, title);
    },
    120_000,
  );
}
