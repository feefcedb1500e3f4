/**
 * `anthropic` excludes cached tokens from `inputTokens`, `openai` includes them. Sources: Anthropic
 * API guide, "Prompt caching" (tracking cache performance); OpenAI guide, "Prompt caching".
 */
export type UsageAccounting = 'anthropic' | 'openai';

export interface Usage {
  readonly accounting: UsageAccounting;
  /**
   * `counted`: we counted the tokens, because the vendor reported nothing or the stream ended
   * before its last report.
   */
  readonly source: 'reported' | 'counted';
  /** Whether cached tokens are included depends on `accounting`. */
  readonly inputTokens: number;
  /** Includes the tokens of reasoning. */
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
  /** Part of `cacheWriteTokens` that is cached for an hour, which costs more. */
  readonly longCacheWriteTokens?: number;
  /** Part of `outputTokens`. */
  readonly reasoningTokens?: number;
  /** The vendor's charge in US dollars (reported by OpenRouter). */
  readonly costUsd?: number;
}

/**
 * Larger numbers are errors: windows hold millions of tokens, and a vendor's tools read a prompt at
 * most a few dozen times per call.
 */
export const MAX_CALL_TOKENS = 1_000_000_000;
export const MAX_CALL_USD = 100_000;

/** @param calls number of calls that `usage` sums */
export const isPlausibleUsage = (usage: Usage, calls = 1): boolean =>
  Object.entries(usage).every(
    ([field, value]) =>
      typeof value !== 'number' ||
      (value >= 0 && value <= calls * (field === 'costUsd' ? MAX_CALL_USD : MAX_CALL_TOKENS)),
  );

/** Counts cached tokens, too, because they fill the window. */
export const countPromptTokens = (usage: Usage): number =>
  usage.accounting === 'openai'
    ? usage.inputTokens
    : usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens;

/**
 * No known tokenizer makes fewer tokens than this share of the o200k tokens. Gemma 3's makes 0.32
 * for Amharic.
 */
export const MIN_REPORTED_SHARE = 0.3;

/**
 * Ignores a usage that is implausible for the request.
 * @param minReadTokens minimum number of o200k tokens that the vendor has to read
 */
export function rejectImplausibleUsage(usage: Usage | undefined, minReadTokens = 0): Usage | undefined {
  if (!usage) return undefined;
  const promptTokens = countPromptTokens(usage);
  return promptTokens > 0 && promptTokens >= minReadTokens * MIN_REPORTED_SHARE ? usage : undefined;
}

export interface TokensByKind {
  readonly input: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly output: number;
}

export const sumTokensByKind = (usages: readonly Usage[]): TokensByKind =>
  sumTokens(
    usages.map((usage) => ({
      input: countUncachedInput(usage),
      cacheRead: usage.cacheReadTokens,
      cacheWrite: usage.cacheWriteTokens,
      output: usage.outputTokens,
    })),
  );

export const sumTokens = (tokens: readonly TokensByKind[]): TokensByKind =>
  tokens.reduce(
    (sum, { input, cacheRead, cacheWrite, output }) => ({
      input: sum.input + input,
      cacheRead: sum.cacheRead + cacheRead,
      cacheWrite: sum.cacheWrite + cacheWrite,
      output: sum.output + output,
    }),
    { input: 0, cacheRead: 0, cacheWrite: 0, output: 0 },
  );

export const countUncachedInput = (usage: Usage): number =>
  usage.accounting === 'anthropic'
    ? usage.inputTokens
    : Math.max(0, usage.inputTokens - usage.cacheReadTokens - usage.cacheWriteTokens);
