import { priceAt, getRate, type ModelPrices } from './prices';
import type { UsageAccounting } from './usage';

const PER = 1_000_000;

/** The effect of a condensation on the requests that follow it. Tokens are the conversation's model's. */
export interface CondensationEffect {
  /** Tokens of a request before and after, all that is sent counted. */
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  /** Tokens at the head of the request that stayed byte for byte, so that the cache still knows them. */
  readonly keptPrefixTokens: number;
  /** US dollars that the condensation itself cost; undefined where that is not known. */
  readonly cost: number | undefined;
}

/** How the conversation's own requests are paid. */
export interface ConversationPricing {
  readonly prices: ModelPrices;
  readonly accounting: UsageAccounting;
  /** Whether the vendor's cache holds the conversation, no longer does, or there is none. */
  readonly cache: 'warm' | 'cold' | 'none';
  /** Whether prompts are written for an hour, which costs more. */
  readonly isLongCache?: boolean;
}

export interface Saving {
  /** US dollars that each later request costs less. */
  readonly perRequest: number;
  /**
   * US dollars that the first request costs more, because what stands behind the first change is no longer cached. Negative
   * where the cache was gone: less has to be written anew.
   */
  readonly cacheBreak: number;
  /** Requests after which the condensation has paid for itself; undefined where it never does, or its cost is not known. */
  readonly breakEvenRequests: number | undefined;
}

/**
 * The saving of a condensation, and when it has paid for itself. A later request reads its history at the price of a cache
 * read, also where the cache was gone before: the first request fills it. Without a cache it pays the plain price.
 */
export function estimateSaving(effect: CondensationEffect, pricing: ConversationPricing): Saving {
  const { prices, accounting, cache } = pricing;
  const cached = cache !== 'none';
  const dollars = (tokens: number, kind: keyof ModelPrices, promptTokens: number): number =>
    (tokens * priceAt(getRate(prices, kind, accounting === 'anthropic'), promptTokens)) / PER;
  const historyPrice = cached ? 'cacheRead' : 'input';
  const perRequest =
    dollars(effect.tokensBefore, historyPrice, effect.tokensBefore) -
    dollars(effect.tokensAfter, historyPrice, effect.tokensAfter);
  const anew = Math.max(0, effect.tokensAfter - effect.keptPrefixTokens);
  const writing = pricing.isLongCache === true ? 'longCacheWrite' : 'cacheWrite';
  const firstCosts = (tokens: number, promptTokens: number): number =>
    dollars(tokens, writing, promptTokens) - dollars(tokens, 'cacheRead', promptTokens);
  const broken = (): number =>
    cache === 'warm'
      ? Math.max(0, firstCosts(anew, effect.tokensAfter))
      : firstCosts(effect.tokensAfter, effect.tokensAfter) - firstCosts(effect.tokensBefore, effect.tokensBefore);
  const cacheBreak = cached ? broken() : 0;
  return {
    perRequest,
    cacheBreak,
    breakEvenRequests:
      effect.cost === undefined || perRequest <= 0
        ? undefined
        : Math.max(0, Math.ceil((effect.cost + cacheBreak) / perRequest)),
  };
}
