import { beforeEach, expect, it } from 'vitest';
import { fake } from '../../../../test/support/vscode';
import { PROVIDER_NAMES } from '../../../../src/core/condense/types';
import { openPage } from '../../testing';

beforeEach(() => {
  fake.reset();
});

const open = () => openPage({ view: { open: ['strategy'] } });

it('selecting a strategy shows its steps and their conditions', async () => {
  const page = await open();
  const steps = (): string[] =>
    page
      .all('#strategy .item')
      .map((item) => [...item.querySelectorAll('span')].map((each) => each.textContent).join(' '));
  await page.until(() => steps().length === 3);
  expect(page.all('#strategy .item-name').map(({ textContent }) => textContent)).toEqual([
    'Lossless',
    'Truncation',
    PROVIDER_NAMES.native,
  ]);
  const dropdown = page.find('#strategy vscode-dropdown', 'Strategy');
  const choices = (): string[] => [...dropdown.querySelectorAll('vscode-option')].map((each) => each.textContent);
  expect(choices()).not.toContain('Not set');
  expect((dropdown as HTMLInputElement).value).toBe('pipeline');
  Object.assign(dropdown, { value: 'adaptive-threshold' });
  dropdown.dispatchEvent(new Event('change', { bubbles: true }));
  await page.until(() => steps().length === 4);
  expect(fake.settings['contextCondenser.strategy']).toBe('adaptive-threshold');
  expect(steps()[0]).toContain('up to 1.2 times the target');
  expect(steps()[3]).toMatch(/Preset Aggressive.*above 1 times the target.*the last step if it removes something/);
});

it("a user's own strategy shows its steps, each with its conditions", async () => {
  fake.settings['contextCondenser.strategy'] = {
    id: 'own',
    name: 'Own',
    description: 'My way.',
    steps: [
      { provider: 'lossless', when: { tokenThreshold: 40_000, cacheCold: true } },
      { preset: 'cost', when: { budgetLeft: 0.5 }, affordable: true },
      { provider: 'truncation', after: 'failure' },
    ],
  };
  const page = await open();
  await page.until(() => page.all('#strategy .item').length === 3);
  const [first] = page.all('#strategy vscode-option');
  expect(first?.textContent).toBe('Your own');
  expect(page.all('#strategy .tag').map(({ textContent }) => textContent)).toEqual([
    'above 40,000 tokens',
    'Cache cold: true',
    'while $0.50 is left',
    'only within the budget',
    'only if an earlier step failed',
  ]);
  await page.click(() => page.find('#strategy button', 'Edit in settings.json'));
  await page.until(() => fake.executed.some(([command]) => command === 'workbench.action.openSettingsJson'));
});

it('a copy of a built-in strategy can be edited step by step, and is still there after another strategy was chosen', async () => {
  const saved = (): unknown => fake.settings['contextCondenser.strategy'];
  const steps = (): unknown => (saved() as { readonly steps?: unknown } | undefined)?.steps;
  const page = await open();
  await page.until(() => page.find('#strategy .row-help', 'built-in strategy are fixed'));
  await page.click(() => page.find('#strategy vscode-button', 'Edit a copy'));
  await page.until(() => steps() !== undefined);
  expect(steps()).toEqual([{ provider: 'lossless' }, { provider: 'truncation' }, { provider: 'native' }]);
  const second = await page.until(() => page.find('#strategy vscode-dropdown', 'Step 2 runs'));
  Object.assign(second, { value: JSON.stringify({ preset: 'speed' }) });
  second.dispatchEvent(new Event('change', { bubbles: true }));
  await page.until(() => JSON.stringify(steps()).includes('speed'));
  await page.click(() => page.find('#strategy button', 'Move Preset Speed up'));
  await page.until(() => JSON.stringify(steps()).startsWith('[{"preset":"speed"}'));
  await page.click(() => page.find('#strategy button', 'Delete Lossless'));
  await page.click(() => page.find('#strategy vscode-button', 'Add step'));
  await page.until(() => JSON.stringify(steps()).endsWith('{"provider":"truncation"}]'));
  expect(steps()).toEqual([{ preset: 'speed' }, { provider: 'native' }, { provider: 'truncation' }]);
  const own = saved();
  const dropdown = page.find('#strategy vscode-dropdown', 'Strategy');
  Object.assign(dropdown, { value: 'cost-aware' });
  dropdown.dispatchEvent(new Event('change', { bubbles: true }));
  await page.click(() => page.find('#strategy vscode-button', 'Back to my steps'));
  await page.until(() => JSON.stringify(saved()) === JSON.stringify(own));
});
