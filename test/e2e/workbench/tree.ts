import type { Locator } from 'playwright-core';
import { CLICK, clickOn, LIST_ROW, until } from './wait';
import type { Workbench } from './workbench';

const rows = ({ page }: Workbench): Locator => page.locator('.part.sidebar .monaco-list-row');

/** Finds a row. The match is case-sensitive, so that "Pi" isn't found in "Copilot". */
const locateRow = (bench: Workbench, label: string | RegExp): Locator =>
  rows(bench)
    .filter({ hasText: typeof label === 'string' ? new RegExp(label.replace(/[$()*+.?[\\\]^{|}]/g, '\\$&')) : label })
    .first();

export async function openContainer({ page }: Workbench, title: string): Promise<void> {
  await page.locator(`.part.activitybar .action-label[aria-label^="${title}"]`).first().click();
}

/** Returns the rows once they satisfy the condition. */
export function treeRows(bench: Workbench, wanted: (texts: readonly string[]) => boolean): Promise<readonly string[]> {
  return until('the tree', async () => {
    const texts = (await rows(bench).allInnerTexts()).map((text) => text.replace(/\s+/g, ' ').trim());
    return wanted(texts) ? texts : undefined;
  });
}

/** Clicks the row with a label, which opens or expands it. */
export async function clickRow(bench: Workbench, label: string | RegExp): Promise<void> {
  await until(`a click on the row ${String(label)}`, () => clickOn(locateRow(bench, label), LIST_ROW, label));
}

/** Collapses every group, because the view expands the first one when opened. */
export async function foldAll(bench: Workbench): Promise<void> {
  await until('all groups to be folded', async () => {
    const firstUnfolded = bench.page.locator('.part.sidebar .monaco-list-row[aria-expanded="true"]').first();
    if ((await firstUnfolded.count()) === 0) return true;
    await firstUnfolded.click({ timeout: 2_000 });
    return false;
  });
}

/** Waits for rows below a group, and expands the group again if a redraw collapses it. */
export function rowsBelow(
  bench: Workbench,
  group: string | RegExp,
  wanted: (texts: readonly string[]) => boolean,
): Promise<readonly string[]> {
  return until(`rows below ${String(group)}`, async () => {
    const texts = (await rows(bench).allInnerTexts()).map((text) => text.replace(/\s+/g, ' ').trim());
    if (wanted(texts)) return texts;
    const isFolded = (await locateRow(bench, group).getAttribute('aria-expanded')) === 'false';
    if (isFolded) await clickOn(locateRow(bench, group), LIST_ROW, group);
    return undefined;
  });
}

/**
 * Selects an item of a row's context menu, and opens the menu again if a redraw closes it. It uses
 * the keyboard, because menus first ignore the mouse.
 */
export async function chooseInMenu(bench: Workbench, label: string, entry: string): Promise<void> {
  const { page } = bench;
  const items = page.locator('.monaco-menu .action-item');
  const item = items.filter({ has: page.getByText(entry, { exact: true }) }).locator('.action-menu-item');
  /**
   * True if the menu item received the key. A menu that closes passes the key on, and the key has
   * no effect outside the items.
   */
  const isKeyTaken = (): Promise<boolean> =>
    page.evaluate<boolean>(`document.documentElement.dataset.menuKey === 'taken'`);
  const listenForKey = (): Promise<void> =>
    item.evaluate(
      (element) => {
        const { dataset } = element.ownerDocument.documentElement;
        delete dataset['menuKey'];
        const menu = element.closest('.monaco-menu') ?? element;
        const noteKey = (): void => {
          if (element.closest('.action-item')?.classList.contains('focused')) dataset['menuKey'] = 'taken';
        };
        menu.addEventListener('keydown', noteKey, { capture: true });
      },
      undefined,
      { timeout: 1_000 },
    );
  let isPressed = false;
  await until(`"${entry}" in the menu of "${label}"`, async () => {
    if (!(await item.isVisible())) {
      if (isPressed) return true;
      await locateRow(bench, label).click({ button: 'right', timeout: 2_000 });
    }
    await item.waitFor({ timeout: 2_000 });
    // Keys in a menu go to the item under the pointer.
    await item.hover({ timeout: 1_000 });
    await listenForKey();
    await item.press('Enter', CLICK);
    isPressed = await isKeyTaken();
    if (!isPressed) return false;
    await item.waitFor({ state: 'hidden', timeout: 2_000 });
    return true;
  });
}

/** Opens a row's menu, returns its items, and closes it. */
export async function readMenu(bench: Workbench, label: string): Promise<readonly string[]> {
  const labels = bench.page.locator('.monaco-menu .action-item .action-label').filter({ hasText: /./ });
  const entries = await until(`the menu of "${label}"`, async () => {
    if (!(await labels.first().isVisible())) await locateRow(bench, label).click({ button: 'right', timeout: 2_000 });
    await labels.first().waitFor({ timeout: 2_000 });
    return labels.allInnerTexts();
  });
  await until('a closed menu', async () => {
    await bench.page.keyboard.press('Escape');
    return !(await labels.first().isVisible());
  });
  return entries;
}

/** Moves the side bar's edge to this position in pixels. */
export async function sideBarWidth({ page }: Workbench, pixels: number): Promise<void> {
  const sideBar = page.locator('.part.sidebar');
  await until(`a side bar of ${pixels} pixels`, async () => {
    const box = await sideBar.boundingBox();
    if (!box) return false;
    if (Math.abs(box.width - pixels) < 20) return true;
    const middle = box.y + box.height / 2;
    await page.mouse.move(box.x + box.width, middle);
    await page.mouse.down();
    await page.mouse.move(box.x + pixels, middle, { steps: 5 });
    await page.mouse.up();
    return false;
  });
}

export async function tooltip(bench: Workbench, label: string): Promise<string> {
  // The previous tooltip may still be visible, so the row's tooltip is found by its label.
  const hover = bench.page.locator('.monaco-hover').filter({ visible: true, hasText: label }).first();
  return until(`the tooltip of "${label}"`, async () => {
    // A pointer that is already on the row shows no tooltip, so the pointer moves away first.
    await bench.page.mouse.move(0, 0);
    await locateRow(bench, label).hover({ timeout: 2_000 });
    await hover.waitFor({ timeout: 3_000 });
    return hover.innerText();
  });
}
