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
/** How far a condensation goes, in percent of the window, where nothing else is set. */
export const DEFAULT_TARGET_PERCENT = 50;
/** Tokens kept free for the reply where the model names none. */
const DEFAULT_RESERVED_OUTPUT_TOKENS = 8192;
/** A profile's threshold that means: as the global one. */
export const INHERIT_THRESHOLD = -1;

/** A point in the context window. */
export type WindowPoint =
  { readonly kind: 'percent'; readonly percent: number } | { readonly kind: 'tokens'; readonly tokens: number };

export interface EffectiveThreshold {
  readonly percent: number;
  readonly source: 'profile' | 'global';
  /** Says which setting was wrong, where one was. */
  readonly warning?: string;
}

const isThreshold = (value: number): boolean => value >= MIN_CONDENSE_THRESHOLD && value <= MAX_CONDENSE_THRESHOLD;

/**
 * The threshold that holds for a profile: its own where it has a valid one, else the global one.
 * @param profileThresholds percent by profile id; -1 inherits.
 */
export function effectiveThreshold(
  profileId: string,
  globalThreshold: number,
  profileThresholds: Readonly<Record<string, number>>,
): EffectiveThreshold {
  const own = Object.hasOwn(profileThresholds, profileId) ? profileThresholds[profileId] : undefined;
  const global = { percent: globalThreshold, source: 'global' } as const;
  if (own === undefined || own === INHERIT_THRESHOLD) return global;
  if (isThreshold(own)) return { percent: own, source: 'profile' };
  const warning = `The threshold of profile "${profileId}" is ${own}; it is -1 (inherit) or ${MIN_CONDENSE_THRESHOLD} to ${MAX_CONDENSE_THRESHOLD} percent. The global ${globalThreshold} % is used.`;
  return { ...global, warning };
}

export interface TriggerInput {
  /** Tokens of the request without its last message. */
  readonly totalTokens: number;
  readonly lastMessageTokens: number;
  /** Tokens of the model's window. */
  readonly contextWindow: number;
  /** The model's own limit; {@link DEFAULT_RESERVED_OUTPUT_TOKENS} where it names none. */
  readonly maxOutputTokens?: number;
  readonly threshold: WindowPoint;
}

export interface TriggerDecision {
  readonly due: boolean;
  /** What made it due: the threshold was reached, or what the window allows was exceeded. */
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

export interface ReservedOutputInput {
  readonly contextWindow: number;
  readonly threshold: WindowPoint;
  /** The most that the model writes in one answer. */
  readonly maxOutputTokens?: number;
  /** What the user wants to be kept free. */
  readonly wanted?: number;
}

/**
 * Tokens that are kept free for the reply when it is decided what fits. That is less than the model may write (many write
 * half of their window): the limit that is sent with a request is what its prompt leaves free. Never so much that a request
 * would not fit before it has reached the threshold.
 */
export function reservedOutput({ contextWindow, threshold, maxOutputTokens, wanted }: ReservedOutputInput): number {
  const usual = Math.max(DEFAULT_RESERVED_OUTPUT_TOKENS, contextWindow * RESERVED_SHARE);
  const asked = wanted ?? Math.min(maxOutputTokens ?? DEFAULT_RESERVED_OUTPUT_TOKENS, usual);
  const behindThreshold = contextWindow * (1 - TOKEN_BUFFER_PERCENTAGE) - tokensAt(threshold, contextWindow);
  return Math.floor(Math.min(asked, behindThreshold > 0 ? behindThreshold : usual));
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
  const reached = threshold.kind === 'percent' ? percent >= threshold.percent : tokens >= threshold.tokens;
  if (reached) return { ...decision, due: true, reason: 'threshold' };
  return tokens > allowed ? { ...decision, due: true, reason: 'window' } : { ...decision, due: false };
}

/** Tokens at a point of the window. */
export const tokensAt = (point: WindowPoint, contextWindow: number): number =>
  point.kind === 'tokens' ? point.tokens : Math.floor((contextWindow * point.percent) / 100);
