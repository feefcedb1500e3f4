import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Shared, SharedScenario } from '../bed';
import { condense, freshPanel, isInHistory, presetIds } from '../panelBuilding';
import { dragToTop, passNames, saved, unfold } from '../panelPage';
import { panelWindow } from '../windows';
import { openFile, runCommand, saveAs, screenshot, until } from '../workbench/index';

const buildsThreePassesByMouse: SharedScenario = async (bench) => {
  const opened = await freshPanel(bench);
  const { folder = '' } = bench;
  let frame = await opened.panel();
  const button = (name: string) => frame.locator('vscode-button', { hasText: name });
  await unfold(frame, ['smart']);
  await button('Start without passes').click();
  for (const [index, name] of ['Old results', 'Calls', 'The rest'].entries()) {
    await button('Add pass').click();
    await saved(bench, `pass ${index + 1}`, () => passNames(bench).includes(`Pass ${index + 1}`));
    await frame.getByRole('button', { name: `Pass ${index + 1}`, exact: true }).click();
    const field = frame.locator(`[data-setting="smart.passes.${index}.name"] input.control`);
    await field.fill(name);
    await field.press('Enter');
    const operation = frame.locator(`[data-setting="smart.passes.${index}.individualConfig.defaults.toolResults"]`);
    await operation.locator('vscode-dropdown').click();
    await operation.locator('vscode-option', { hasText: 'Truncate' }).click();
    await frame.locator('.pass .badge', { hasText: 'draft' }).waitFor();
    await frame.locator('.draft-bar vscode-button', { hasText: 'Apply' }).click();
    await saved(bench, `the name ${name}`, () => passNames(bench).includes(name));
    await saved(
      bench,
      `the operation of ${name}`,
      (settings) => JSON.stringify(settings['contextCondenser.smart']).split('"truncate"').length === index + 2,
    );
    // Folded again, so that all of the list is on the screen when it is dragged in.
    await frame.getByRole('button', { name, exact: true }).click();
    await until(`${name} is folded`, async () => (await frame.locator('.pass .item-content').count()) === 0);
  }
  await dragToTop(bench, frame, 'The rest', 3);
  await saved(bench, 'the order', () => passNames(bench) === 'The rest, Old results, Calls');

  await unfold(frame, ['presets']);
  const name = frame.locator('vscode-text-field[placeholder="Name of the new preset"] input.control');
  await name.fill('Three passes');
  await button('Save the passes as a preset').click();
  await saved(bench, 'the preset', () => presetIds(bench) === 'three-passes');
  const item = frame.locator('#presets .item').filter({ hasText: 'Three passes' });
  const file = join(folder, 'three.condense.json');
  await item.locator('vscode-button', { hasText: 'Export…' }).click();
  await saveAs(bench, file);
  await until('the exported file', () => existsSync(file));
  await item.locator('vscode-button', { hasText: 'Delete' }).click();
  await saved(bench, 'the deletion', () => presetIds(bench) === '');
  await button('Import…').click();
  await openFile(bench, file);
  await saved(bench, 'the imported preset', () => presetIds(bench) === 'three-passes');
  await item.locator('vscode-button', { hasText: 'Apply' }).click();
  await saved(bench, 'the preset in use', (settings) => settings['contextCondenser.smart'] === 'three-passes');
  // The button has gone by then, and the focus has been given on.
  await frame.getByText('"Three passes" is now in use, in place of your passes').waitFor();

  await condense(bench);
  await runCommand(bench, 'Context Condenser: Open Settings');
  frame = await opened.panel();
  await unfold(frame, ['history']);
  await isInHistory(frame);
  const entry = frame.locator('#history .item').first();
  await entry.locator('.disclosure').click();
  await screenshot(bench, 'panel-history-unfolded');
  await entry.locator('vscode-button', { hasText: 'Show diff' }).click();
  await bench.page.locator('.monaco-diff-editor').first().waitFor();
};

export const panelBuild: Shared = { open: panelWindow, scenarios: { buildsThreePassesByMouse }, seconds: 240 };
