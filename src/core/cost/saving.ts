import { getPriceForPrompt, getRate, type ModelPrices } from './prices';
import type { UsageAccounting } from './usage';

const TOKENS_PER_PRICE_UNIT = 1_000_000;

/** Tokens are counted as the conversation's model counts them. */
export interface CondensationEffect {
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  /** Tokens of the unchanged prefix, which stays cached. */
  readonly keptPrefixTokens: number;
  /** US dollars for the condensation itself; undefined if unknown. */
  readonly cost: number | undefined;
}

export interface ConversationPricing {
  readonly prices: ModelPrices;
  readonly accounting: UsageAccounting;
  /** `none` if the vendor has no cache. */
  readonly cache: 'warm' | 'cold' | 'none';
  /** True if prompts are cached for an hour, which costs more. */
  readonly isLongCache?: boolean;
}

export interface CondensationSaving {
  /** US dollars saved per later request. */
  readonly perRequest: number;
  /**
   * Additional US dollars for the first request, since the cache lacks everything after the first
   * change. Negative if the cache had expired.
   */
  readonly cacheBreak: number;
  readonly breakEvenRequests: number | undefined;
}

/** Later requests read their history from the cache, since the first one fills it again. */
export function estimateCondensationSaving(
  effect: CondensationEffect,
  pricing: ConversationPricing,
): CondensationSaving {
  const { prices, accounting, cache } = pricing;
  const isCached = cache !== 'none';
  const computeDollars = (tokens: number, kind: keyof ModelPrices, promptTokens: number): number =>
    (tokens * getPriceForPrompt(getRate(prices, kind, accounting === 'anthropic'), promptTokens)) /
    TOKENS_PER_PRICE_UNIT;
  const historyPriceKind = isCached ? 'cacheRead' : 'input';
  const perRequest =
    computeDollars(effect.tokensBefore, historyPriceKind, effect.tokensBefore) -
    computeDollars(effect.tokensAfter, historyPriceKind, effect.tokensAfter);
  const rewrittenTokens = Math.max(0, effect.tokensAfter - effect.keptPrefixTokens);
  const writePriceKind = pricing.isLongCache === true ? 'longCacheWrite' : 'cacheWrite';
  const computeRewriteCost = (tokens: number, promptTokens: number): number =>
    computeDollars(tokens, writePriceKind, promptTokens) - computeDollars(tokens, 'cacheRead', promptTokens);
  const computeCacheBreakCost = (): number =>
    cache === 'warm'
      ? Math.max(0, computeRewriteCost(rewrittenTokens, effect.tokensAfter))
      : computeRewriteCost(effect.tokensAfter, effect.tokensAfter) -
        computeRewriteCost(effect.tokensBefore, effect.tokensBefore);
  const cacheBreak = isCached ? computeCacheBreakCost() : 0;
  return {
    perRequest,
    cacheBreak,
    breakEvenRequests:
      effect.cost === undefined || perRequest <= 0
        ? undefined
        : Math.max(0, Math.ceil((effect.cost + cacheBreak) / perRequest)),
  };
}
