/** Tokens of a call as the vendors count them, and what follows from the way they count. */

/**
 * How a vendor counts input tokens: `anthropic` leaves cached tokens out of `inputTokens`, `openai` includes them.
 * Sources: Anthropic API guide, "Prompt caching" (tracking cache performance); OpenAI guide, "Prompt caching".
 */
export type UsageAccounting = 'anthropic' | 'openai';

/** Tokens of one call, as the vendor counts them. */
export interface Usage {
  readonly accounting: UsageAccounting;
  /** `reported` by the vendor, or `counted` here because it reported nothing (or was cut off before its last report). */
  readonly source: 'reported' | 'counted';
  /** Input tokens; whether cached ones are among them says {@link Usage.accounting}. */
  readonly inputTokens: number;
  /** Output tokens, reasoning among them. */
  readonly outputTokens: number;
  /** Input tokens read from the prompt cache. */
  readonly cacheReadTokens: number;
  /** Input tokens written to the prompt cache. */
  readonly cacheWriteTokens: number;
  /** Those of `cacheWriteTokens` that were written for an hour, which cost more. */
  readonly longCacheWriteTokens?: number;
  /** Those of `outputTokens` that were reasoning. */
  readonly reasoningTokens?: number;
  /** The vendor's own charge, in US dollars (OpenRouter reports it). */
  readonly costUsd?: number;
}

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
