/** The prices of a model's tokens. All are US dollars per million tokens. */

/** A price that holds for the whole request once its prompt is longer than so many tokens. */
export interface PriceTier {
  readonly aboveTokens: number;
  readonly price: number;
}

export interface Rate {
  readonly base: number;
  /** By prompt length, shortest first. */
  readonly tiers?: readonly PriceTier[];
}

/** An absent rate is not known; what stands in for it says {@link getRate}. */
export interface ModelPrices {
  readonly input: Rate;
  readonly output: Rate;
  readonly cacheRead?: Rate;
  /** Writing to the prompt cache for five minutes. */
  readonly cacheWrite?: Rate;
  /** Writing to the prompt cache for an hour. */
  readonly longCacheWrite?: Rate;
}

/** How long a vendor keeps a prompt prefix. `none`: prompts are not marked for it. */
export type CacheLifetime = 'none' | '5m' | '1h';

/** US dollars per million tokens, as far as somebody names them. */
export type NamedPrices = { readonly [kind in keyof ModelPrices]?: number | undefined };

/** A profile's own prices, in place of the table's; for an absent field the table's holds. */
export interface PriceOverrides extends NamedPrices {
  /** The prices of a request whose prompt is longer than so many tokens. */
  readonly longPrompts?: (NamedPrices & { readonly aboveTokens: number }) | undefined;
}

/**
 * Anthropic's multiples of the input price, where a table has no rate of its own (API guide, "Prompt caching": 1.25 for
 * five minutes, 2 for an hour). Reading has no such stand-in: some vendors give no discount.
 */
const WRITE_MULTIPLE = 1.25;
const LONG_WRITE_MULTIPLE = 2;

/** The price at a prompt length: the highest tier that the prompt is above holds for all of the request's tokens. */
export const priceAt = ({ base, tiers = [] }: Rate, promptTokens: number): number =>
  tiers.reduce((price, tier) => (promptTokens > tier.aboveTokens ? tier.price : price), base);

const times = ({ base, tiers }: Rate, factor: number): Rate => ({
  base: base * factor,
  ...(tiers && { tiers: tiers.map(({ aboveTokens, price }) => ({ aboveTokens, price: price * factor })) }),
});

/** The rate for a kind of token, with the stand-in where the table has none. */
export function getRate(prices: ModelPrices, kind: keyof ModelPrices, cacheWritesCostMore: boolean): Rate {
  const rate = prices[kind];
  if (rate) return rate;
  if (!cacheWritesCostMore || kind === 'cacheRead') return prices.input;
  return times(prices.input, kind === 'longCacheWrite' ? LONG_WRITE_MULTIPLE : WRITE_MULTIPLE);
}

const FIELDS = ['input', 'output', 'cacheRead', 'cacheWrite', 'longCacheWrite'] as const;

/** The table's prices with the profile's in their place; undefined while the price of input or output is not known. */
export function withOverrides(table: ModelPrices | undefined, overrides: PriceOverrides = {}): ModelPrices | undefined {
  const rates: { -readonly [field in keyof ModelPrices]?: ModelPrices[field] } = { ...table };
  const { longPrompts } = overrides;
  for (const field of FIELDS) {
    const base = overrides[field] ?? (longPrompts && rates[field]?.base);
    if (base === undefined) continue;
    const long = longPrompts?.[field];
    const tiers = longPrompts && long !== undefined && [{ aboveTokens: longPrompts.aboveTokens, price: long }];
    rates[field] = { base, ...(tiers && { tiers }) };
  }
  const { input, output, ...rest } = rates;
  return input && output ? { input, output, ...rest } : undefined;
}
