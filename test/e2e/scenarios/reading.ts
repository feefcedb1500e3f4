/** What was condensed, to compare and to read: of a conversation in which 10,000 lines went. */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { MARKER_START } from '../../../src/core/messages/markers';
import { assistant, call, jsonl, result, text, user, type Fields } from '../../fixtures/conversations/claudeCodeLines';
import type { Scenario } from '../bed';
import {
  chooseInMenu,
  clearNotifications,
  clickRow,
  diffEditor,
  notification,
  openContainer,
  runCommand,
  screenshot,
  setTheme,
  treeRows,
  webview,
} from '../workbench/index';

const TASK = 'Look at all the parts';
const READS = 100;

/** A hundred files are read, of a hundred lines each, no two of them alike. */
function session(): string {
  const records: Fields[] = [user('u', null, TASK)];
  let last = 'u';
  for (let read = 0; read < READS; read++) {
    const lines = Array.from(
      { length: 100 },
      (_, line) => `part ${read} line ${line}: ${(read * 7919 + line * 104_729) % 9973}`,
    );
    records.push(assistant(`a${read}`, last, `m${read}`, call(`c${read}`)));
    records.push(user(`r${read}`, `a${read}`, [result(`c${read}`, lines.join('\n'))]));
    last = `r${read}`;
  }
  records.push(assistant('end', last, 'end', text('Seen.')));
  return jsonl(...records);
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

const reads: Scenario = async (bed) => {
  const home = bed.folder();
  const path = join(home, '.claude/projects/-home-dev-app/00000000-0000-4000-8000-000000000001.jsonl');
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, session());
  const bench = await bed.open({
    home,
    folder: bed.folder(),
    size: { width: 1400, height: 900 },
    settings: {
      'contextCondenser.provider': 'smart',
      'contextCondenser.smart': smart,
      // So low that all of them go.
      'contextCondenser.manual.targetPercent': 5,
    },
  });
  await openContainer(bench, 'Context Condenser');
  await clickRow(bench, 'Claude Code');
  await treeRows(bench, (texts) => texts.some((shown) => shown.includes(TASK)));
  await chooseInMenu(bench, TASK, 'Condense');
  await notification(bench, 'Context condensed using');
  await clearNotifications(bench);
  await treeRows(bench, (texts) => texts.some((shown) => new RegExp(`${TASK}.*-\\d+%`).test(shown)));

  const started = Date.now();
  await chooseInMenu(bench, TASK, 'Show What Was Condensed');
  // It opens at the first change.
  await diffEditor(bench, ({ modified }) => modified.some((line) => line.includes(MARKER_START)));
  await bench.page.locator('.monaco-diff-editor .line-delete, .monaco-diff-editor .char-delete').first().waitFor();
  console.log(`a diff of 10,000 changed lines shows after ${Date.now() - started} ms`);
  assert.equal(await bench.page.getByText('diff algorithm was stopped early').count(), 0);
  await screenshot(bench, 'reading-diff');
  await runCommand(bench, 'View: Close All Editors');

  await chooseInMenu(bench, TASK, 'Read What Was Condensed');
  const frame = await webview(bench, 'section#message-1');
  const folds = frame.locator('details.gone');
  assert.ok((await folds.count()) > 50);
  // By keyboard: the fold opens to what stood there.
  await folds.nth(1).locator('summary').focus();
  await bench.page.keyboard.press('Enter');
  await folds
    .nth(1)
    .getByText(/part 1 line 50: /)
    .waitFor();
  await runCommand(bench, 'View: Close Primary Side Bar');
  // axe-core can't be run in it: the page runs no script.
  for (const width of [1400, 320]) {
    await bench.page.setViewportSize({ width, height: 900 });
    for (const theme of ['dark', 'light', 'high contrast'] as const) {
      await setTheme(bench, theme);
      await screenshot(bench, `reading-${theme.replaceAll(' ', '-')}-${width}`);
    }
  }
  const reports = bench.errors.filter((error) => /Content Security Policy/i.test(error));
  assert.deepEqual(reports, []);
};
export const readsWhatWasCondensed: Scenario = Object.assign(reads, { seconds: 240 });
