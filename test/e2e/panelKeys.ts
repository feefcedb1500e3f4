/** Operates the settings panel and VS Code's lists with the keyboard only. */
import type { Frame } from 'playwright-core';
import type { Hand } from './panelBuilding';
import type { Workbench } from './workbench/index';
import { quickInput, until, type QuickInput } from './workbench/index';

/** The focused element in the panel. */
export interface FocusedElement {
  /** The accessible name; '' if nothing in the panel has the focus. */
  readonly name: string;
  /** ID of the setting that it belongs to. */
  readonly setting: string;
  /** Section that contains it. */
  readonly section: string;
  /** Text of the list item that contains it. */
  readonly listItemText: string;
  readonly isOutlined: boolean;
}

/** Runs in the page. The toolkit's elements have their field and outline in a shadow root. */
const FOCUSED = `(() => {
  const element = document.activeElement;
  const inner = element.shadowRoot?.activeElement;
  const shown = (one) => {
    const style = one && getComputedStyle(one);
    return Boolean(style) && (style.outlineStyle !== 'none' || style.borderTopStyle !== 'none' || style.boxShadow !== 'none');
  };
  const label = element.getAttribute('aria-label') || element.textContent || element.closest('label')?.textContent || '';
  return {
    name: element === document.body || !document.hasFocus() ? '' : label.trim(),
    setting: element.closest('[data-setting]')?.getAttribute('data-setting') ?? '',
    section: element.closest('.section')?.id ?? '',
    listItemText: element.closest('.item')?.textContent ?? '',
    isOutlined: [element, inner, inner?.closest('.root'), element.closest('label')].some(shown),
  };
})()`;

/** Waits until an element in the panel has the focus. */
export const focused = (frame: Frame, way: readonly string[] = []): Promise<FocusedElement> =>
  until(['the focus in the panel', ...way].join(' | '), async () => {
    const now = await frame.evaluate<FocusedElement>(FOCUSED);
    return now.name !== '' && now;
  });

/** Maximum number of Tab stops, after which a person would give up. */
const MAX_STOPS = 250;

/**
 * Presses Tab until the wanted element has the focus, and checks that the focus can be seen on the
 * way.
 * @param wanted the accessible name, or a function that recognizes the element.
 */
export async function tabTo(
  { page }: Workbench,
  frame: Frame,
  wanted: string | ((focused: FocusedElement) => boolean),
  key: 'Tab' | 'Shift+Tab' = 'Tab',
): Promise<void> {
  const seen: string[] = [];
  for (let stop = 0; stop < MAX_STOPS; stop++) {
    if (stop === 0) await until('the panel to have the focus', () => frame.evaluate<boolean>('document.hasFocus()'));
    else await page.keyboard.press(key);
    // The wanted element may have the focus from the start, and in a newly opened panel, nothing
    // has it yet.
    const now = stop === 0 ? await frame.evaluate<FocusedElement>(FOCUSED) : await focused(frame, seen);
    if (stop > 0 && !now.isOutlined) throw new Error(`the focus can't be seen on "${now.name}"`);
    if (typeof wanted === 'string' ? now.name === wanted : wanted(now)) return;
    seen.push(now.name.slice(0, 40));
  }
  throw new Error(`no way by ${key} to ${String(wanted)}: ${seen.join(' | ')}`);
}

/**
 * Replaces the focused field's text. Each step is awaited, because the frame is another process in
 * which keys take effect later.
 */
export async function typeOver({ page: { keyboard } }: Workbench, frame: Frame, text: string): Promise<void> {
  const value = (): Promise<string> => frame.evaluate<string>('document.activeElement.value ?? ""');
  await keyboard.press('End');
  for (let left = (await value()).length; left > 0; left--) await keyboard.press('Backspace');
  await until('the field to be empty', async () => (await value()) === '');
  await keyboard.type(text);
  await until('the field to hold what was typed', async () => (await value()) === text);
}

/** A key without effect after this many milliseconds counts as lost. */
const KEY_MS = 10_000;

/**
 * Presses the arrow key step by step until the place is the wanted one.
 * @param place expression that returns the place in the page.
 */
export async function arrowTo(
  { page }: Workbench,
  frame: Frame,
  place: string,
  wanted: string,
  key: 'ArrowDown' | 'ArrowUp' = 'ArrowDown',
): Promise<void> {
  const at = (): Promise<string> => frame.evaluate<string>(place);
  for (let now = await at(); now !== wanted;) {
    const before = now;
    const moved = async (): Promise<string | false> => {
      const next = await at();
      return next !== before && next;
    };
    await page.keyboard.press(key);
    // The key is pressed again, because redrawing the previous choice may lose it.
    now = await until(`what is next to "${before}"`, moved, KEY_MS).catch(async () => {
      await page.keyboard.press(key);
      return until(`what is next to "${before}"`, moved);
    });
  }
}

/** Opens the focused drop-down and selects the option with this text. */
export async function chooseByKeys(
  bench: Workbench,
  frame: Frame,
  text: string,
  key?: 'ArrowDown' | 'ArrowUp',
): Promise<void> {
  await bench.page.keyboard.press('Space');
  await until('the drop-down to open', () => frame.evaluate<boolean>('document.activeElement.open'));
  await arrowTo(
    bench,
    frame,
    'document.activeElement.options[document.activeElement.selectedIndex]?.text.trim() ?? ""',
    text,
    key,
  );
  await bench.page.keyboard.press('Enter');
}

/** Replaces the proposed text in VS Code's input box and accepts it. */
export async function answerByKeys(
  bench: Workbench,
  value: string,
  proposes: (box: QuickInput) => boolean,
): Promise<void> {
  const { keyboard } = bench.page;
  await quickInput(bench, proposes, 'a path in the box');
  await until('the box to hold what was typed', async () => {
    if ((await quickInput(bench, () => true, 'the box')).value === value) return true;
    await keyboard.press('Control+A');
    await keyboard.insertText(value);
    return false;
  });
  await keyboard.press('Enter');
}

const QUICK_INPUT = '.quick-input-widget';

/** True if VS Code's list has the focus and gets the keys, not the panel. */
const listHasFocus = ({ page }: Workbench): Promise<boolean> =>
  page.evaluate<boolean>(`document.activeElement.closest('${QUICK_INPUT}') !== null`);

const focusedRow = async ({ page }: Workbench): Promise<string> => {
  const label = page.locator(`${QUICK_INPUT} .quick-input-list .monaco-list-row.focused .label-name`).first();
  return (await label.count()) === 0 ? '' : ((await label.textContent()) ?? '').replaceAll('\u00a0', ' ');
};

export const BY_KEYBOARD: Hand = {
  run: async (bench, title) => {
    const { keyboard } = bench.page;
    await keyboard.press('F1');
    await until('the command palette', () => listHasFocus(bench));
    await keyboard.insertText(title);
    await until('the command in the list', async () => (await focusedRow(bench)) === title);
    await keyboard.press('Enter');
  },
  choose: async (bench, wanted) => {
    const { keyboard } = bench.page;
    // The panel may take the focus from a new list; the list then takes it back.
    await until('the row in the list', async () => {
      if (!(await listHasFocus(bench))) return false;
      const isThere = wanted.test(await focusedRow(bench));
      await keyboard.press(isThere ? 'Enter' : 'ArrowDown');
      return isThere;
    });
  },
};
