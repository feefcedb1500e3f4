import fc from 'fast-check';
import { expect, it } from 'vitest';
import { listChoiceQuestions, recommendSettings, type ChoiceAnswers } from './recommend';

const ALL = ['lossless', 'truncation', 'native', 'smart'];
const answers = (budget: string, wait: string, loss: string, effort: string): ChoiceAnswers => ({
  budget,
  wait,
  loss,
  effort,
});

it.each([
  ['nothing may be lost', answers('more', 'long', 'none', 'all'), 'lossless', undefined],
  ['nothing may be paid or noticed', answers('none', 'instant', 'much', 'none'), 'truncation', undefined],
  ['a model may not be waited for', answers('more', 'instant', 'little', 'presets'), 'smart', 'file-aware'],
  ['a cent', answers('little', 'short', 'much', 'none'), 'smart', 'cost'],
  ['a model, and nothing to set up', answers('some', 'short', 'much', 'none'), 'native', undefined],
  ['little loss at any price', answers('more', 'long', 'little', 'all'), 'smart', 'conservative'],
  ['little loss, and fast', answers('some', 'short', 'little', 'presets'), 'smart', 'conservative'],
  ['the gist, and fast', answers('some', 'short', 'much', 'presets'), 'smart', 'aggressive'],
])('the recommendation from “Help me choose” fits the answers: %s', (_what, given, provider, preset) => {
  expect(recommendSettings(given, ALL)).toMatchObject({ provider, ...(preset !== undefined && { preset }) });
});

it('the recommendation from “Help me choose” costs no more than allowed, calls no model if time is short, and names only available providers', () => {
  const answer = fc.record(
    Object.fromEntries(
      listChoiceQuestions().map(({ id, answers: offered }) => [id, fc.constantFrom(...offered.map((one) => one.id))]),
    ),
  );
  fc.assert(
    fc.property(answer, fc.subarray(ALL, { minLength: 3 }), (given, available) => {
      const advice = recommendSettings(given, [...new Set([...available, 'lossless', 'truncation', 'native'])]);
      expect(advice).toBeDefined();
      if (given['budget'] === 'none') expect(advice?.maxCost).toBe(0);
      if (given['budget'] === 'none' || given['wait'] === 'instant') {
        expect(advice?.provider).not.toBe('native');
        expect(['file-aware', 'speed', undefined]).toContain(advice?.preset);
      }
      if (advice?.provider === 'smart') expect(available).toContain('smart');
    }),
  );
});

it('the recommendation from “Help me choose” requires all four answers', () => {
  expect(recommendSettings({ budget: 'none', wait: 'short', loss: 'none' }, ALL)).toBeUndefined();
});
