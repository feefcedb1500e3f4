/** In percent of the model's context window. */
export const MIN_CONDENSE_THRESHOLD = 5;
export const MAX_CONDENSE_THRESHOLD = 100;
/** Share of the window to keep empty, because counts are estimates. */
export const TOKEN_BUFFER_SHARE = 0.1;
export const DEFAULT_THRESHOLD_PERCENT = 75;
/** Percent of the threshold that may remain after an automatic condensation. */
export const DEFAULT_TARGET_PERCENT = 67;
/** Used if the model states no limit. */
const DEFAULT_RESERVED_OUTPUT_TOKENS = 8192;
/** A profile's value for "use the global threshold". */
export const INHERIT_THRESHOLD = -1;

/** In the model's tokens. */
export interface CondensationThreshold {
  /** Percentage of the model's context window. */
  readonly percent: number;
  /** Replaces the percentage if it is less. */
  readonly tokens?: number;
  /** Share of the threshold that may remain; default {@link DEFAULT_TARGET_PERCENT}. */
  readonly targetPercent?: number;
}

export const computePercentOfWindow = (percent: number, contextWindow: number): number =>
  Math.floor((contextWindow * percent) / 100);

export const computeThresholdTokens = (
  { percent, tokens = Infinity }: CondensationThreshold,
  contextWindow: number,
): number => Math.min(computePercentOfWindow(percent, contextWindow), tokens);

/**
 * The target is a share of the threshold, so that it is always lower.
 * @param dueTokens tokens at which the conversation became due, if fewer than the threshold
 */
export const computeTargetTokens = (
  threshold: CondensationThreshold,
  contextWindow: number,
  dueTokens = Infinity,
): number =>
  computePercentOfWindow(
    threshold.targetPercent ?? DEFAULT_TARGET_PERCENT,
    Math.min(computeThresholdTokens(threshold, contextWindow), dueTokens),
  );

/**
 * A condensation must remove this share of the tokens between threshold and target to be worth
 * writing the prompt cache again.
 */
const WORTHWHILE_THRESHOLD_SHARE = 0.6;

/** Tokens that a condensation at the threshold must free. */
export const computeWorthwhileTokens = (threshold: CondensationThreshold, contextWindow: number): number =>
  Math.floor(
    (computeThresholdTokens(threshold, contextWindow) - computeTargetTokens(threshold, contextWindow)) *
      WORTHWHILE_THRESHOLD_SHARE,
  );

/** Upper bound of the share reserved for the reply; each request sets the actual limit. */
const MAX_RESERVED_WINDOW_SHARE = 0.4;

/** Returns window × 0.9 less the reserved output. */
export const computeMaxPromptTokens = (contextWindow: number, reservedOutput?: number): number =>
  contextWindow * (1 - TOKEN_BUFFER_SHARE) -
  Math.min(reservedOutput || DEFAULT_RESERVED_OUTPUT_TOKENS, contextWindow * MAX_RESERVED_WINDOW_SHARE);

/** Usual share reserved for the reply. */
const RESERVED_WINDOW_SHARE = 0.1;
/**
 * Minimum share of the window to reserve for the reply, but at most {@link
 * DEFAULT_RESERVED_OUTPUT_TOKENS}.
 */
const MIN_RESERVED_WINDOW_SHARE = 0.05;

export interface ReservedOutputInput {
  readonly contextWindow: number;
  readonly threshold: CondensationThreshold;
  readonly maxOutputTokens?: number;
  readonly wanted?: number;
}

/**
 * Reserves less than the model's limit, which often is half the window, so that requests fit until
 * they reach the threshold.
 */
export function computeReservedOutput({
  contextWindow,
  threshold,
  maxOutputTokens,
  wanted: wantedTokens,
}: ReservedOutputInput): number {
  const usualTokens = Math.max(DEFAULT_RESERVED_OUTPUT_TOKENS, contextWindow * RESERVED_WINDOW_SHARE);
  const requestedTokens = wantedTokens ?? Math.min(maxOutputTokens ?? DEFAULT_RESERVED_OUTPUT_TOKENS, usualTokens);
  const minimumTokens = Math.min(DEFAULT_RESERVED_OUTPUT_TOKENS, contextWindow * MIN_RESERVED_WINDOW_SHARE);
  const tokensAboveThreshold =
    contextWindow * (1 - TOKEN_BUFFER_SHARE) - computeThresholdTokens(threshold, contextWindow);
  return Math.floor(Math.min(requestedTokens, Math.max(tokensAboveThreshold, minimumTokens)));
}

export interface DueTokensAndReason {
  readonly tokens: number;
  readonly reason: 'threshold' | 'window';
}

/** Returns the threshold, or less if a request would no longer fit. */
export function computeDueTokens(input: ReservedOutputInput): DueTokensAndReason {
  const { contextWindow, threshold } = input;
  const wantedTokens = computeThresholdTokens(threshold, contextWindow);
  const maxPromptTokens = Math.floor(computeMaxPromptTokens(contextWindow, computeReservedOutput(input)));
  return wantedTokens <= maxPromptTokens
    ? { tokens: wantedTokens, reason: 'threshold' }
    : { tokens: maxPromptTokens, reason: 'window' };
}
