/** Tests the vendor’s models in the list of the Model box, and what the form takes from them. */
import { beforeEach, expect, it } from 'vitest';
import { fake, workspace } from '../../../../test/support/vscode';
import { openPage, type TestPage } from '../../testing';

const profile = { id: 'work', name: 'Work', vendor: 'anthropic', model: 'claude-sonnet-4' };

beforeEach(() => {
  fake.reset();
  workspace.workspaceFolders = undefined;
  workspace.name = undefined;
  fake.settings['contextCondenser.profiles'] = [{ ...profile, contextWindow: 1_000, threshold: 60 }];
});

const saved = (): unknown => fake.settings['contextCondenser.profiles'];
const box = (page: TestPage): HTMLElement => page.find('#profiles input.combo');
const words = (page: TestPage): string => page.find('[data-setting="profiles.0.model"] [role="status"]').textContent;

async function lookUpModels(models: () => Promise<unknown>): Promise<TestPage> {
  const page = await openPage({ view: { open: ['profiles'] }, backend: { listVendorModels: models } });
  await page.click(() => page.find('.item-name', 'Work'));
  await page.click(() => page.find('button', 'Look up models'));
  return page;
}

it('the list of models reports a vendor that does not answer, and can be retried', async () => {
  let round = 0;
  const page = await lookUpModels(() =>
    round++ === 0 ? Promise.reject(new Error('The key is wrong.')) : Promise.resolve([{ id: 'claude-sonnet-4' }]),
  );
  await page.until(() => page.all('.problem').some(({ textContent }) => textContent.includes('The key is wrong.')));
  await page.click(() => page.find('button', 'Look up models'));
  await page.until(() => words(page));
  expect(page.all('.problem')).toEqual([]);
});

it('the list of models shows only what the vendor reports', async () => {
  const prices = { input: 4, output: 20, longPrompts: { aboveTokens: 200_000, input: 8 } };
  const page = await lookUpModels(() =>
    Promise.resolve([
      { id: 'big', contextWindow: 1_000_000, maxOutputTokens: 64_000, seesImages: true, prices },
      { id: 'blind', seesImages: false },
      { id: 'claude-sonnet-4' },
    ]),
  );
  // The profile's own model is selected at first.
  await page.until(() => words(page) === 'The vendor provides only its name.');
  expect(page.all('#profiles datalist option').map((option) => option.getAttribute('value'))).toEqual([
    'big',
    'blind',
    'claude-sonnet-4',
  ]);
  for (const [typed, said] of [
    ['b', '3 models in the list'],
    ['bl', '3 models in the list'],
    ['blind', 'does not accept images'],
    [
      'big',
      'window 1,000,000 · answers up to 64,000 tokens · $4.00 in, $20.00 out per million tokens · more expensive above 200,000 tokens · accepts images',
    ],
  ] as const) {
    await page.type(() => box(page), typed, false);
    await page.until(() => words(page) === said);
  }
  // Typing saves nothing.
  expect(saved()).toEqual([{ ...profile, contextWindow: 1_000, threshold: 60 }]);
  await page.type(() => box(page), 'bl');
  await page.until(() => words(page) === '“bl” isn’t in the vendor’s list. Check the name.');
});

it('selecting a listed model replaces the previous model’s figures, and an unlisted model keeps them', async () => {
  const page = await lookUpModels(() => Promise.resolve([{ id: 'big', maxOutputTokens: 64_000 }]));
  await page.until(() => words(page) === '“claude-sonnet-4” isn’t in the vendor’s list. Check the name.');
  await page.type(() => box(page), 'unlisted');
  await page.until(() => JSON.stringify(saved()).includes('unlisted'));
  expect(saved()).toEqual([{ ...profile, model: 'unlisted', contextWindow: 1_000, threshold: 60 }]);
  await page.type(() => box(page), 'big');
  await page.until(() => JSON.stringify(saved()).includes('big'));
  expect(saved()).toEqual([{ ...profile, model: 'big', threshold: 60, maxOutputTokens: 64_000 }]);
});

it('the vendor’s figures for the same model are applied only on request, and entered values stay', async () => {
  const page = await lookUpModels(() => Promise.resolve([{ id: 'claude-sonnet-4', maxOutputTokens: 64_000 }]));
  await page.click(() => page.find('button', 'Use these figures'));
  await page.until(() => JSON.stringify(saved()).includes('maxOutputTokens'));
  expect(saved()).toEqual([{ ...profile, contextWindow: 1_000, threshold: 60, maxOutputTokens: 64_000 }]);
  await page.until(() => page.all('button').every(({ textContent }) => textContent !== 'Use these figures'));
});
