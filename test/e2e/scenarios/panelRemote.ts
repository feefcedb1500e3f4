/**
 * Tests remote windows, as with SSH: code-server's windows are remote, so machine settings in the
 * user's file have no effect.
 */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../../scripts/vscode.mjs';
import type { Scenario } from '../bed';
import { openPanel, reloadPanel, unfold } from '../panelPage';
import { runInHelper } from '../workbench/helper';
import { notification, pick, quickInput, runCommand, screenshot, setTheme, until } from '../workbench/index';

const profile = (id: string, name: string): object => ({
  id,
  name,
  vendor: 'anthropic',
  model: 'claude-sonnet-4-20250514',
});
const pass = {
  id: 'a',
  name: 'My pass',
  mode: 'individual',
  selection: { type: 'preserve_recent', count: 10 },
  individualConfig: { defaults: { toolResults: { operation: 'truncate', maxLines: 5 } } },
};

export const showsWhatCountsOnARemoteMachine: Scenario = async (bed) => {
  const sample = readFileSync(join(root, 'sample', 'conversation.jsonl'), 'utf8');
  const bench = await bed.open({
    folder: bed.folder({ 'readme.txt': 'A workspace.' }),
    home: bed.folder({ '.claude/projects/-home-me-notes/sample.jsonl': sample }),
    settings: {
      'contextCondenser.provider': 'smart',
      'contextCondenser.smart': { version: 1, passes: [pass] },
      'contextCondenser.profiles': [profile('mine', 'Of my file')],
    },
  });
  const opened = await openPanel(bench);
  const first = await opened.panel();
  await unfold(first, ['smart', 'profiles']);
  await first.locator('#smart .pass', { hasText: 'My pass' }).first().waitFor();
  // This window runs in a browser, which has no settings of a separate local machine, so the panel
  // needs no hint about the remote machine.
  assert.ok(!(await first.locator('#profiles').innerText()).includes('remote machine'));
  // VS Code reads the user's file before it knows that these settings belong to the machine, and
  // drops them with the next change.
  await setTheme(bench, 'light');
  await until('the profile that does not count to go', async () => {
    const names = await first.locator('#profiles').innerText();
    return !names.includes('Of my file');
  });
  await screenshot(bench, 'panel-profiles-remote-light');
  assert.match(await first.locator('#smart').innerText(), /My pass/);

  const machine = join(bench.server.data, 'Machine', 'settings.json');
  writeFileSync(machine, JSON.stringify({ 'contextCondenser.profiles': [profile('theirs', 'Of the machine')] }));
  const again = await reloadPanel(opened, first);
  await unfold(again, ['smart', 'profiles']);
  await again.locator('#profiles', { hasText: 'Of the machine' }).waitFor();
  // A reloaded panel may take the focus late, which would close an open list.
  await runInHelper(bench, { commands: [['workbench.action.closeAllEditors']] });
  await runCommand(bench, 'Context Condenser: Condense Context Now');
  await quickInput(bench, ({ items }) => items.some(({ detail }) => / tokens in messages · /.test(detail)));
  await pick(bench, /tags/i);
  await notification(bench, 'Condensed “');
  // The configuration in the panel is the one that runs.
  assert.match(bench.server.outputText('Context Condenser'), / - My pass: /);
};
