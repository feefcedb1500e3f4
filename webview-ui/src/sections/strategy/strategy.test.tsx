import { beforeEach, expect, it } from 'vitest';
import { fake } from '../../../../test/support/vscode';
import { openPage } from '../../testing';

beforeEach(() => {
  fake.reset();
});

const open = () => openPage({ view: { open: ['strategy'] } });

it('a strategy is chosen, and its steps are shown with when they run', async () => {
  const page = await open();
  const steps = (): string[] =>
    page
      .all('#strategy .item')
      .map((item) => [...item.querySelectorAll('span')].map((each) => each.textContent).join(' '));
  await page.until(() => steps().length === 3);
  expect(page.all('#strategy .item-name').map(({ textContent }) => textContent)).toEqual([
    'Lossless',
    'Truncation',
    'Native',
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

it('one of one’s own shows its steps, and any condition', async () => {
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
  expect(page.root.querySelector('#strategy')?.textContent).toContain('My way.');
  const [first] = page.all('#strategy vscode-option');
  expect(first?.textContent).toBe('Your own');
  expect(page.all('#strategy .tag').map(({ textContent }) => textContent)).toEqual([
    'above 40,000 tokens',
    'Cache cold: true',
    'while $0.50 are left',
    'only within the budget',
    'only if an earlier step failed',
  ]);
  await page.click(() => page.find('#strategy button', 'Write your own in settings.json'));
  await page.until(() => fake.executed.some(([command]) => command === 'workbench.action.openSettingsJson'));
});
