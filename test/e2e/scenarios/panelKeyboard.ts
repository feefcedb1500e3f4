import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { SharedScenarios, SharedScenario } from '../bed';
import { condense, freshPanel, isInHistory, presetIds } from '../panelBuilding';
import {
  answerByKeys,
  arrowTo,
  BY_KEYBOARD,
  chooseByKeys,
  focused,
  tabTo,
  typeOver,
  type FocusedElement,
} from '../panelKeys';
import { passNames, waitForPickUp, waitForSettings, type UserSettings } from '../panelPage';
import { panelWindow } from '../windows';
import { proposesFile, proposesFolder, screenshot, until } from '../workbench/index';

/** Names of the passes, and the content that each shortens. */
const PASSES = [
  ['Old results', 'toolResults'],
  ['Calls', 'toolParameters'],
  ['The rest', 'toolResults'],
] as const;

/**
 * Runs in the page. Makes the panel take the focus from the list, as it sometimes does: VS Code
 * gives the focus back to a webview shortly after the palette closes (microsoft/vscode#75209).
 */
const TAKE_FOCUS_FROM_LIST = `{
  const panel = document.activeElement;
  const list = document.querySelector('.quick-input-widget');
  const observer = new MutationObserver(() => {
    const title = list.querySelector('.quick-input-title')?.textContent ?? '';
    if (!title.includes('Condense Context Now') || !list.contains(document.activeElement)) return;
    observer.disconnect();
    panel.contentWindow.focus();
    document.documentElement.dataset.focus = 'taken';
  });
  observer.observe(list, { subtree: true, childList: true, attributes: true });
}`;

const buildsThreePassesByKeyboardAlone: SharedScenario = async (bench) => {
  const opened = await freshPanel(bench);
  const { folder = '' } = bench;
  const { keyboard } = bench.page;
  let frame = await opened.panel();
  type Wanted = string | ((now: FocusedElement) => boolean);
  const press = async (wanted: Wanted, key = 'Space', way: 'Tab' | 'Shift+Tab' = 'Tab'): Promise<void> => {
    await tabTo(bench, frame, wanted, way);
    await keyboard.press(key);
  };
  const field = (setting: string) => (now: FocusedElement) => now.setting === setting && !now.name.startsWith('Reset');
  const truncates = (count: number) => (settings: UserSettings) =>
    JSON.stringify(settings['contextCondenser.smart']).split('"truncate"').length === count + 1;
  const bars = (): Promise<string> => frame.locator('#preview .pass-bars').innerText();
  const afterwards = (): Promise<string> =>
    frame.locator('#preview .figure', { hasText: 'Tokens afterwards' }).locator('dd').first().innerText();

  // Smart is selected, and then the preview shows its effect.
  await tabTo(bench, frame, (now) => now.setting === 'provider' && now.section === 'start');
  await arrowTo(bench, frame, 'document.activeElement.value', 'smart');
  await waitForSettings(bench, 'the provider', (settings) => settings['contextCondenser.provider'] === 'smart');
  await press('Try', 'Enter', 'Shift+Tab');
  await frame.locator('#preview .cell').first().waitFor();
  await press('Providers', 'Enter', 'Shift+Tab');

  await press('Start without passes');
  await until('the list of passes', async () => (await frame.locator('#smart .passes').count()) > 0);
  for (const count of [1, 2, 3]) {
    await press('Add pass');
    await frame.getByText(`“Pass ${count}” was added at the end.`).waitFor();
    assert.equal((await focused(frame)).setting, `smart.passes.${count - 1}.name`);
  }
  await waitForSettings(bench, 'three passes', () => passNames(bench) === 'Pass 1, Pass 2, Pass 3');
  const untouched = await afterwards();
  await tabTo(bench, frame, 'Move Pass 1', 'Shift+Tab');
  for (const [index, [name, type]] of PASSES.entries()) {
    await press(`Pass ${index + 1}`, 'Enter');
    await tabTo(bench, frame, field(`smart.passes.${index}.name`));
    await typeOver(bench, frame, name);
    await keyboard.press('Enter');
    await tabTo(bench, frame, field(`smart.passes.${index}.individualConfig.defaults.${type}`));
    await chooseByKeys(bench, frame, 'Shorten');
    await frame.locator('.pass .badge', { hasText: 'draft' }).waitFor();
    await press('Apply');
    await waitForSettings(bench, `the name ${name}`, () => passNames(bench).includes(name));
    await waitForSettings(bench, `the operation of ${name}`, truncates(index + 1));
  }
  await until('the preview of the three passes', async () => (await bars()).includes('Old results'));
  assert.notEqual(await afterwards(), untouched);
  await screenshot(bench, 'panel-keyboard-passes');

  // The last pass becomes the first.
  await press('Move The rest', 'Space', 'Shift+Tab');
  await waitForPickUp(frame, 'The rest picked up, position 3 of 3.');
  for (const place of [2, 1]) {
    await keyboard.press('ArrowUp');
    await frame.getByText(`The rest, position ${place} of 3.`).waitFor({ state: 'attached' });
  }
  await keyboard.press('Space');
  await waitForSettings(bench, 'the order', () => passNames(bench) === 'The rest, Old results, Calls');
  await until('the preview of the new order', async () => (await bars()).includes('The rest'));
  assert.equal((await focused(frame)).name, 'Move The rest');

  await tabTo(bench, frame, 'Name of the new preset');
  await typeOver(bench, frame, 'Three passes');
  await press('Save the passes as a preset');
  await waitForSettings(bench, 'the preset', () => presetIds(bench) === 'three-passes');
  const item = frame.locator('#presets .item').filter({ hasText: 'Three passes' });
  await item.waitFor();
  assert.equal((await focused(frame)).section, 'smart');
  const own = (name: string) => (now: FocusedElement) => now.listItemText.includes('yours') && now.name === name;
  const file = join(folder, 'by-keyboard.condense.json');
  await press(own('Export…'));
  await answerByKeys(bench, file, proposesFile);
  await until('the exported file', () => existsSync(file));
  assert.equal((await focused(frame)).name, 'Export…');
  await press(own('Delete'));
  await waitForSettings(bench, 'the deletion', () => presetIds(bench) === '');
  await item.waitFor({ state: 'detached' });
  assert.equal((await focused(frame)).section, 'smart');
  await press('Import…');
  await answerByKeys(bench, file, proposesFolder);
  await waitForSettings(bench, 'the imported preset', () => presetIds(bench) === 'three-passes');
  await item.waitFor();
  assert.equal((await focused(frame)).name, 'Import…');
  await press(own('Apply'), 'Space', 'Shift+Tab');
  await waitForSettings(
    bench,
    'the preset in use',
    (settings) => settings['contextCondenser.smart'] === 'three-passes',
  );
  assert.equal((await focused(frame)).section, 'smart');

  await bench.page.evaluate(TAKE_FOCUS_FROM_LIST);
  await condense(bench, /Smart/, BY_KEYBOARD);
  assert.equal(await bench.page.evaluate('document.documentElement.dataset.focus'), 'taken');
  await BY_KEYBOARD.run(bench, 'Context Condenser: Open Settings');
  frame = await opened.panel();
  await press('History and savings', 'Enter');
  await isInHistory(frame);
  await press((now) => now.section === 'history' && /tags/i.test(now.name), 'Enter');
  await frame.locator('#history .item .item-content').waitFor();
  await screenshot(bench, 'panel-keyboard-history');

  // When the window is reloaded, everything is still there.
  await BY_KEYBOARD.run(bench, 'Developer: Reload Window');
  await until('the window to reload', () => frame.isDetached());
  frame = await opened.panel();
  await isInHistory(frame);
  await frame.locator('#presets .item[aria-current="true"]', { hasText: 'Three passes' }).waitFor();
  await until('the preview', async () => (await bars()).includes('The rest'));
  await frame.locator('#history .item .disclosure').first().press('Enter');
  await frame.locator('#history .item vscode-button', { hasText: 'Show diff' }).first().press('Enter');
  await bench.page.locator('.monaco-diff-editor').first().waitFor();
};

export const panelKeyboard: SharedScenarios = {
  open: panelWindow,
  scenarios: { buildsThreePassesByKeyboardAlone },
  seconds: 300,
};
