import type { Usage } from './types';

/** All input tokens of a call, cached or not: what fills the context window. */
export const promptTokens = (usage: Usage): number =>
  usage.accounting === 'openai'
    ? usage.inputTokens
    : usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens;

/** Input tokens that were neither read from nor written to the cache: what is paid at the plain price. */
export const uncachedInputTokens = (usage: Usage): number =>
  usage.accounting === 'anthropic'
    ? usage.inputTokens
    : Math.max(0, usage.inputTokens - usage.cacheReadTokens - usage.cacheWriteTokens);

/** A count of a vendor's JSON: whole, not negative; 0 for anything else. */
export const tokensIn = (value: unknown): number =>
  typeof value === 'number' && Number.isFinite(value) && value > 0 ? Math.round(value) : 0;
