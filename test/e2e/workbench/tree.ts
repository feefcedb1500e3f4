import type { Locator } from 'playwright-core';
import { until } from './wait';
import type { Workbench } from './workbench';

const rows = ({ page }: Workbench): Locator => page.locator('.part.sidebar .monaco-list-row');

const row = (bench: Workbench, label: string): Locator => rows(bench).filter({ hasText: label }).first();

/** Opens a view container by its icon in the activity bar. */
export async function openContainer({ page }: Workbench, title: string): Promise<void> {
  await page.locator(`.part.activitybar .action-label[aria-label^="${title}"]`).first().click();
}

/** The tree's rows as they are read, once they are as they should be. */
export function treeRows(bench: Workbench, wanted: (texts: readonly string[]) => boolean): Promise<readonly string[]> {
  return until('the tree', async () => {
    const texts = (await rows(bench).allInnerTexts()).map((text) => text.replace(/\s+/g, ' ').trim());
    return wanted(texts) ? texts : undefined;
  });
}

/** Clicks the row whose text contains a label: opens it, or shows what is below it. */
export async function clickRow(bench: Workbench, label: string): Promise<void> {
  await row(bench, label).click();
}

/** Chooses an entry of a row's context menu. A tree that is drawn anew closes the menu: it is opened again until a click is taken. */
export async function chooseInMenu(bench: Workbench, label: string, entry: string): Promise<void> {
  const item = bench.page.locator('.monaco-menu .action-item', { hasText: entry }).first();
  await until(`"${entry}" in the menu of "${label}"`, async () => {
    if (!(await item.isVisible())) await row(bench, label).click({ button: 'right', timeout: 2_000 });
    await item.waitFor({ timeout: 2_000 });
    // A menu takes no click in its first moments, and stays.
    await item.click({ timeout: 1_000 });
    await item.waitFor({ state: 'hidden', timeout: 1_000 });
    return true;
  });
}
