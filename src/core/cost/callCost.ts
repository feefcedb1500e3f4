import { priceAt, getRate, type ModelPrices } from './prices';
import { promptTokens, uncachedInputTokens, type Usage } from './usage';

const PER = 1_000_000;

/** The cost of a call, by its parts. US dollars. */
export interface CostParts {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
}

/** US dollars by kind of token, from the prices at the prompt's length (FR-CO-001, FR-CO-002). */
export function costParts(usage: Usage, prices: ModelPrices): CostParts {
  const length = promptTokens(usage);
  const price = (kind: keyof ModelPrices): number =>
    priceAt(getRate(prices, kind, usage.accounting === 'anthropic'), length) / PER;
  const long = Math.min(usage.cacheWriteTokens, usage.longCacheWriteTokens ?? 0);
  return {
    input: uncachedInputTokens(usage) * price('input'),
    output: usage.outputTokens * price('output'),
    cacheRead: usage.cacheReadTokens * price('cacheRead'),
    cacheWrite: (usage.cacheWriteTokens - long) * price('cacheWrite') + long * price('longCacheWrite'),
  };
}

/** US dollars that a call cost: what the vendor says, else by the prices. Undefined where no price is known, never 0. */
export function callCost(usage: Usage, prices: ModelPrices | undefined): number | undefined {
  return usage.costUsd ?? costByPrices(usage, prices);
}

/**
 * US dollars that a call would have cost with other tokens. What a vendor says it charged is of the tokens that there were: the others
 * cost so much more or less as they do by the prices.
 */
export function costWithTokens(usage: Usage, others: Usage, prices: ModelPrices | undefined): number | undefined {
  const would = costByPrices(others, prices);
  if (usage.costUsd === undefined) return would;
  const did = costByPrices(usage, prices);
  return would === undefined || did === undefined ? undefined : usage.costUsd + would - did;
}

function costByPrices(usage: Usage, prices: ModelPrices | undefined): number | undefined {
  if (!prices) return undefined;
  const { input, output, cacheRead, cacheWrite } = costParts(usage, prices);
  return input + output + cacheRead + cacheWrite;
}

/** The sum of costs; undefined as soon as one of them is not known. */
export const sumOfCosts = (costs: readonly (number | undefined)[]): number | undefined =>
  costs.reduce<number | undefined>(
    (sum, cost) => (sum === undefined || cost === undefined ? undefined : sum + cost),
    0,
  );
