import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Frame } from 'playwright-core';
import { generateConversation } from '../../generators/conversation';
import type { SharedScenarios, SharedScenario } from '../bed';
import { homeWith } from '../home';
import { openPanel, unfold } from '../panelPage';
import { panelWindow } from '../windows';
import {
  activeTab,
  pick,
  runCommand,
  screenshot,
  until,
  useSettings,
  webview,
  type Workbench,
} from '../workbench/index';

const CHANGES = 10;
/** Typical length of a conversation that is condensed in a window of 200K tokens. */
const TOKENS = 200_000;

async function openPreview(bench: Workbench): Promise<Frame> {
  await runCommand(bench, 'Context Condenser: Open Settings');
  const frame = await webview(bench, '.main');
  await unfold(frame, ['preview', 'comparison']);
  await frame.locator('#preview .cell').first().waitFor();
  return frame;
}

const afterwards = (frame: Frame): Promise<string> =>
  frame.locator('#preview .figure', { hasText: 'Tokens afterwards' }).locator('dd').first().innerText();

/**
 * Measures, with the page's clock, the milliseconds from the click on a message to the updated
 * estimate.
 */
function timeToFollow(frame: Frame, message: number): Promise<number> {
  return frame.evaluate<number>(
    `new Promise((resolve) => {
      const cell = document.querySelectorAll('#preview .strip .cell')[${message}];
      const started = performance.now();
      const look = () => {
        const isWaiting = document.querySelector('#preview .preview').ariaBusy === 'true';
        if (cell.ariaPressed === 'true' && !isWaiting) resolve(performance.now() - started);
        else requestAnimationFrame(look);
      };
      cell.click();
      look();
    })`,
  );
}

/** Writes a conversation to the project, where the file dialog starts. */
const write = ({ folder = '' }: Workbench, name: string, messages: unknown): void => {
  writeFileSync(join(folder, name), JSON.stringify({ messages }));
};

const previewFollowsTheSettingsAndTheMarks: SharedScenario = async (bench, bed) => {
  homeWith(bench);
  const messages = generateConversation({ seed: 3, targetTokens: TOKENS });
  write(bench, 'big.json', messages);
  await useSettings(bench, { 'contextCondenser.provider': 'smart' });
  const frame = await openPreview(bench);
  assert.match(await frame.locator('#preview .preview-title').innerText(), /tags/i);
  assert.match(await frame.locator('#preview .figures').innerText(), /no model is called/);

  // With the keyboard, a cut message is selected, pinned, excluded, and reset.
  const sample = await afterwards(frame);
  const at = await frame
    .locator('#preview .strip .cell')
    .evaluateAll((cells) => cells.findIndex((cell) => /cell-(cut|outlined|suppressed)/.test(cell.className)));
  assert.ok(at > 0);
  const cell = frame.locator('#preview .strip .cell').nth(at);
  await frame.locator('#preview .strip .cell').first().focus();
  for (let step = 0; step < at; step++) await bench.page.keyboard.press('ArrowRight');
  await bench.page.keyboard.press('Enter');
  await until('the pinned cell', async () => (await cell.getAttribute('class'))?.includes('cell-pinned'));
  assert.equal(await cell.getAttribute('aria-pressed'), 'true');
  await until('the estimate with the pin', async () => (await afterwards(frame)) !== sample);
  await screenshot(bench, 'panel-preview-pinned-dark');
  // The page of a background tab keeps running, with its selection.
  await runCommand(bench, 'File: New Untitled Text File');
  await until('the other tab', async () => (await activeTab(bench)).startsWith('Untitled'));
  await runCommand(bench, 'View: Close Editor');
  await until('the panel again', async () => (await activeTab(bench)).startsWith('Context Condenser'));
  assert.equal(await cell.getAttribute('aria-pressed'), 'true');
  await frame.getByText('Undo the last mark').click();
  await until('the estimate without the pin', async () => (await afterwards(frame)) === sample);

  // In the panel, another provider is selected, and then the first one again.
  await frame.locator('input[value="truncation"]').click();
  await until('the provider that was chosen', async () => (await afterwards(frame)) !== sample);
  await frame.locator('input[value="smart"]').click();
  await until('the provider from before', async () => (await afterwards(frame)) === sample);

  // A conversation of 200K tokens is changed ten times.
  await frame.getByText('Choose a conversation…').click();
  await pick(bench, /Open file…/);
  await pick(bench, 'big.json');
  await until('the large conversation', async () => (await frame.locator('#preview .strip .cell').count()) > 300);
  const times: number[] = [];
  for (let change = 0; change < CHANGES; change++) {
    times.push(await timeToFollow(frame, 40 + 3 * change));
  }
  const sorted = times.toSorted((a, b) => a - b);
  bed.report(
    `a pin on ${messages.length} messages of ${TOKENS / 1000}K tokens is followed in ${times.map((ms) => ms.toFixed(0)).join(', ')} ms, median ${(sorted[CHANGES / 2] ?? 0).toFixed(0)} ms, at most ${(sorted.at(-1) ?? 0).toFixed(0)} ms`,
  );
  await screenshot(bench, 'panel-preview-large-dark');

  // The kept facts appear after the estimate, and are unfolded with the keyboard.
  const facts = frame.locator('#preview .coherence .disclosure');
  await until('the coherence report', async () =>
    /^All [\d,]+ facts kept$|facts kept, [\d,]+ can be recalled, [\d,]+ lost/.test(await facts.innerText()),
  );
  await facts.focus();
  await bench.page.keyboard.press('Enter');
  const found = await frame.locator('#preview .coherence .folded-content').innerText();
  assert.match(found, /Files\s+[\d,]+ of [\d,]+ kept/);
  bed.report(await facts.innerText());
  await facts.scrollIntoViewIfNeeded();
  await screenshot(bench, 'panel-preview-facts-dark');

  // The settings file is edited by hand; the panel follows after VS Code in a browser has reread
  // the file.
  bench.server.writeSettings({ 'contextCondenser.manual.targetPercent': 80 });
  const before = await afterwards(frame);
  await runCommand(bench, 'Developer: Reload Window');
  await until('the window to reload', () => frame.isDetached());
  const reloaded = await webview(bench, '#preview .strip .cell');
  await until('the setting that was written by hand', async () => (await afterwards(reloaded)) !== before);
  assert.ok((await reloaded.locator('#preview .strip .cell').count()) > 300, 'the conversation is remembered');
};

const comparesTwoPresetsOnTwoConversations: SharedScenario = async (bench, bed) => {
  homeWith(bench);
  write(bench, 'other.json', generateConversation({ seed: 5, targetTokens: 40_000 }));
  const frame = await openPreview(bench);
  await frame.getByText('Add a conversation…').click();
  await pick(bench, /Open file…/);
  await pick(bench, 'other.json');
  await frame.getByText('2 conversations').waitFor();
  const second = frame.locator('#comparison .compared vscode-dropdown').nth(1);
  await second.click();
  await frame.locator('vscode-option', { hasText: 'Aggressive' }).last().click();
  const first = frame.locator('#comparison .compared vscode-dropdown').first();
  await first.click();
  await frame.locator('vscode-option', { hasText: 'File-Aware' }).first().click();
  await frame.locator('#comparison vscode-button', { hasText: /^\s*Compare\s*$/ }).click();
  await until('two comparisons', async () => (await frame.locator('#comparison table').count()) === 2);
  const tables = await frame.locator('#comparison table').allInnerTexts();
  for (const table of tables) {
    assert.match(table, /File-Aware\s+Preset Aggressive/);
    assert.match(table, /Code lines kept/);
    assert.match(table, /Facts lost\s+[\d,]+ of [\d,]+/);
  }
  bed.report(tables.join('\n'));
  await frame.locator('#comparison table').first().scrollIntoViewIfNeeded();
  await screenshot(bench, 'panel-preview-compared-dark');
};

/** Compares the configurations of two presets, without the mouse. */
const comparesAPresetByKeyboard: SharedScenario = async (bench) => {
  homeWith(bench);
  await useSettings(bench, { 'contextCondenser.smart': 'speed' });
  const { keyboard } = bench.page;
  const opened = await openPanel(bench);
  const frame = await opened.panel();
  await unfold(frame, ['smart']);
  const speed = frame.locator('#presets .preset', { hasText: 'Speed' }).first();
  await speed.locator('.disclosure').focus();
  await keyboard.press('Enter');
  const heading = speed.locator('table thead');
  await until('the preset in use beside another one', async () =>
    /Speed\s+Conservative/.test(await heading.innerText()),
  );
  await keyboard.press('Tab');
  await keyboard.press('ArrowDown');
  await until('the next preset', async () => /Speed\s+Balanced/.test(await heading.innerText()));
  assert.match(await speed.locator('table').innerText(), /Tool results › Lines\s+\d/);
  await screenshot(bench, 'panel-presets-compared-dark');
  // The table before the button scrolls with the keyboard, so it has a Tab stop.
  await keyboard.press('Tab');
  await keyboard.press('Tab');
  await keyboard.press('Enter');
  const chosen = frame.locator('#two-configurations vscode-dropdown');
  await until('the focus in the comparison', () =>
    chosen.first().evaluate((dropdown) => dropdown === dropdown.ownerDocument.activeElement),
  );
  // The expression is a string, because the page's types are unavailable here.
  const values = await frame.evaluate<string[]>(
    `[...document.querySelectorAll('#comparison vscode-dropdown')].map(({ value }) => value)`,
  );
  assert.deepEqual(values, ['preset speed', 'preset balanced']);
  await keyboard.press('Tab');
  await keyboard.press('Tab');
  await keyboard.press('Enter');
  const table = frame.locator('#comparison table');
  await until('the comparison', async () => (await table.count()) === 1);
  assert.match(await table.innerText(), /Preset Speed\s+Preset Balanced/);
  await screenshot(bench, 'panel-comparison-by-keyboard-dark');
};

export const panelPreview: SharedScenarios = {
  open: panelWindow,
  scenarios: {
    previewFollowsTheSettingsAndTheMarks,
    comparesTwoPresetsOnTwoConversations,
    comparesAPresetByKeyboard,
  },
};
