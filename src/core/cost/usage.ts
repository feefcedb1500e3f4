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

/**
 * More tokens than one call can have: windows hold millions, and a vendor's own tools repeat a prompt a few dozen times.
 * A larger number in a report is an error of whoever wrote it.
 */
export const MAX_CALL_TOKENS = 1_000_000_000;
/** US dollars: more than one call can cost. */
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

/** All input tokens of a call, cached or not: what fills the context window. */
export const promptTokens = (usage: Usage): number =>
  usage.accounting === 'openai'
    ? usage.inputTokens
    : usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens;

/**
 * Of the o200k tokens that a vendor must read, the share below which its report is wrong: no tokenizer makes so few of a text, and what
 * is counted here for the frames of short messages and calls is less than the rest.
 */
const LEAST_READ_SHARE = 0.3;

/**
 * A usage that fits what was sent; undefined where it does not, as if none had been reported.
 * @param mustRead o200k tokens that the vendor has to read at the least; absent where its report says nothing of the request.
 */
export function plausibleUsage(usage: Usage | undefined, mustRead = 0): Usage | undefined {
  if (!usage) return undefined;
  const read = promptTokens(usage);
  return read > 0 && read >= mustRead * LEAST_READ_SHARE ? usage : undefined;
}

/** Tokens of calls by the kinds that have prices of their own, whichever way the vendor counts. */
export interface TokensByKind {
  readonly input: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly output: number;
}

/** The tokens of several calls, by kind. */
export const tokensByKind = (usages: readonly Usage[]): TokensByKind =>
  sumOfTokens(
    usages.map((usage) => ({
      input: uncachedInputTokens(usage),
      cacheRead: usage.cacheReadTokens,
      cacheWrite: usage.cacheWriteTokens,
      output: usage.outputTokens,
    })),
  );

export const sumOfTokens = (tokens: readonly TokensByKind[]): TokensByKind =>
  tokens.reduce(
    (sum, { input, cacheRead, cacheWrite, output }) => ({
      input: sum.input + input,
      cacheRead: sum.cacheRead + cacheRead,
      cacheWrite: sum.cacheWrite + cacheWrite,
      output: sum.output + output,
    }),
    { input: 0, cacheRead: 0, cacheWrite: 0, output: 0 },
  );

/** Input tokens that were neither read from nor written to the cache: what is paid at the plain price. */
export const uncachedInputTokens = (usage: Usage): number =>
  usage.accounting === 'anthropic'
    ? usage.inputTokens
    : Math.max(0, usage.inputTokens - usage.cacheReadTokens - usage.cacheWriteTokens);
