/** When to condense and how far, in percent of the model's context window. */

/** Bounds of a threshold in percent. */
export const MIN_CONDENSE_THRESHOLD = 5;
export const MAX_CONDENSE_THRESHOLD = 100;
/** Share of the window to keep empty, because counts are estimates. */
export const TOKEN_BUFFER_SHARE = 0.1;
export const DEFAULT_THRESHOLD_PERCENT = 75;
/** Default share of the threshold that an automatic condensation leaves, in percent: two thirds. */
export const DEFAULT_TARGET_PERCENT = 67;
/** Tokens reserved for the reply if the model states no limit. */
const DEFAULT_RESERVED_OUTPUT_TOKENS = 8192;
/** Value of a profile's threshold that means the global one. */
export const INHERIT_THRESHOLD = -1;

/** When a conversation is due and how far to condense it. In the model's tokens. */
export interface Threshold {
  /** Percentage of the model's context window. */
  readonly percent: number;
  /** The threshold, if this is less than the percentage. */
  readonly tokens?: number;
  /** Share of the threshold that may remain; default {@link DEFAULT_TARGET_PERCENT}. */
  readonly targetPercent?: number;
}

export const getPercentTokens = (percent: number, contextWindow: number): number =>
  Math.floor((contextWindow * percent) / 100);

/** Tokens at which a conversation is due. */
export const computeThresholdTokens = ({ percent, tokens = Infinity }: Threshold, contextWindow: number): number =>
  Math.min(getPercentTokens(percent, contextWindow), tokens);

/**
 * Size in tokens after an automatic condensation. A share of the threshold, so that it is always
 * below it.
 * @param dueTokens where the conversation was due, if below the threshold
 */
export const computeTargetTokens = (threshold: Threshold, contextWindow: number, dueTokens = Infinity): number =>
  getPercentTokens(
    threshold.targetPercent ?? DEFAULT_TARGET_PERCENT,
    Math.min(computeThresholdTokens(threshold, contextWindow), dueTokens),
  );

/**
 * Share of the tokens between threshold and target that must go to be worth writing the prompt
 * cache again.
 */
const WORTHWHILE_THRESHOLD_SHARE = 0.6;

/** Tokens that a condensation at the threshold must free. */
export const computeWorthwhileTokens = (threshold: Threshold, contextWindow: number): number =>
  Math.floor(
    (computeThresholdTokens(threshold, contextWindow) - computeTargetTokens(threshold, contextWindow)) *
      WORTHWHILE_THRESHOLD_SHARE,
  );

/** Upper bound of the share reserved for the reply; the actual limit is set with each request. */
const MAX_RESERVED_WINDOW_SHARE = 0.4;

/** Tokens that a request may fill: window × 0.9 less the reserved output. */
export const computeAllowedTokens = (contextWindow: number, reservedOutput?: number): number =>
  contextWindow * (1 - TOKEN_BUFFER_SHARE) -
  Math.min(reservedOutput || DEFAULT_RESERVED_OUTPUT_TOKENS, contextWindow * MAX_RESERVED_WINDOW_SHARE);

/** Default share reserved for the reply, up to the model's output limit. */
const RESERVED_WINDOW_SHARE = 0.1;
/**
 * Minimum share reserved for the reply whatever the threshold, up to {@link
 * DEFAULT_RESERVED_OUTPUT_TOKENS}.
 */
const MIN_RESERVED_WINDOW_SHARE = 0.05;

export interface ReservedOutputInput {
  readonly contextWindow: number;
  readonly threshold: Threshold;
  /** The model's output limit. */
  readonly maxOutputTokens?: number;
  /** Tokens that the user wants to reserve. */
  readonly wanted?: number;
}

/**
 * Tokens to reserve for the reply when deciding what fits. Less than the model's limit, which often
 * is half the window: each request gets the output limit that its prompt leaves. If possible, it is
 * small enough for requests to fit until they reach the threshold.
 */
export function getReservedOutput({ contextWindow, threshold, maxOutputTokens, wanted }: ReservedOutputInput): number {
  const usual = Math.max(DEFAULT_RESERVED_OUTPUT_TOKENS, contextWindow * RESERVED_WINDOW_SHARE);
  const asked = wanted ?? Math.min(maxOutputTokens ?? DEFAULT_RESERVED_OUTPUT_TOKENS, usual);
  const least = Math.min(DEFAULT_RESERVED_OUTPUT_TOKENS, contextWindow * MIN_RESERVED_WINDOW_SHARE);
  const behindThreshold = contextWindow * (1 - TOKEN_BUFFER_SHARE) - computeThresholdTokens(threshold, contextWindow);
  return Math.floor(Math.min(asked, Math.max(behindThreshold, least)));
}

/** When a model's conversations are condensed, and whether the threshold or the window decides. */
export interface DuePoint {
  readonly tokens: number;
  readonly reason: 'threshold' | 'window';
}

/** The threshold, or less if a request would no longer fit. */
export function computeDuePoint(input: ReservedOutputInput): DuePoint {
  const { contextWindow, threshold } = input;
  const wanted = computeThresholdTokens(threshold, contextWindow);
  const allowed = Math.floor(computeAllowedTokens(contextWindow, getReservedOutput(input)));
  return wanted <= allowed ? { tokens: wanted, reason: 'threshold' } : { tokens: allowed, reason: 'window' };
}
