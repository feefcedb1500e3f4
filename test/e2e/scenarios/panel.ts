import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { SharedScenarios, SharedScenario } from '../bed';
import { openPanel, passNames, waitForPickUp, reloadPanel, waitForSettings, unfold } from '../panelPage';
import { panelSettings } from '../panelSettings';
import { panelWindow } from '../windows';
import { closeParts, runCommand, screenshot, screenshots, until, useSettings } from '../workbench/index';

const isUsableSoonAndFollowsSettings: SharedScenario = async (bench, bed) => {
  await useSettings(bench, { ...panelSettings, 'contextCondenser.threshold': 60 });
  const opened = await openPanel(bench);
  const { panel } = opened;
  let frame = await panel();
  const times: number[] = [];
  for (let run = 0; run < 3; run++) {
    await closeParts(bench, 'editors');
    await until('the panel to close', () => !bench.page.frames().includes(frame) || frame.isDetached());
    await runCommand(bench, 'Context Condenser: Open Settings');
    // `runCommand` returns right after it clicks the command, so the time starts here.
    const started = performance.now();
    frame = await panel();
    await frame.locator('.card').first().waitFor();
    times.push(performance.now() - started);
  }
  const median = times.toSorted((a, b) => a - b)[1] ?? 0;
  bed.report(
    `from the command to usable: ${times.map((ms) => ms.toFixed(0)).join(', ')} ms, median ${median.toFixed(0)} ms`,
  );

  assert.match(await frame.locator('[data-setting="threshold"] output').innerText(), /^60\s?%$/);
  await frame.locator('input[value="truncation"]').click();
  await waitForSettings(bench, 'the provider', (settings) => settings['contextCondenser.provider'] === 'truncation');
  const limit = frame.locator('[data-setting="maxCostPerCondensation"] vscode-text-field');
  await limit.locator('input.control').fill('-1');
  await frame.locator('[data-setting="maxCostPerCondensation"] .problem').waitFor();
  await limit.locator('input.control').fill('0.25');
  await limit.locator('input.control').press('Enter');
  await waitForSettings(bench, 'the limit', (settings) => settings['contextCondenser.maxCostPerCondensation'] === 0.25);

  // The settings file is edited by hand and the window reloaded, because VS Code in a browser
  // doesn't watch the file.
  bench.server.writeSettings({
    'contextCondenser.threshold': 42,
    'contextCondenser.truncation': { minimumTokens: 'few' },
  });
  await unfold(frame, ['smart']);
  frame = await reloadPanel(opened, frame);
  await until('the threshold that was written by hand', async () =>
    /^42/.test(await frame.locator('[data-setting="threshold"] output').innerText()),
  );
  await until('the sections that were unfolded', async () => (await frame.locator('#smart .pass').count()) === 3);
  await frame.locator('#truncation .section-toggle').click();
  await frame.locator('[data-setting="truncation.minimumTokens"] .problem').scrollIntoViewIfNeeded();
  await screenshot(bench, 'panel-broken-setting-dark');
};

const passesByMouseAndByKeyboard: SharedScenario = async (bench) => {
  await useSettings(bench, panelSettings);
  const { panel } = await openPanel(bench);
  const frame = await panel();
  await unfold(frame, ['smart']);
  const handle = (name: string) => frame.getByRole('button', { name: `Move ${name}`, exact: true });
  const last = frame.locator('.pass').nth(2);
  // The presets come before the passes, so the passes must be scrolled into view.
  await last.evaluate((element) => {
    element.scrollIntoView({ block: 'center' });
  });
  // With the mouse, the first pass is moved below the last.
  const from = await handle('Old results').boundingBox();
  const to = await last.boundingBox();
  assert.ok(from && to);
  await bench.page.mouse.move(from.x + 8, from.y + 8);
  await bench.page.mouse.down();
  await bench.page.mouse.move(from.x + 10, from.y + 20, { steps: 4 });
  await bench.page.mouse.move(from.x + 10, to.y + to.height - 4, { steps: 12 });
  await bench.page.screenshot({ path: join(screenshots, 'panel-drag-dark.png') });
  await bench.page.mouse.up();
  await waitForSettings(bench, 'the order by mouse', () => passNames(bench) === 'Cold files, The rest, Old results');
  // With the keyboard, the pass is moved back.
  await handle('Old results').focus();
  await bench.page.keyboard.press('Space');
  await waitForPickUp(frame, 'Old results picked up, position 3 of 3.');
  await bench.page.keyboard.press('ArrowUp');
  await frame.getByText('Old results, position 2 of 3.').waitFor({ state: 'attached' });
  await bench.page.keyboard.press('ArrowUp');
  await frame.getByText('Old results, position 1 of 3.').waitFor({ state: 'attached' });
  await bench.page.keyboard.press('Space');
  await waitForSettings(bench, 'the order by keyboard', () => passNames(bench) === 'Old results, Cold files, The rest');
  // With the buttons, a pass is moved and deleted.
  await frame.getByRole('button', { name: 'Move The rest up' }).click();
  await waitForSettings(bench, 'the order by a button', () => passNames(bench) === 'Old results, The rest, Cold files');
  await frame.getByRole('button', { name: 'Delete The rest' }).click();
  await waitForSettings(bench, 'the deletion', () => passNames(bench) === 'Old results, Cold files');
  await frame.getByRole('button', { name: 'Undo' }).click();
  await waitForSettings(bench, 'the undone deletion', () => passNames(bench) === 'Old results, The rest, Cold files');
  await frame.getByRole('button', { name: 'Cold files', exact: true }).click();
  const field = frame.locator('[data-setting="smart.passes.2.name"] input.control');
  await field.fill('Files gone cold');
  await field.press('Enter');
  // The effect of the draft appears above the button and moves it, so the click is retried.
  const apply = frame.locator('.draft-bar vscode-button', { hasText: 'Apply' });
  await until('the new name in settings.json', async () => {
    // An error at a field would disable the button permanently.
    assert.deepEqual(await frame.locator('.pass .problem').allInnerTexts(), []);
    if (await apply.isVisible()) await apply.click({ timeout: 2_000 });
    return passNames(bench).endsWith('Files gone cold');
  });
};

const searchLeadsToWhatItFinds: SharedScenario = async (bench) => {
  await useSettings(bench, panelSettings);
  const { panel } = await openPanel(bench);
  const frame = await panel();
  const search = frame.locator('.search-input');
  const isShown = (selector: string): Promise<boolean> => frame.locator(selector).isVisible();
  await search.fill('export');
  await frame.locator('#smart vscode-button', { hasText: 'Export…' }).first().waitFor();
  assert.deepEqual(await Promise.all(['#history', '#profiles'].map(isShown)), [true, false]);
  await screenshot(bench, 'panel-search-dark');
  await search.fill('xyzzyq');
  await frame.getByText('Nothing found').waitFor();
  assert.equal(await frame.locator('main .section:visible').count(), 0);
  await search.fill('estimate');
  await frame.getByText('Show all of Preview').click();
  await frame.locator('#preview .figures').waitFor();
};

export const panel: SharedScenarios = {
  open: panelWindow,
  scenarios: { isUsableSoonAndFollowsSettings, searchLeadsToWhatItFinds, passesByMouseAndByKeyboard },
};
