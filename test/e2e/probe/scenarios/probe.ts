import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Scenario } from '../../bed';
import {
  agentOptions,
  answerInput,
  answerText,
  ask,
  cancelAnswer,
  clickDialog,
  clickNotification,
  dialog,
  diffEditor,
  notification,
  openChat,
  outputPanel,
  pick,
  quickInput,
  runCommand,
  screenshot,
  setTheme,
  tabs,
  until,
  webview,
} from '../../workbench/index';

export const picksShowsTheDiffAndSaves: Scenario = async (bed) => {
  const folder = bed.folder({ 'hello.txt': 'hello\n' });
  const bench = await bed.open({ folder });
  await runCommand(bench, 'Probe: Pick Something');
  const shown = await quickInput(bench, ({ items }) => items.length === 3);
  assert.equal(shown.title, 'Probe');
  assert.equal(shown.placeholder, 'Choose one');
  assert.deepEqual(shown.items[1], { label: 'Two', description: '2000 tokens', detail: 'the detail of two', index: 1 });
  await screenshot(bench, 'probe-pick-dark');
  await pick(bench, 'Two');
  const done = await notification(bench, 'Two is done');
  assert.deepEqual(done, {
    severity: 'info',
    text: 'Two is done',
    buttons: ['Show Diff', 'Save Copy…', 'Details'],
    busy: false,
    cutShort: [],
  });
  await clickNotification(bench, 'Two is done', 'Show Diff');
  const diff = await diffEditor(bench);
  assert.equal(diff.title, 'Before ↔ After');
  assert.deepEqual(diff.original, ['first line', 'second line', 'third line']);
  assert.deepEqual(diff.modified, ['first line', 'third line']);
  await setTheme(bench, 'light');
  await screenshot(bench, 'probe-diff-light');

  await runCommand(bench, 'Probe: Pick Something');
  await pick(bench, 'One');
  await clickNotification(bench, 'One is done', 'Save Copy…');
  await answerInput(bench, join(folder, 'copy.txt'));
  assert.equal(await until('the copy', () => readFileSync(join(folder, 'copy.txt'), 'utf8')), 'copy');

  await runCommand(bench, 'Probe: Pick Something');
  await pick(bench, 'One');
  await clickNotification(bench, 'One is done', 'Details');
  const lines = await outputPanel(bench);
  assert.match(lines.join('\n'), /\[info\] picked One/);
  assert.match(bench.server.outputText('Probe'), /picked Two[^]*picked One/);
};

export const showsEachTheme: Scenario = async (bed) => {
  const bench = await bed.open();
  for (const theme of ['high contrast light', 'high contrast', 'light', 'dark'] as const) await setTheme(bench, theme);
};

export const cancelsAndFails: Scenario = async (bed) => {
  const bench = await bed.open();
  await runCommand(bench, 'Probe: Pick Something');
  await pick(bench, 'Three');
  assert.equal((await notification(bench, 'Working')).busy, true);
  await clickNotification(bench, 'Working', 'Cancel');
  assert.equal((await notification(bench, 'Cancelled, nothing was changed')).severity, 'warning');
  await runCommand(bench, 'Probe: Fail');
  assert.equal((await notification(bench, 'It failed')).severity, 'error');
  await clickNotification(bench, 'It failed', 'Retry');
  assert.match((await dialog(bench)).text, /Really\?/);
  await clickDialog(bench, 'Yes');
};

export const opensAWebviewAndReloads: Scenario = async (bed) => {
  const bench = await bed.open({ folder: bed.folder() });
  await runCommand(bench, 'Probe: Open Panel');
  const frame = await webview(bench, 'h1');
  assert.equal(await frame.locator('h1').textContent(), 'Hello from the panel');
  await frame.locator('button').click();
  assert.equal(await frame.locator('button').textContent(), 'clicked');
  assert.deepEqual(await tabs(bench), ['Probe Panel']);
  await bench.reload();
  await runCommand(bench, 'Probe: Pick Something');
  await quickInput(bench, ({ items }) => items.length === 3);
};

export const runsTheAgentAndCancelsIt: Scenario = async (bed) => {
  const folder = bed.folder({ 'hello.txt': 'hello\n' });
  const bench = await bed.open({ folder, ...agentOptions('condenser-probe', 'm1') });
  await openChat(bench, 'Probe Model');
  await ask(bench, 'List the files');
  assert.match(await answerText(bench, (text) => text.includes('I saw')), /I saw hello\.txt/);
  await screenshot(bench, 'probe-agent-dark');
  await ask(bench, 'Now wait for me');
  await until('the model to wait', () => bench.server.outputText('Probe').includes('waiting'));
  await cancelAnswer(bench);
  await until('the cancel to arrive', () => bench.server.outputText('Probe').includes('cancelled'), 5_000);
};
