import { describe, expect, it } from 'vitest';
import type { ModelPrices } from './prices';
import { estimateCondensationSaving, type CondensationEffect, type ConversationPricing } from './saving';

const prices: ModelPrices = {
  input: { base: 3 },
  output: { base: 15 },
  cacheRead: { base: 0.3 },
  cacheWrite: { base: 3.75 },
  longCacheWrite: { base: 6 },
};
const effect: CondensationEffect = { tokensBefore: 100_000, tokensAfter: 40_000, keptPrefixTokens: 10_000, cost: 0.3 };
const pricing: ConversationPricing = { prices, accounting: 'anthropic', cache: 'warm' };

describe('the saving of a condensation', () => {
  it('with a warm cache is at the read price for each request, less the one-time cost of rewriting the cache', () => {
    const saving = estimateCondensationSaving(effect, pricing);
    expect(saving.perRequest).toBeCloseTo((60_000 * 0.3) / 1e6, 10);
    // Writing 30,000 tokens costs $3.75 per million, and reading them $0.30.
    expect(saving.cacheBreak).toBeCloseTo((30_000 * 3.45) / 1e6, 10);
    expect(saving.breakEvenRequests).toBe(Math.ceil((0.3 + 0.1035) / 0.018));
  });

  it("with an hour-long cache uses that cache's write price for the one-time rewrite", () => {
    expect(estimateCondensationSaving(effect, { ...pricing, isLongCache: true }).cacheBreak).toBeCloseTo(
      (30_000 * 5.7) / 1e6,
      10,
    );
  });

  it('without a cache is at the base price for each request', () => {
    expect(estimateCondensationSaving(effect, { ...pricing, cache: 'none' })).toEqual({
      perRequest: expect.closeTo(0.18, 10),
      cacheBreak: 0,
      breakEvenRequests: 2,
    });
  });

  it('with an expired cache includes one smaller cache write, and then the read price for each request', () => {
    const saving = estimateCondensationSaving(effect, { ...pricing, cache: 'cold' });
    expect(saving.perRequest).toBeCloseTo((60_000 * 0.3) / 1e6, 10);
    expect(saving.cacheBreak).toBeCloseTo((-60_000 * 3.45) / 1e6, 10);
    // Compares the cost of twenty requests without condensing and with it. Regression: 20 times the
    // difference was reported.
    const total = (tokens: number): number => (tokens * 3.75 + 19 * tokens * 0.3) / 1e6;
    expect(20 * saving.perRequest - saving.cacheBreak).toBeCloseTo(total(100_000) - total(40_000), 10);
    expect(saving.breakEvenRequests).toBe(Math.ceil((0.3 - 0.207) / 0.018));
  });

  it('of a free condensation that keeps the prefix has nothing to earn back', () => {
    expect(
      estimateCondensationSaving({ ...effect, cost: 0, keptPrefixTokens: 40_000 }, pricing).breakEvenRequests,
    ).toBe(0);
  });

  it('never reaches break-even if nothing is saved per request or the cost is unknown', () => {
    expect(estimateCondensationSaving({ ...effect, tokensAfter: 100_000 }, pricing).breakEvenRequests).toBeUndefined();
    expect(estimateCondensationSaving({ ...effect, cost: undefined }, pricing).breakEvenRequests).toBeUndefined();
  });

  it('includes the lower price if the request falls below a price tier', () => {
    const tiered = { ...prices, input: { base: 3, tiers: [{ aboveTokens: 90_000, price: 6 }] } };
    const saving = estimateCondensationSaving(effect, { ...pricing, prices: tiered, cache: 'none' });
    expect(saving.perRequest).toBeCloseTo(0.6 - 0.12, 10);
  });
});
