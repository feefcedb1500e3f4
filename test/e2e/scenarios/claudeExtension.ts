/**
 * Tests that the gateway's address is written to the setting of Claude Code's extension after
 * consent, and removed again.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { root } from '../../../scripts/vscode.mjs';
import type { Scenario } from '../bed';
import { closeParts, runCommand, screenshot, until } from '../workbench/index';
import { readSettingsFromDisk } from '../workbench/helper';
import { clickDialog, dialog } from '../workbench/notifications';

const COMMAND = 'Context Condenser: Connect the Claude Code Extension to the Gateway…';
const SETTING = 'claudeCode.environmentVariables';
const KEPT = { name: 'ANTHROPIC_MODEL', value: 'opus' };

export const claudeCodeIsConnectedAndLetGo: Scenario = async (bed) => {
  const bench = await bed.open({
    folder: bed.folder({ 'notes.md': '# notes\n' }),
    developmentExtensions: [join(root, 'test', 'e2e', 'claude-extension')],
    settings: { [SETTING]: [KEPT] },
  });
  await runCommand(bench, COMMAND);
  const { text: asked } = await dialog(bench);
  await screenshot(bench, 'claude-extension-set-dark');
  await clickDialog(bench, 'Set');
  assert.match(
    asked,
    /sets ANTHROPIC_BASE_URL to http:\/\/127\.0\.0\.1:\d+\/…\/anthropic in claudeCode\.environmentVariables/,
  );
  const set = (): readonly { name: string; value: string }[] => readSettingsFromDisk(bench.server)[SETTING] as never;
  await until('the setting', () => set().length === 2);
  assert.deepEqual(set()[0], KEPT);
  assert.match(set()[1]?.value ?? '', /^http:\/\/127\.0\.0\.1:\d+\/[\w-]+\/anthropic$/);
  await screenshot(bench, 'claude-extension-done-dark');

  await runCommand(bench, COMMAND);
  await dialog(bench);
  await screenshot(bench, 'claude-extension-back-dark');
  await clickDialog(bench, 'Take It Back');
  await until('the setting as it was', () => set().length === 1);
  assert.deepEqual(set(), [KEPT]);
  await closeParts(bench, 'terminals');
};
