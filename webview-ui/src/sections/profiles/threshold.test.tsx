/**
 * The page must state the threshold that applies: it reports an invalid threshold, and shows the
 * inherited one.
 */
import { beforeEach, expect, it } from 'vitest';
import { offerWrappedModel } from '../../../../src/agent/offeredModels';
import { loadPriceTable } from '../../../../src/api/prices';
import { listEditorModels } from '../../../../src/commands/modelFacts';
import { fake } from '../../../../test/support/vscode';
import { openPage, type TestPage } from '../../testing';

const profile = { id: 'work', name: 'Work', vendor: 'openai', model: 'm', contextWindow: 100_000 };

beforeEach(() => {
  fake.reset();
});

const meaning = (page: TestPage, place: string): string =>
  page.root.querySelector(`[data-setting="${place}"] .slider-meaning`)?.textContent ?? '';

async function openProfile(): Promise<TestPage> {
  const page = await openPage({
    view: { open: ['profiles'] },
    backend: { loadModelWindowAndPrices: () => Promise.resolve({ contextWindow: 100_000, isWindowKnown: true }) },
  });
  await page.click(() => page.find('#profiles .item-name', 'Work'));
  await page.until(() => meaning(page, 'profiles.0.threshold') !== '');
  return page;
}

it.each([4, 101, 150, 0, -2])(
  'a profile with the invalid threshold %s inherits the general one and says so',
  async (threshold) => {
    fake.settings['contextCondenser.threshold'] = 60;
    fake.settings['contextCondenser.profiles'] = [{ ...profile, threshold }];
    const page = await openProfile();
    expect(page.find('#profiles .item-facts').textContent).not.toContain('condenses at');
    expect(page.find('#profiles .item-line + .problems').textContent).toContain('threshold');
    expect(meaning(page, 'profiles.0.threshold')).toContain('60,000 tokens');
  },
);

it('a profile with a valid threshold says when it condenses', async () => {
  fake.settings['contextCondenser.profiles'] = [{ ...profile, threshold: 50 }];
  const page = await openProfile();
  expect(page.find('#profiles .item-facts').textContent).toContain('condenses at 50%');
  expect(meaning(page, 'profiles.0.threshold')).toContain('50,000 tokens');
});

it('invalid general thresholds are replaced with the default', async () => {
  fake.settings['contextCondenser.threshold'] = 150;
  fake.settings['contextCondenser.thresholdTokens'] = 5;
  fake.settings['contextCondenser.profiles'] = [profile];
  const page = await openProfile();
  expect(meaning(page, 'threshold')).toContain('150,000 ');
  expect(meaning(page, 'profiles.0.threshold')).toContain('75,000 ');
});

it.each([
  ['is not offered in the chat', {}, '150,000 tokens of a window of 200,000'],
  ['is offered in the chat', { offerInChat: true }, '75,000 of 100,000 tokens with Work'],
  ['inherits it explicitly', { offerInChat: true, threshold: -1 }, '75,000 of 100,000 tokens with Work'],
  ['has its own threshold', { offerInChat: true, threshold: 50 }, '150,000 tokens of a window of 200,000'],
])('the general threshold is shown in tokens of the right window if a model %s', async (_case, own, text) => {
  fake.settings['contextCondenser.profiles'] = [{ ...profile, ...own }];
  fake.settings['contextCondenser.condensingProfile'] = 'work';
  const page = await openProfile();
  expect(meaning(page, 'threshold')).toBe(text);
});

it('a model of VS Code has one window here, in its label and in the chat', async () => {
  const model = { vendor: 'copilot', id: 'm', name: 'Other', family: 'f', maxInputTokens: 120_000 };
  fake.models = [{ ...model, id: 'auto', name: 'Auto', maxInputTokens: 0 }, model];
  const page = await openPage({ view: { open: ['chat'] }, backend: { listEditorModels } });
  await page.until(() => meaning(page, 'threshold').includes('Other'));
  expect(meaning(page, 'threshold')).toBe('96,144 of 128,192 tokens with Other');
  expect(page.find('#chat').textContent).toContain('Other · copilot · 128,192 tokens');
  expect(offerWrappedModel(model, await loadPriceTable()).contextWindow).toBe(128_192);
});
