/**
 * Models that the price package lacks or prices wrongly. newerModels.test.ts reports rows that can
 * be removed.
 */
import type { ModelPrices, PriceTier, TieredRate } from '../core/cost/prices';

export interface PricedNewerModel {
  readonly prices: ModelPrices;
  /** ISO 8601 date on which the prices were valid. */
  readonly asOf: string;
  /** Input and output together, in tokens. */
  readonly contextWindow?: number;
}

interface NewerModel {
  readonly models: RegExp;
  /**
   * The sellers to which the row applies, named as in the price package. Others (Bedrock, gateways)
   * have their own prices.
   */
  readonly sellers: readonly string[];
  readonly listed: NewerModelRow;
}

type NewerModelRow = Omit<PricedNewerModel, 'asOf'>;

export const PRICE_PACKAGE = { version: '0.1.8', published: '2026-09-23' } as const;

interface PricesWithoutTiers {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly longCacheWrite: number;
}

const makeFlatPrices = (prices: PricesWithoutTiers): ModelPrices => makePrices(prices);

const makeTieredPrices = (
  prices: PricesWithoutTiers,
  aboveTokens: number,
  times: (kind: keyof PricesWithoutTiers) => number,
): ModelPrices => makePrices(prices, (kind) => [{ aboveTokens, price: prices[kind] * times(kind) }]);

function makePrices(
  prices: PricesWithoutTiers,
  getTiers?: (kind: keyof PricesWithoutTiers) => PriceTier[],
): ModelPrices {
  const makeRate = (kind: keyof PricesWithoutTiers): TieredRate => ({
    base: prices[kind],
    ...(getTiers && { tiers: getTiers(kind) }),
  });
  return {
    input: makeRate('input'),
    output: makeRate('output'),
    cacheRead: makeRate('cacheRead'),
    cacheWrite: makeRate('cacheWrite'),
    longCacheWrite: makeRate('longCacheWrite'),
  };
}

const ONE_MILLION_TOKENS = 1_000_000;
const ANTHROPIC_SELLERS = ['anthropic', 'google'];
const OPENAI_SELLERS = ['openai'];
/** "For requests with more than 272K input tokens, input and cache rates double and output costs 1.5 times" (OpenAI's model pages). */
const getLongPromptFactorOfGpt = (kind: keyof PricesWithoutTiers): number => (kind === 'output' ? 1.5 : 2);
const makeGptPriceRow = (prices: PricesWithoutTiers): NewerModelRow => ({
  prices: makeTieredPrices(prices, 272_000, getLongPromptFactorOfGpt),
  contextWindow: 1_050_000,
});

const PRICES_AS_OF = '2026-11-22';

export const NEWER_MODELS: readonly NewerModel[] = [
  {
    // platform.claude.com/docs/en/models/haiku-5-5/overview: if a prompt exceeds 100,000 tokens,
    // all tokens cost five times as much.
    models: /claude-haiku-5-5/,
    sellers: ANTHROPIC_SELLERS,
    listed: {
      prices: makeTieredPrices(
        { input: 0.1, output: 0.5, cacheRead: 0.01, cacheWrite: 0.125, longCacheWrite: 0.2 },
        100_000,
        () => 5,
      ),
      contextWindow: ONE_MILLION_TOKENS,
    },
  },
  {
    // platform.claude.com/docs/en/models/haiku-5-5/overview (comparison); cache reads cost half
    // since 7 October 2026.
    models: /claude-sonnet-5-5/,
    sellers: ANTHROPIC_SELLERS,
    listed: {
      prices: makeFlatPrices({ input: 2, output: 10, cacheRead: 0.1, cacheWrite: 2.5, longCacheWrite: 4 }),
      contextWindow: ONE_MILLION_TOKENS,
    },
  },
  {
    // platform.claude.com/docs/en/models/fable-5/overview: "shares Claude Fable 5's specifications and pricing".
    models: /claude-mythos-5(?!-\d(?!\d))/,
    sellers: ANTHROPIC_SELLERS,
    listed: {
      prices: makeFlatPrices({ input: 10, output: 50, cacheRead: 1, cacheWrite: 12.5, longCacheWrite: 20 }),
      contextWindow: ONE_MILLION_TOKENS,
    },
  },
  {
    // Costs the same as Fable 5.1.
    models: /claude-mythos-5-1/,
    sellers: ANTHROPIC_SELLERS,
    listed: {
      prices: makeFlatPrices({ input: 10, output: 50, cacheRead: 0.25, cacheWrite: 12.5, longCacheWrite: 20 }),
      contextWindow: ONE_MILLION_TOKENS,
    },
  },
  {
    // developers.openai.com/api/docs/models/gpt-6.2-sol; 6.1 costs the same (docs.litellm.ai/blog/gpt_6_1_sol).
    models: /gpt-6\.[12]-sol/,
    sellers: OPENAI_SELLERS,
    listed: makeGptPriceRow({ input: 2, output: 10, cacheRead: 0.1, cacheWrite: 2.5, longCacheWrite: 5 }),
  },
  {
    // docs.litellm.ai/blog/gpt-6-1-terra; cache writes: apidog.com/blog/gpt-6-1-terra-pricing.
    models: /gpt-6\.1-terra/,
    sellers: OPENAI_SELLERS,
    listed: makeGptPriceRow({ input: 1, output: 5, cacheRead: 0.05, cacheWrite: 1.25, longCacheWrite: 2.5 }),
  },
];

export function findNewerModel(seller: string, model: string): PricedNewerModel | undefined {
  const row = NEWER_MODELS.find(({ models, sellers }) => sellers.includes(seller) && models.test(model));
  return row && { ...row.listed, asOf: PRICES_AS_OF };
}
