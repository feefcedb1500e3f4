import { expect, it } from 'vitest';
import { applyServiceSurcharge, computeWebSearchCost, type ServiceConditions } from './service';

const prices = { input: { base: 5, tiers: [{ aboveTokens: 200_000, price: 10 }] }, output: { base: 25 } };

it.each<[string, string, ServiceConditions, number | undefined]>([
  ['fast mode of Opus 4.6', 'claude-opus-4-6', { speed: 'fast' }, 6],
  ['fast mode of Opus 4.8', 'claude-opus-4-8', { speed: 'fast' }, 2],
  ['fast mode of Opus 5', 'claude-opus-5', { speed: 'fast' }, 2],
  ['fast mode of Opus 5.5', 'claude-opus-5-5', { speed: 'fast' }, 2],
  ['fast mode of a model whose factor is not known', 'claude-fable-5-2', { speed: 'fast' }, undefined],
  ['inference in the US', 'claude-opus-5', { region: 'us' }, 1.1],
  ['inference in the US, fast', 'claude-opus-5', { region: 'us', speed: 'fast' }, 2.2],
  ['a batch', 'claude-sonnet-4-5', { tier: 'batch' }, 0.5],
  ['priority of Anthropic, which is bought by contract', 'claude-opus-5', { tier: 'priority' }, undefined],
  ['priority of GPT-5.5', 'gpt-5.5', { tier: 'priority' }, 2.5],
  ['priority of GPT-6.2', 'gpt-6.2-sol', { tier: 'priority' }, 2],
  ['flex', 'gpt-5.1', { tier: 'flex' }, 0.5],
  ['a speed that nobody has heard of', 'claude-opus-5', { speed: 'warp' }, undefined],
  ['the plain way', 'claude-opus-5', { speed: 'standard', tier: 'default', region: 'global' }, 1],
])('the price factor of the service tier %s is known', (_, model, service, factor) => {
  const served = applyServiceSurcharge(prices, model, service);
  if (factor === undefined) {
    expect(served).toBeUndefined();
    return;
  }
  expect(served?.input.base).toBeCloseTo(5 * factor, 9);
  expect(served?.input.tiers?.[0]?.price).toBeCloseTo(10 * factor, 9);
  expect(served?.output.base).toBeCloseTo(25 * factor, 9);
});

it('a web search costs one cent', () => {
  expect(computeWebSearchCost({ webSearches: 3 })).toBeCloseTo(0.03, 9);
  expect(computeWebSearchCost({})).toBe(0);
});
