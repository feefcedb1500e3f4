import { getPriceForPrompt, getRate, type ModelPrices } from './prices';
import { countPromptTokens, countUncachedInput, type Usage } from './usage';

const TOKENS_PER_PRICE_UNIT = 1_000_000;

/** US dollars for each kind of token. */
export interface CostByTokenKind {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
}

export function computeCostByTokenKind(usage: Usage, prices: ModelPrices): CostByTokenKind {
  const promptTokens = countPromptTokens(usage);
  const getPrice = (kind: keyof ModelPrices): number =>
    getPriceForPrompt(getRate(prices, kind, usage.accounting === 'anthropic'), promptTokens) / TOKENS_PER_PRICE_UNIT;
  const longWriteTokens = Math.min(usage.cacheWriteTokens, usage.longCacheWriteTokens ?? 0);
  return {
    input: countUncachedInput(usage) * getPrice('input'),
    output: usage.outputTokens * getPrice('output'),
    cacheRead: usage.cacheReadTokens * getPrice('cacheRead'),
    cacheWrite:
      (usage.cacheWriteTokens - longWriteTokens) * getPrice('cacheWrite') +
      longWriteTokens * getPrice('longCacheWrite'),
  };
}

/**
 * In US dollars: the vendor's charge, or else the computed cost. Undefined, not 0, if no price is
 * known.
 */
export function computeCallCost(usage: Usage, prices: ModelPrices | undefined): number | undefined {
  return usage.costUsd ?? priceTokens(usage, prices);
}

/**
 * Returns US dollars. If the vendor reported a charge, adds the difference of the computed costs to
 * it.
 */
export function computeCostForOtherUsage(
  usage: Usage,
  otherUsage: Usage,
  prices: ModelPrices | undefined,
): number | undefined {
  const otherCost = priceTokens(otherUsage, prices);
  if (usage.costUsd === undefined) return otherCost;
  const computedCost = priceTokens(usage, prices);
  return otherCost === undefined || computedCost === undefined ? undefined : usage.costUsd + otherCost - computedCost;
}

function priceTokens(usage: Usage, prices: ModelPrices | undefined): number | undefined {
  if (!prices) return undefined;
  const { input, output, cacheRead, cacheWrite } = computeCostByTokenKind(usage, prices);
  return input + output + cacheRead + cacheWrite;
}

export const sumCosts = (costs: readonly (number | undefined)[]): number | undefined =>
  costs.reduce<number | undefined>(
    (sum, cost) => (sum === undefined || cost === undefined ? undefined : sum + cost),
    0,
  );
