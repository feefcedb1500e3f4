/**
 * `anthropic` excludes cached tokens from `inputTokens`, `openai` includes them. Sources: Anthropic
 * API guide, "Prompt caching" (tracking cache performance); OpenAI guide, "Prompt caching".
 */
export type UsageAccounting = 'anthropic' | 'openai';

/** Tokens of one call, as the vendor counts them. */
export interface Usage {
  readonly accounting: UsageAccounting;
  /**
   * `counted` by us if the vendor reported nothing, or the stream was cut off before its last
   * report.
   */
  readonly source: 'reported' | 'counted';
  /** Includes cached tokens depending on {@link Usage.accounting}. */
  readonly inputTokens: number;
  /** Includes reasoning. */
  readonly outputTokens: number;
  /** Input tokens read from the prompt cache. */
  readonly cacheReadTokens: number;
  /** Input tokens written to the prompt cache. */
  readonly cacheWriteTokens: number;
  /** Part of `cacheWriteTokens` written for an hour, which costs more. */
  readonly longCacheWriteTokens?: number;
  /** Part of `outputTokens`. */
  readonly reasoningTokens?: number;
  /** The vendor's charge in US dollars (reported by OpenRouter). */
  readonly costUsd?: number;
}

/**
 * More than any call has: windows have millions, and vendors' tools repeat a prompt a few dozen
 * times. Larger reported numbers are errors.
 */
export const MAX_CALL_TOKENS = 1_000_000_000;
/** US dollars: more than any call costs. */
export const MAX_CALL_USD = 100_000;

/**
 * Whether every number of a usage is one that a call can have.
 * @param calls of which the usage is the sum
 */
export const isSoundUsage = (usage: Usage, calls = 1): boolean =>
  Object.entries(usage).every(
    ([field, value]) =>
      typeof value !== 'number' ||
      (value >= 0 && value <= calls * (field === 'costUsd' ? MAX_CALL_USD : MAX_CALL_TOKENS)),
  );

/** All input tokens, cached or not, which fill the context window. */
export const countPromptTokens = (usage: Usage): number =>
  usage.accounting === 'openai'
    ? usage.inputTokens
    : usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens;

/**
 * Minimum plausible ratio between reported tokens and the o200k tokens of what was sent; no
 * tokenizer produces fewer.
 */
const MIN_READ_SHARE = 0.3;

/**
 * Returns the usage if it is plausible for the request; otherwise undefined, as if none had been reported.
 * @param mustRead minimum number of o200k tokens that the vendor has to read; absent if its report says nothing about
 * the request
 */
export function rejectImplausibleUsage(usage: Usage | undefined, mustRead = 0): Usage | undefined {
  if (!usage) return undefined;
  const read = countPromptTokens(usage);
  return read > 0 && read >= mustRead * MIN_READ_SHARE ? usage : undefined;
}

/** Tokens by kinds with different prices, independent of the vendor's accounting. */
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

/** Input tokens neither read from nor written to the cache, billed at the base price. */
export const countUncachedInput = (usage: Usage): number =>
  usage.accounting === 'anthropic'
    ? usage.inputTokens
    : Math.max(0, usage.inputTokens - usage.cacheReadTokens - usage.cacheWriteTokens);
