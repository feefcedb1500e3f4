/**
 * When to condense, and how far (FR-TH-001 to -003). Percentages are of the model's context window.
 */

/** Bounds of a threshold in percent. */
export const MIN_CONDENSE_THRESHOLD = 5;
export const MAX_CONDENSE_THRESHOLD = 100;
/** Share of the window that is never filled: counts are estimates. */
export const TOKEN_BUFFER_PERCENTAGE = 0.1;
/** Threshold in percent where nothing else is set. */
export const DEFAULT_THRESHOLD_PERCENT = 75;
/** How much of the threshold an automatic condensation leaves where nothing else is set, in percent: two thirds. */
export const DEFAULT_TARGET_PERCENT = 67;
/** Tokens kept free for the reply where the model names none. */
const DEFAULT_RESERVED_OUTPUT_TOKENS = 8192;
/** A profile's threshold that means: as the global one. */
export const INHERIT_THRESHOLD = -1;

/** When a conversation is due, and how far it is condensed then. All tokens are the model's. */
export interface Threshold {
  /** Of the model's context window. */
  readonly percent: number;
  /** Where they are less than the percentage of the window, they are the threshold. */
  readonly tokens?: number;
  /** How much of the threshold's tokens may remain; default {@link DEFAULT_TARGET_PERCENT}. */
  readonly targetPercent?: number;
}

/** Tokens at a percentage of the window. */
export const percentOf = (percent: number, contextWindow: number): number =>
  Math.floor((contextWindow * percent) / 100);

/** Tokens at which a conversation is due. */
export const thresholdTokens = ({ percent, tokens = Infinity }: Threshold, contextWindow: number): number =>
  Math.min(percentOf(percent, contextWindow), tokens);

/**
 * Tokens down to which an automatic condensation goes. It is a share of the threshold, so that each threshold has a target
 * below it.
 * @param dueTokens at which it was due, where that was below the threshold.
 */
export const targetTokens = (threshold: Threshold, contextWindow: number, dueTokens = Infinity): number =>
  percentOf(
    threshold.targetPercent ?? DEFAULT_TARGET_PERCENT,
    Math.min(thresholdTokens(threshold, contextWindow), dueTokens),
  );

/** Of what lies between threshold and target, the share that must go to be worth a prompt cache that is written anew. */
const WORTHWHILE_SHARE = 0.6;

/** Tokens that a condensation at the threshold must free. */
export const worthwhileTokens = (threshold: Threshold, contextWindow: number): number =>
  Math.floor((thresholdTokens(threshold, contextWindow) - targetTokens(threshold, contextWindow)) * WORTHWHILE_SHARE);

export interface TriggerInput {
  /** Tokens of the request without its last message. */
  readonly totalTokens: number;
  readonly lastMessageTokens: number;
  /** Tokens of the model's window. */
  readonly contextWindow: number;
  /** The model's own limit; {@link DEFAULT_RESERVED_OUTPUT_TOKENS} where it names none. */
  readonly maxOutputTokens?: number;
  readonly threshold: Threshold;
}

export interface TriggerDecision {
  readonly due: boolean;
  /** The cause: the threshold was reached, or the room in the window was exceeded. */
  readonly reason?: 'threshold' | 'window';
  readonly tokens: number;
  /** Share of the window in use. */
  readonly percent: number;
}

/** More than this share of a window is never kept free for the reply: what an answer may have is set when it is asked for. */
const MAX_RESERVED_SHARE = 0.4;

/** Tokens of a window that a request may fill: window × 0.9 less the reserved output. */
export const allowedTokens = (contextWindow: number, reservedOutput?: number): number =>
  contextWindow * (1 - TOKEN_BUFFER_PERCENTAGE) -
  Math.min(reservedOutput || DEFAULT_RESERVED_OUTPUT_TOKENS, contextWindow * MAX_RESERVED_SHARE);

/** Of a window so much is kept free for the reply where nobody asks for more, as far as the model can write it. */
const RESERVED_SHARE = 0.1;
/** Of the window so much is kept free for the reply, at most {@link DEFAULT_RESERVED_OUTPUT_TOKENS}, wherever the threshold is. */
const MIN_RESERVED_SHARE = 0.05;

export interface ReservedOutputInput {
  readonly contextWindow: number;
  readonly threshold: Threshold;
  /** The most that the model writes in one answer. */
  readonly maxOutputTokens?: number;
  /** The tokens that the user wants to be kept free. */
  readonly wanted?: number;
}

/**
 * Tokens that are kept free for the reply when it is decided what fits. That is less than the model may write (many write
 * half of their window): the limit that is sent with a request is what its prompt leaves free. As far as an answer still
 * has room, it is so little that a request fits until it has reached the threshold.
 */
export function reservedOutput({ contextWindow, threshold, maxOutputTokens, wanted }: ReservedOutputInput): number {
  const usual = Math.max(DEFAULT_RESERVED_OUTPUT_TOKENS, contextWindow * RESERVED_SHARE);
  const asked = wanted ?? Math.min(maxOutputTokens ?? DEFAULT_RESERVED_OUTPUT_TOKENS, usual);
  const least = Math.min(DEFAULT_RESERVED_OUTPUT_TOKENS, contextWindow * MIN_RESERVED_SHARE);
  const behindThreshold = contextWindow * (1 - TOKEN_BUFFER_PERCENTAGE) - thresholdTokens(threshold, contextWindow);
  return Math.floor(Math.min(asked, Math.max(behindThreshold, least)));
}

/** Where conversations with a model are condensed: tokens, and whether the threshold or what fits decides. */
export interface DuePoint {
  readonly tokens: number;
  readonly reason: 'threshold' | 'window';
}

/** The tokens at which a conversation is due: those of the threshold, or fewer where a request would no longer fit. */
export function duePoint(input: ReservedOutputInput): DuePoint {
  const { contextWindow, threshold } = input;
  const wanted = thresholdTokens(threshold, contextWindow);
  const allowed = Math.floor(allowedTokens(contextWindow, reservedOutput(input)));
  return wanted <= allowed ? { tokens: wanted, reason: 'threshold' } : { tokens: allowed, reason: 'window' };
}

/**
 * Whether to condense now: at the threshold, or where the request would not fit. A window of 0 is not known: never due.
 */
export function shouldCondense(input: TriggerInput): TriggerDecision {
  const { contextWindow, threshold } = input;
  const tokens = input.totalTokens + input.lastMessageTokens;
  const allowed = allowedTokens(contextWindow, input.maxOutputTokens);
  const percent = contextWindow > 0 ? (100 * tokens) / contextWindow : 0;
  const decision = { tokens, percent };
  if (contextWindow <= 0) return { ...decision, due: false };
  if (tokens >= thresholdTokens(threshold, contextWindow)) return { ...decision, due: true, reason: 'threshold' };
  return tokens > allowed ? { ...decision, due: true, reason: 'window' } : { ...decision, due: false };
}
