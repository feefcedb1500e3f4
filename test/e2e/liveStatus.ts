/** Reads a live conversation's state from the status bar and the chat. */
import { runInHelper } from './workbench/helper';
import { ask, answerText, filter, pick, quickInput, runCommand, until, type QuickPickItem } from './workbench/index';
import type { Workbench } from './workbench/index';

export const STATUS_ITEM = '.statusbar-item[id$="contextCondenser.live"]';

export const statusText = ({ page }: Workbench): Promise<string> => page.locator(STATUS_ITEM).innerText();

/** Shows the status bar's tooltip again until it satisfies `wanted`. */
export function statusTooltip(bench: Workbench, wanted: RegExp): Promise<string> {
  const { page } = bench;
  const hover = page.locator('.monaco-hover:visible', { hasText: /\d of [\d,]+ tokens/ }).first();
  return until(`a tooltip with ${wanted}`, async () => {
    // VS Code doesn't update an open hover.
    await page.mouse.move(0, 0);
    await hover.waitFor({ state: 'hidden' });
    await page.locator(`${STATUS_ITEM} a`).hover();
    await hover.waitFor({ timeout: 5_000 });
    const text = await hover.innerText();
    return wanted.test(text) ? text : undefined;
  });
}

export async function leaveStatus(bench: Workbench): Promise<void> {
  await runInHelper(bench, { commands: [['workbench.action.focusActiveEditorGroup']] });
  await bench.page.mouse.move(0, 0);
}

const DETAILS = 'Context Condenser: Show Condensed Chat Conversations';

/** Opens the details of the live conversation with this title. */
export async function openDetails(bench: Workbench, title: string): Promise<readonly QuickPickItem[]> {
  await runCommand(bench, DETAILS);
  const isDetails = ({ items }: { readonly items: readonly QuickPickItem[] }): boolean =>
    items.some(({ label }) => label.includes('Condense Now'));
  const first = await quickInput(bench, (shown) => isDetails(shown) || shown.items.length > 1, 'details or a list');
  if (!isDetails(first)) await pick(bench, new RegExp(title));
  return (await quickInput(bench, isDetails, 'the details')).items;
}

/** Returns the output of `@condenser /report` for the live conversation with this title. */
export async function reportInChat(bench: Workbench, title: string, wanted: RegExp): Promise<string> {
  await ask(bench, '@condenser /report');
  await quickInput(bench, ({ items, busy }) => !busy && items.length > 1, 'the conversations');
  await filter(bench, title);
  await pick(bench, new RegExp(title));
  return answerText(bench, (text) => wanted.test(text));
}
