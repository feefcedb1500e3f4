/**
 * Tests the account with the keyboard: every control is reached and used, and a table contains the
 * chart's figures.
 */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  assistant,
  makeToolUse,
  jsonl,
  result,
  makeTextBlock,
  user,
} from '../../fixtures/conversations/claudeCodeLines';
import type { SharedScenarios, SharedScenario } from '../bed';
import { freshSample, homeWith, SESSION } from '../home';
import { openPanel } from '../panelPage';
import { answerByKeys, chooseByKeys, focused, tabTo } from '../panelKeys';
import { panelWindow } from '../windows';
import { proposesFile, screenshot, until, useSettings } from '../workbench/index';

const USAGE = { input_tokens: 100_000, output_tokens: 2_000 };
const asked = (id: string, parent: string, block: unknown) => {
  const { message, ...record } = assistant(id, parent, `m-${id}`, block);
  return { ...record, message: { ...(message as object), usage: USAGE } };
};
/** A session on another day than the sample's. */
const second = jsonl(
  user('u', null, 'Look at the parts'),
  asked('a', 'u', makeToolUse('c')),
  user('r', 'a', [result('c')]),
  asked('b', 'r', makeTextBlock('Seen.')),
);

/** Runs in the page. Lists the names of controls that can get the focus, in order. */
const CONTROLS = `[...document.querySelectorAll('#account vscode-button, #account vscode-dropdown, #account button, #account [tabindex="0"]')]
  .map((one) => (one.getAttribute('aria-label') || one.textContent).trim())`;

/** Runs in the page. Lists the names of the chart's bars. */
const BARS = `[...document.querySelectorAll('#account .chart rect title')].map(({ textContent }) => textContent)`;

const addsUpByKeyboardAlone: SharedScenario = async (bench) => {
  const { folder = '' } = bench;
  homeWith(bench, { [SESSION]: freshSample(), '.claude/projects/-home-me-app/second.jsonl': second });
  await useSettings(bench, { 'workbench.activityBar.location': 'hidden' });
  // The window is so narrow that tables overflow.
  await bench.page.setViewportSize({ width: 560, height: 900 });
  const { panel } = await openPanel(bench);
  const { keyboard } = bench.page;
  const frame = await panel();
  await tabTo(bench, frame, 'Session costs');
  await keyboard.press('Enter');
  await tabTo(bench, frame, 'Period');
  assert.equal((await focused(frame)).section, 'account');
  await chooseByKeys(bench, frame, 'The last 90 days');
  await chooseByKeys(bench, frame, 'All time', 'ArrowUp');
  await tabTo(bench, frame, 'Compare with');
  await chooseByKeys(bench, frame, 'Compare with Lossless');
  await tabTo(bench, frame, 'Analyze');
  await keyboard.press('Space');
  await frame.locator('#account table').first().waitFor();
  await until('the account to be there', async () => (await focused(frame)).name === 'Analyze');

  // Every control is reached, in order.
  const controls = await frame.evaluate<string[]>(CONTROLS);
  await tabTo(bench, frame, 'Session costs', 'Shift+Tab');
  const stops: string[] = [];
  for (const control of controls) {
    await tabTo(bench, frame, (now) => {
      if (now.section === 'account') stops.push(now.name);
      return now.section === 'account' && now.name === control;
    });
    const [hidden, before] = await frame.evaluate<[number, number]>(
      `((one) => [one.matches('.table-frame') ? one.scrollWidth - one.clientWidth : 0, one.scrollLeft])(document.activeElement)`,
    );
    if (hidden <= 0) continue;
    await keyboard.press('ArrowRight');
    await until(`${control} to scroll`, () => frame.evaluate<boolean>(`document.activeElement.scrollLeft > ${before}`));
  }
  for (const table of ['By agent', 'What the requests contained', 'Costliest sessions'])
    assert.ok(stops.includes(table), table);

  // The chart and its table show the same figures.
  await tabTo(bench, frame, 'Show', 'Shift+Tab');
  await chooseByKeys(bench, frame, 'By day');
  const rows = frame.locator('#account .table-frame[aria-label="By day"] tbody tr');
  await rows.first().waitFor();
  const shown = (await rows.allInnerTexts()).map((row) => row.replaceAll(/\s+/g, ' '));
  const bars = await frame.evaluate<string[]>(BARS);
  assert.equal(bars.length, 2);
  for (const [index, bar] of bars.entries()) {
    const [day = '', cost = ''] = bar.split(': ');
    assert.ok(shown[index]?.startsWith(`${day} ${cost} `), `${bar} is not in ${shown.join(' / ')}`);
  }
  await screenshot(bench, 'panel-account-by-day');

  await tabTo(bench, frame, 'How is this computed?');
  await keyboard.press('Enter');
  await frame.getByText('Token counts are those that the agents recorded.').waitFor();

  const file = join(folder, 'account.html');
  await tabTo(bench, frame, 'Save as a page…', 'Shift+Tab');
  await keyboard.press('Space');
  await answerByKeys(bench, file, proposesFile);
  await until('the page', () => existsSync(file) && readFileSync(file, 'utf8').includes('</html>'));
  assert.equal((await focused(frame)).name, 'Save as a page…');
};

export const panelAccount: SharedScenarios = { open: panelWindow, scenarios: { addsUpByKeyboardAlone }, seconds: 200 };
