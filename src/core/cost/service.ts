import type { ModelPrices, TieredRate } from './prices';

/** How the vendor served an answer. An absent field means standard service. */
export interface ServiceConditions {
  /** `fast` is Anthropic's fast mode. */
  readonly speed?: string;
  /** The vendor's term: `batch`, `flex`, `priority`, … */
  readonly tier?: string;
  /** `us`: only in the United States (Anthropic's `inference_geo`). */
  readonly region?: string;
  /** Searches by the vendor's tool, which are billed separately. */
  readonly webSearches?: number;
}

interface ServiceSurcharge {
  readonly models: RegExp;
  readonly field: 'speed' | 'tier' | 'region';
  readonly value: string;
  /** Factor for the prices of all tokens; the factors for the cache apply in addition. */
  readonly factor: number;
}

/**
 * Multiples of the plain price. Services without a row have no known price. Looked up on 29
 * November 2026.
 * - Fast mode: platform.claude.com/docs/en/build-with-claude/fast-mode (without Fable); Claude Code
 * 2.1.332 has the same figures.
 * - US-only inference: platform.claude.com/docs/en/about-claude/pricing ("Data residency pricing").
 * - Batch: the same page ("Batch processing"), and developers.openai.com/api/docs/pricing.
 * - OpenAI's priority and flex processing: openai.com/api-priority-processing,
 * developers.openai.com/api/docs/pricing.
 */
const SERVICE_SURCHARGES: readonly ServiceSurcharge[] = [
  { models: /claude-opus-4-[67]/, field: 'speed', value: 'fast', factor: 6 },
  { models: /claude-opus-(?:4-8|5(?!\d))/, field: 'speed', value: 'fast', factor: 2 },
  {
    models: /claude-(?:opus-4-[6-9]|sonnet-4-[6-9]|(?:opus|sonnet|haiku|fable|mythos)-[5-9])/,
    field: 'region',
    value: 'us',
    factor: 1.1,
  },
  { models: /claude|gpt|^o\d/, field: 'tier', value: 'batch', factor: 0.5 },
  { models: /gpt-5\.5/, field: 'tier', value: 'priority', factor: 2.5 },
  { models: /gpt-(?:5(?:\.[1-4])?(?![.\d])|5\.6|6)/, field: 'tier', value: 'priority', factor: 2 },
  { models: /gpt-(?:5|6)/, field: 'tier', value: 'flex', factor: 0.5 },
];

const SERVICE_VALUES_WITHOUT_SURCHARGE = {
  speed: /^(?:standard)?$/,
  tier: /^(?:standard|default|auto)?$/,
  region: /^(?:global|not_available)?$/,
} as const;

/**
 * US dollars per search by the vendor's tool: $10 for 1,000 (Anthropic's and OpenAI's pricing
 * pages).
 */
const WEB_SEARCH_DOLLARS = 0.01;

export const computeWebSearchCost = ({ webSearches = 0 }: ServiceConditions): number =>
  webSearches * WEB_SEARCH_DOLLARS;

export function applyServiceSurcharge(
  prices: ModelPrices | undefined,
  model: string,
  service: ServiceConditions,
): ModelPrices | undefined {
  const factor = findServiceFactor(model, service);
  if (!prices || factor === undefined) return undefined;
  return factor === 1 ? prices : scalePrices(prices, factor);
}

function findServiceFactor(model: string, service: ServiceConditions): number | undefined {
  let factor = 1;
  for (const field of ['speed', 'tier', 'region'] as const) {
    const value = service[field];
    if (value === undefined || SERVICE_VALUES_WITHOUT_SURCHARGE[field].test(value)) continue;
    const row = SERVICE_SURCHARGES.find(
      (each) => each.field === field && each.value === value && each.models.test(model),
    );
    if (!row) return undefined;
    factor *= row.factor;
  }
  return factor;
}

function scalePrices(
  { input, output, cacheRead, cacheWrite, longCacheWrite }: ModelPrices,
  factor: number,
): ModelPrices {
  const multiplyRate = ({ base, tiers }: TieredRate): TieredRate => ({
    base: base * factor,
    ...(tiers && { tiers: tiers.map(({ aboveTokens, price }) => ({ aboveTokens, price: price * factor })) }),
  });
  return {
    input: multiplyRate(input),
    output: multiplyRate(output),
    ...(cacheRead && { cacheRead: multiplyRate(cacheRead) }),
    ...(cacheWrite && { cacheWrite: multiplyRate(cacheWrite) }),
    ...(longCacheWrite && { longCacheWrite: multiplyRate(longCacheWrite) }),
  };
}
