import { describe, expect, it } from 'vitest';
import { computeCallCost, computeCostByTokenKind, computeCostForOtherUsage, sumCosts } from './callCost';
import { getPriceForPrompt, applyPriceOverrides, type ModelPrices } from './prices';
import { countPromptTokens, countUncachedInput, type Usage } from './usage';

const SONNET: ModelPrices = {
  input: { base: 3 },
  output: { base: 15 },
  cacheRead: { base: 0.3 },
  cacheWrite: { base: 3.75 },
  longCacheWrite: { base: 6 },
};

const usage = (changes: Partial<Usage> = {}): Usage => ({
  accounting: 'anthropic',
  source: 'reported',
  inputTokens: 20_000,
  outputTokens: 1_400,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  ...changes,
});

describe('the cost of a call', () => {
  it('is the input and output tokens at their prices', () => {
    expect(computeCallCost(usage(), SONNET)).toBeCloseTo(0.081, 10);
  });

  it('adds cached tokens in Anthropic’s accounting', () => {
    // Costs 1,000 × $3 + 1,400 × $15 + 19,000 × $0.30 + 5,000 × $3.75, per million tokens.
    const cached = usage({ inputTokens: 1_000, cacheReadTokens: 19_000, cacheWriteTokens: 5_000 });
    expect(computeCallCost(cached, SONNET)).toBeCloseTo(0.003 + 0.021 + 0.0057 + 0.01875, 10);
    expect(countPromptTokens(cached)).toBe(25_000);
  });

  it('subtracts cached tokens from the input in OpenAI’s accounting', () => {
    const cached = usage({ accounting: 'openai', cacheReadTokens: 19_000 });
    expect(computeCallCost(cached, SONNET)).toBeCloseTo(0.003 + 0.021 + 0.0057, 10);
    expect(countPromptTokens(cached)).toBe(20_000);
    expect(countUncachedInput(usage({ accounting: 'openai', cacheReadTokens: 30_000 }))).toBe(0);
  });

  it('charges more for cache writes that last an hour than for those of five minutes', () => {
    const written = usage({ inputTokens: 0, outputTokens: 0, cacheWriteTokens: 10_000, longCacheWriteTokens: 4_000 });
    expect(computeCostByTokenKind(written, SONNET).cacheWrite).toBeCloseTo(0.0225 + 0.024, 10);
  });

  it('derives unknown cache prices from the input price', () => {
    const prices = { input: { base: 4 }, output: { base: 8 } };
    const tokens = { inputTokens: 0, outputTokens: 0 };
    const write = { ...tokens, cacheWriteTokens: 1_000_000 };
    expect(computeCallCost(usage(write), prices)).toBeCloseTo(5, 10);
    expect(computeCallCost(usage({ ...write, longCacheWriteTokens: 1_000_000 }), prices)).toBeCloseTo(8, 10);
    expect(computeCallCost(usage({ ...write, accounting: 'openai' }), prices)).toBeCloseTo(4, 10);
    expect(computeCallCost(usage({ ...tokens, cacheReadTokens: 1_000_000 }), prices)).toBeCloseTo(4, 10);
  });

  it("is the vendor's own charge if there is one", () => {
    expect(computeCallCost(usage({ costUsd: 0.5 }), SONNET)).toBe(0.5);
    expect(computeCallCost(usage({ costUsd: 0.5 }), undefined)).toBe(0.5);
  });

  it('is unknown without a price, never 0', () => {
    expect(computeCallCost(usage(), undefined)).toBeUndefined();
    expect(sumCosts([0.1, undefined, 0.2])).toBeUndefined();
    expect(sumCosts([0.1, 0.2])).toBeCloseTo(0.3, 10);
    expect(sumCosts([])).toBe(0);
  });

  it("is at the price tier's price for the whole request if that is longer than the tier's limit", () => {
    const tiered = { input: { base: 3, tiers: [{ aboveTokens: 200_000, price: 6 }] }, output: { base: 15 } };
    expect(computeCallCost(usage({ inputTokens: 200_000, outputTokens: 0 }), tiered)).toBeCloseTo(0.6, 10);
    expect(computeCallCost(usage({ inputTokens: 200_001, outputTokens: 0 }), tiered)).toBeCloseTo(1.200006, 10);
    // The factor for an unknown cache rate applies to the tier too.
    const written = usage({ inputTokens: 0, outputTokens: 0, cacheWriteTokens: 300_000 });
    expect(computeCallCost(written, tiered)).toBeCloseTo(0.3 * 6 * 1.25, 10);
    expect(getPriceForPrompt({ base: 1, tiers: [] }, 9)).toBe(1);
  });
});

describe('the cost of a call with a different number of tokens', () => {
  const more = usage({ inputTokens: 50_000 });

  it('is what those tokens cost', () => {
    expect(computeCostForOtherUsage(usage(), more, SONNET)).toBe(computeCallCost(more, SONNET));
    expect(computeCostForOtherUsage(usage(), more, undefined)).toBeUndefined();
  });

  it('is the vendor’s charge, changed by the price of the different tokens', () => {
    const charged = usage({ costUsd: 0.5 });
    expect(computeCostForOtherUsage(charged, { ...charged, inputTokens: 50_000 }, SONNET)).toBeCloseTo(0.5 + 0.09, 10);
    expect(computeCostForOtherUsage(charged, charged, SONNET)).toBeCloseTo(0.5, 10);
    expect(computeCostForOtherUsage(charged, more, undefined)).toBeUndefined();
  });
});

describe("a profile's own prices", () => {
  it("replace the table's prices, including tiers", () => {
    const table = { ...SONNET, input: { base: 3, tiers: [{ aboveTokens: 1, price: 9 }] } };
    expect(applyPriceOverrides(table, { input: 2, cacheRead: 0 })).toEqual({
      ...SONNET,
      input: { base: 2 },
      cacheRead: { base: 0 },
    });
    expect(applyPriceOverrides(SONNET)).toEqual(SONNET);
  });

  it('are enough for a model without table prices if input and output are given', () => {
    expect(applyPriceOverrides(undefined, { input: 1 })).toBeUndefined();
    expect(applyPriceOverrides(undefined, { input: 1, output: 2, cacheWrite: 3, longCacheWrite: 4 })).toEqual({
      input: { base: 1 },
      output: { base: 2 },
      cacheWrite: { base: 3 },
      longCacheWrite: { base: 4 },
    });
  });
});
