/** Tests comparing and reading a condensed conversation from which 10,000 lines were removed. */
import assert from 'node:assert/strict';
import { MARKER_START } from '../../../src/core/messages/markers';
import {
  assistant,
  makeToolUse,
  jsonl,
  result,
  makeTextBlock,
  user,
  type Fields,
} from '../../fixtures/conversations/claudeCodeLines';
import type { SharedScenarios, SharedScenario } from '../bed';
import { homeWith, openConversations } from '../home';
import { plainWindow } from '../windows';
import { readAxeScript, findViolations } from '../panelPage';
import {
  chooseInMenu,
  rowsBelow,
  diffEditor,
  notification,
  closeParts,
  screenshot,
  setTheme,
  treeRows,
  until,
  useSettings,
  webview,
  type Workbench,
  type Theme,
} from '../workbench/index';

const TASK = 'Look at all parts';
/** What a condensed row shows of it. */
const ROW = 'Look at all';
const READS = 100;
const SESSION = '00000000-0000-4000-8000-000000000100';

/** Creates a session that reads a hundred different files of a hundred lines. */
function session(): string {
  const records: Fields[] = [user('u', null, TASK)];
  let last = 'u';
  for (let read = 0; read < READS; read++) {
    const lines = Array.from(
      { length: 100 },
      (_, line) => `part ${read} line ${line}: ${(read * 7919 + line * 104_729) % 9973}`,
    );
    records.push(assistant(`a${read}`, last, `m${read}`, makeToolUse(`c${read}`)));
    records.push(user(`r${read}`, `a${read}`, [result(`c${read}`, lines.join('\n'))]));
    last = `r${read}`;
  }
  records.push(assistant('end', last, 'end', makeTextBlock('Seen.')));
  // A ledger finds its session by the session ID, so this session gets an ID of its own.
  return jsonl(...records.map((record) => ({ ...record, sessionId: SESSION })));
}

const smart = {
  version: 1,
  passes: [
    {
      id: 'all',
      name: 'All results',
      mode: 'individual',
      selection: { type: 'preserve_recent', count: 0 },
      individualConfig: { defaults: { toolResults: { operation: 'suppress' } } },
    },
  ],
};

/**
 * Lists the violations that axe-core finds in a copy of the page with VS Code's colors, because the
 * page itself runs no scripts.
 */
async function violationsOfCopy(
  { page }: Workbench,
  content: string,
  width: number,
  what: 'all' | 'colours',
): Promise<string[]> {
  const copy = await page.context().newPage();
  try {
    await copy.setViewportSize({ width, height: 900 });
    await copy.setContent(content.replace(/<meta http-equiv="Content-Security-Policy"[^>]*>/, ''));
    assert.match(
      await copy.evaluate<string>(
        `getComputedStyle(document.documentElement).getPropertyValue('--vscode-editor-background')`,
      ),
      /^#|^rgb/,
    );
    await copy.evaluate(readAxeScript());
    return [
      ...(await findViolations(copy.mainFrame(), what)),
      ...((await copy.evaluate<boolean>('document.documentElement.scrollWidth > innerWidth'))
        ? ['wider than the window']
        : []),
    ];
  } finally {
    await copy.close();
  }
}

const readsWhatWasCondensed: SharedScenario = async (bench) => {
  homeWith(bench, {
    [`.claude/projects/-home-dev-app/${SESSION}.jsonl`]: session(),
  });
  await useSettings(bench, {
    'contextCondenser.provider': 'smart',
    'contextCondenser.smart': smart,
    // The target is so low that all results are removed.
    'contextCondenser.manual.targetPercent': 5,
  });
  await openConversations(bench);
  await rowsBelow(bench, 'Claude Code', (texts) => texts.some((shown) => shown.includes(ROW)));
  await chooseInMenu(bench, ROW, 'Condense');
  await notification(bench, 'Condensed “');
  await closeParts(bench, 'notifications');
  await treeRows(bench, (texts) => texts.some((shown) => new RegExp(`${ROW}.*−\\d+%`).test(shown)));

  const startTimeMs = Date.now();
  await chooseInMenu(bench, ROW, 'Show Diff');
  // The diff opens at the first change.
  await diffEditor(bench, ({ modified }) => modified.some((line) => line.includes(MARKER_START)));
  await bench.page.locator('.monaco-diff-editor .line-delete, .monaco-diff-editor .char-delete').first().waitFor();
  console.log(`a diff of 10,000 changed lines shows after ${Date.now() - startTimeMs} ms`);
  assert.equal(await bench.page.getByText('diff algorithm was stopped early').count(), 0);
  await screenshot(bench, 'reading-diff');
  await closeParts(bench, 'editors');

  await chooseInMenu(bench, ROW, 'Details');
  const details = await webview(bench, 'a.button');
  await details.getByRole('link', { name: 'Read What Was Condensed' }).click();
  const frame = await webview(bench, 'section#message-1');
  const folds = frame.locator('details.gone');
  assert.ok((await folds.count()) > 50);
  // With the keyboard, the list of changes is opened, then a change far down, and its original.
  await frame.locator('h1').click();
  await bench.page.keyboard.press('Tab');
  await bench.page.keyboard.press('Enter');
  const changes = frame.locator('li a');
  await changes.first().waitFor();
  await bench.page.keyboard.press('Tab');
  assert.equal(await frame.locator('li:first-child a:focus').count(), 1);
  await changes.nth(80).focus();
  const target = frame.locator(`section${(await changes.nth(80).getAttribute('href')) ?? ''}`);
  await bench.page.keyboard.press('Enter');
  await until('the change to be scrolled to', async () => {
    const box = await target.boundingBox();
    return box !== null && box.y >= 0 && box.y < 900;
  });
  await folds.nth(1).locator('summary').focus();
  await bench.page.keyboard.press('Enter');
  await folds
    .nth(1)
    .getByText(/part 1 line 50: /)
    .waitFor();
  await closeParts(bench, 'sideBar');
  const wrong: string[] = [];
  const judge = async (theme: Theme, width: number, what: 'all' | 'colours'): Promise<void> => {
    await setTheme(bench, theme);
    await screenshot(bench, `reading-${theme.replaceAll(' ', '-')}-${width}`);
    const found = await violationsOfCopy(bench, await frame.content(), width, what);
    wrong.push(...found.map((violation) => `${theme}, ${width}: ${violation}`));
  };
  await judge('dark', 1400, 'all');
  for (const theme of ['light', 'high contrast', 'high contrast light'] as const) await judge(theme, 1400, 'colours');
  // Themes don't affect the layout, and the width doesn't affect colors, so one theme is checked in
  // full at this width.
  await bench.page.setViewportSize({ width: 320, height: 900 });
  await judge('light', 320, 'all');
  assert.deepEqual(wrong, []);
  const reports = bench.errors.filter((error) => /Content Security Policy/i.test(error));
  assert.deepEqual(reports, []);
};

export const reading: SharedScenarios = { open: plainWindow, scenarios: { readsWhatWasCondensed }, seconds: 240 };
