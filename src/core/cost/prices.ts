export interface PriceTier {
  readonly aboveTokens: number;
  readonly price: number;
}

export interface TieredRate {
  readonly base: number;
  /** Rates for longer prompts, shortest prompt length first. */
  readonly tiers?: readonly PriceTier[];
}

/**
 * Prices in US dollars per million tokens. An absent rate is unknown; {@link getRate} has the
 * fallback.
 */
export interface ModelPrices {
  readonly input: TieredRate;
  readonly output: TieredRate;
  readonly cacheRead?: TieredRate;
  /** Writing to a cache that lasts five minutes. */
  readonly cacheWrite?: TieredRate;
  /** Writing to a cache that lasts an hour. */
  readonly longCacheWrite?: TieredRate;
}

export type CacheLifetime = 'none' | '5m' | '1h';

export type PartialPrices = { readonly [kind in keyof ModelPrices]?: number | undefined };

export interface PriceOverrides extends PartialPrices {
  readonly longPrompts?: (PartialPrices & { readonly aboveTokens: number }) | undefined;
}

/**
 * Anthropic's multiples of the input price (API guide, "Prompt caching"), for tables without a
 * rate. Cache reads have no fallback, since some vendors give no discount.
 */
const CACHE_WRITE_PRICE_FACTOR = 1.25;
const LONG_CACHE_WRITE_PRICE_FACTOR = 2;

/** The highest tier that the prompt exceeds applies to all tokens. */
export const getPriceForPrompt = ({ base, tiers = [] }: TieredRate, promptTokens: number): number =>
  tiers.reduce((price, tier) => (promptTokens > tier.aboveTokens ? tier.price : price), base);

const scaleRate = ({ base, tiers }: TieredRate, factor: number): TieredRate => ({
  base: base * factor,
  ...(tiers && { tiers: tiers.map(({ aboveTokens, price }) => ({ aboveTokens, price: price * factor })) }),
});

export function getRate(prices: ModelPrices, kind: keyof ModelPrices, cacheWritesCostMore: boolean): TieredRate {
  const rate = prices[kind];
  if (rate) return rate;
  if (!cacheWritesCostMore || kind === 'cacheRead') return prices.input;
  return scaleRate(prices.input, kind === 'longCacheWrite' ? LONG_CACHE_WRITE_PRICE_FACTOR : CACHE_WRITE_PRICE_FACTOR);
}

const PRICE_FIELDS = ['input', 'output', 'cacheRead', 'cacheWrite', 'longCacheWrite'] as const;

export function applyPriceOverrides(
  table: ModelPrices | undefined,
  overrides: PriceOverrides = {},
): ModelPrices | undefined {
  const rates: { -readonly [field in keyof ModelPrices]?: ModelPrices[field] } = { ...table };
  const { longPrompts } = overrides;
  for (const field of PRICE_FIELDS) {
    const base = overrides[field] ?? (longPrompts && rates[field]?.base);
    if (base === undefined) continue;
    const longPromptPrice = longPrompts?.[field];
    const tiers = longPrompts &&
      longPromptPrice !== undefined && [{ aboveTokens: longPrompts.aboveTokens, price: longPromptPrice }];
    rates[field] = { base, ...(tiers && { tiers }) };
  }
  const { input, output, ...rest } = rates;
  return input && output ? { input, output, ...rest } : undefined;
}
