/**
 * Tests a pass in the panel: a tree of filters, a draft that takes effect only when applied, and
 * localized numbers.
 */
import assert from 'node:assert/strict';
import type { SharedScenarios, SharedScenario } from '../bed';
import { freshPanel } from '../panelBuilding';
import {
  readAxeScript,
  readUserSettings,
  reloadPanel,
  waitForSettings,
  showSection,
  unfold,
  findViolations,
} from '../panelPage';
import { panelWindow } from '../windows';
import { closeParts, screenshot, setTheme, until, type Theme } from '../workbench/index';

const smart = {
  version: 1,
  passes: [
    {
      id: 'a',
      name: 'Old results',
      mode: 'individual',
      selection: { type: 'custom', filter: { contentTypes: ['toolResults'], or: [{ minTokens: 500 }, {}] } },
      individualConfig: { defaults: { toolResults: { operation: 'truncate', maxLines: 20 } } },
    },
  ],
};

const draft =
  (width: number, themes: readonly Theme[]): SharedScenario =>
  async (bench) => {
    const { panel } = await freshPanel(bench, {
      size: { width, height: 1400 },
      settings: {
        'contextCondenser.provider': 'smart',
        'contextCondenser.smart': smart,
        ...(width < 500 && { 'workbench.activityBar.location': 'hidden' }),
      },
    });
    await panel();
    await closeParts(bench, 'sideBar');
    const frame = await panel();
    const wrong: string[] = [];
    await unfold(frame, ['smart']);
    await frame.getByRole('button', { name: 'Old results', exact: true }).click();
    const line = frame.locator('.pass-estimate');
    await until('the figures of the pass', async () => / tokens \(/.test(await line.innerText()));
    const before = await line.innerText();
    // With the keyboard, a condition is added to the second group.
    const group = frame.locator('[data-rule="or"] .entry .entry').nth(1);
    await group.getByText('No condition is set here').waitFor();
    await group.locator('vscode-button', { hasText: 'Add condition' }).last().focus();
    await bench.page.keyboard.press('Enter');
    await until('the condition to have the focus', () =>
      frame.evaluate<boolean>(`document.activeElement.closest('[data-rule="or"] .rule') !== null`),
    );
    const lines = frame.locator(
      '[data-setting="smart.passes.0.individualConfig.defaults.toolResults.maxLines"] input.control',
    );
    await lines.fill('3');
    await lines.press('Enter');
    await frame.locator('.pass .badge', { hasText: 'draft' }).waitFor();
    await until('the figures of the draft', async () => (await line.innerText()) !== before);
    assert.match(JSON.stringify(readUserSettings(bench)['contextCondenser.smart']), /"maxLines":20/);
    await frame.evaluate(readAxeScript());
    for (const theme of themes) {
      await setTheme(bench, theme);
      const found = await findViolations(frame, theme === themes[0] ? 'all' : 'colours');
      wrong.push(...found.map((violation) => `${theme}: ${violation}`));
      await frame.locator('.pass .item-name').evaluate((one) => {
        one.scrollIntoView();
      });
      await screenshot(bench, `panel-draft-${theme.replaceAll(' ', '-')}-${width}`);
    }
    const wide = await frame.evaluate<number>(
      'document.documentElement.scrollWidth - document.documentElement.clientWidth',
    );
    if (wide > 0) wrong.push(`scrolls sideways by ${wide}`);
    await frame.getByRole('button', { name: 'Try it in the preview' }).click();
    await frame.locator('#preview vscode-checkbox', { hasText: 'Try the draft of' }).waitFor();
    await frame.locator('#preview .cell').first().waitFor();
    await screenshot(bench, `panel-draft-preview-${width}`);
    await frame.locator('.draft-bar vscode-button', { hasText: 'Apply' }).click();
    await waitForSettings(bench, 'the pass', (settings) =>
      /"maxLines":3/.test(JSON.stringify(settings['contextCondenser.smart'])),
    );
    await frame.locator('.done', { hasText: '“Old results” was changed.' }).waitFor();
    await frame.getByRole('button', { name: 'Undo', exact: true }).click();
    await waitForSettings(bench, 'the undo', (settings) =>
      /"maxLines":20/.test(JSON.stringify(settings['contextCondenser.smart'])),
    );
    if (width > 500) {
      await showSection(frame, 'chat');
      const field = frame.locator('[data-setting="agent.declaredWindow"] input.control');
      for (const [text, value] of [
        ['500,000', 500_000],
        ['1,000,000', 1_000_000],
        ['200k', 200_000],
      ] as const) {
        await field.fill(text);
        await field.press('Enter');
        // VS Code omits settings that have the default value.
        await waitForSettings(
          bench,
          text,
          (settings) => (settings['contextCondenser.agent.declaredWindow'] ?? 1_000_000) === value,
        );
      }
      await until('the number in groups', async () => (await field.inputValue()) === '200,000');
      await field.fill('1,5');
      await frame.locator('[data-setting="agent.declaredWindow"] .problem').waitFor();
      await screenshot(bench, 'panel-numbers');
      assert.equal(readUserSettings(bench)['contextCondenser.agent.declaredWindow'], 200_000);
    }
    assert.deepEqual(wrong, []);
  };

/** Checks that a draft loses nothing when another preset is applied, or the window is reloaded. */
const appliesAPresetBesideADraft: SharedScenario = async (bench) => {
  const opened = await freshPanel(bench, {
    size: { width: 1400, height: 1400 },
    settings: { 'contextCondenser.provider': 'smart', 'contextCondenser.smart': smart },
  });
  let frame = await opened.panel();
  await unfold(frame, ['smart']);
  await frame.getByRole('button', { name: 'Old results', exact: true }).click();
  const lines = () =>
    frame.locator('[data-setting="smart.passes.0.individualConfig.defaults.toolResults.maxLines"] input.control');
  const apply = (name: string) =>
    frame.locator('#presets .item').filter({ hasText: name }).locator('vscode-button', { hasText: 'Apply' }).click();
  const inUse = (id: string) => waitForSettings(bench, id, (settings) => settings['contextCondenser.smart'] === id);
  const isOwn = () =>
    waitForSettings(bench, 'the passes', (settings) =>
      /"maxLines":20/.test(JSON.stringify(settings['contextCondenser.smart'])),
    );
  // The click on the preset commits the last input to the draft.
  await lines().fill('3');
  await apply('Balanced');
  await inUse('balanced');
  const done = frame.locator('#presets .done', { hasText: 'is now in use, in place of your passes' });
  await done.waitFor();
  await screenshot(bench, 'panel-preset-over-draft');
  await done.getByRole('button', { name: 'Undo', exact: true }).click();
  await isOwn();
  await frame.locator('.pass .badge', { hasText: 'draft' }).waitFor();

  await apply('Aggressive');
  await inUse('aggressive');
  frame = await reloadPanel(opened, await opened.panel());
  const back = frame.locator('#smart vscode-button', { hasText: 'Back to my passes' });
  await back.scrollIntoViewIfNeeded();
  await screenshot(bench, 'panel-preset-back-to-passes');
  await back.click();
  await isOwn();
  await frame.locator('.pass .badge', { hasText: 'draft' }).waitFor();
  await frame.getByRole('button', { name: 'Old results', exact: true }).click();
  await until('the draft', async () => (await lines().inputValue()) === '3');
  await frame.locator('#smart').scrollIntoViewIfNeeded();
  await screenshot(bench, 'panel-preset-draft-again');
};

export const panelPasses: SharedScenarios = {
  open: panelWindow,
  scenarios: {
    // One theme is enough at the narrow width, because the width doesn't affect colors.
    editsAPassAsADraftWide: draft(1400, ['dark', 'light', 'high contrast']),
    editsAPassAsADraftNarrow: draft(320, ['light']),
    appliesAPresetBesideADraft,
  },
  seconds: 300,
};
