import { expect, it } from 'vitest';
import type { ModelPrices } from '../core/cost/prices';
import type { Usage } from '../core/cost/usage';
import { GatewayRunFigures } from './runFigures';

const PRICES: ModelPrices = { input: { base: 3 }, output: { base: 15 }, cacheRead: { base: 0.3 } };

/** Creates usage like OpenRouter's reports. */
const usage = (costUsd?: number): Usage => ({
  accounting: 'openai',
  source: 'reported',
  inputTokens: 20_000,
  outputTokens: 1_000,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  ...(costUsd !== undefined && { costUsd }),
});

/** Computes the figures of two requests, of which the second was sent with 30,000 tokens fewer. */
function computeFigures(reported: Usage, prices: ModelPrices | undefined) {
  const figures = new GatewayRunFigures();
  const request = { conversation: 'c', usage: reported, tokens: 20_000, prices, breaksCache: false };
  figures.addRequest({ ...request, savedTokens: 0 });
  figures.addRequest({ ...request, savedTokens: 30_000 });
  return figures.summarizeRun();
}

it('the figures of a gateway run add the price of the removed tokens to the cost without condensing', () => {
  // Each request costs 20,000 × $3 + 1,000 × $15 per million tokens, and the removed tokens 30,000
  // × $3.
  const reckoned = computeFigures(usage(), PRICES);
  expect(reckoned.cost).toBeCloseTo(2 * 0.075, 10);
  expect(reckoned.costWithout).toBeCloseTo(2 * 0.075 + 0.09, 10);
  const charged = computeFigures(usage(0.05), PRICES);
  expect(charged.cost).toBeCloseTo(2 * 0.05, 10);
  expect(charged.costWithout).toBeCloseTo(2 * 0.05 + 0.09, 10);
});

it('the figures of a gateway run contain only the vendor’s charge if there are no prices', () => {
  const charged = computeFigures(usage(0.05), undefined);
  expect(charged.cost).toBeCloseTo(2 * 0.05, 10);
  expect(charged).not.toHaveProperty('costWithout');
  expect(computeFigures(usage(), undefined)).not.toHaveProperty('cost');
});

it('the figures of a gateway run count a request without usage in our own tokens, at no cost', () => {
  const figures = new GatewayRunFigures();
  const request = { conversation: 'c', tokens: 20_000, prices: PRICES, savedTokens: 0, breaksCache: false };
  figures.addRequest({ ...request, usage: usage() });
  figures.addRequest({ ...request, usage: undefined, savedTokens: 5_000 });
  const summary = figures.summarizeRun();
  expect(summary).toMatchObject({ requests: 2, unreported: 1, condensed: 1, sentTokens: 40_000, savedTokens: 5_000 });
  expect(summary.cost).toBeCloseTo(0.075, 10);
});

it('the figures of a gateway run have no cost if no request reported usage', () => {
  const figures = new GatewayRunFigures();
  figures.addRequest({ usage: undefined, tokens: 20_000, prices: PRICES, savedTokens: 5, breaksCache: false });
  expect(figures.summarizeRun()).not.toHaveProperty('cost');
});
