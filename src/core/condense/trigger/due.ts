import { computePercentOfWindow, computeThresholdTokens, type CondensationThreshold } from './thresholds';

export interface DueCheckInput {
  /** Input and output together, in the model's tokens; 0 if unknown. */
  readonly contextWindow: number;
  readonly threshold: CondensationThreshold;
  /** The whole request, in the model's tokens. */
  readonly tokens: number;
  /** Whether the window leaves enough room for the reply. */
  readonly isFitting: boolean;
  /** Whether the vendor's prompt cache has expired. */
  readonly isCold?: boolean;
  /** Percent of the window from which an expired cache is a reason to condense; absent: never. */
  readonly coldPercent?: number | undefined;
  /**
   * True if the last condensation freed too little or was undone, or if the user has paused
   * condensing.
   */
  readonly isWaiting?: boolean;
}

export type ReasonToCondense = 'window' | 'threshold' | 'cold-cache';

/** Returns undefined for a window of 0, which is unknown. */
export function findReasonToCondense(input: DueCheckInput): ReasonToCondense | undefined {
  const { contextWindow, threshold, tokens, isFitting, isCold, coldPercent, isWaiting } = input;
  if (contextWindow <= 0) return undefined;
  if (!isFitting) return 'window';
  if (isWaiting) return undefined;
  if (tokens >= computeThresholdTokens(threshold, contextWindow)) return 'threshold';
  // The cache must be written again anyway, so condensing breaks nothing.
  return isCold && coldPercent !== undefined && tokens >= computePercentOfWindow(coldPercent, contextWindow)
    ? 'cold-cache'
    : undefined;
}

/** A summary starts at the latest at this share of the threshold, so that it is ready in time. */
const PREPARATION_THRESHOLD_SHARE = 0.8;

/** Returns the model's tokens from which a summary is prepared in the background. */
export const computePreparationTokens = (
  backgroundPercent: number,
  { threshold, contextWindow }: Pick<DueCheckInput, 'threshold' | 'contextWindow'>,
): number =>
  Math.min(
    computePercentOfWindow(backgroundPercent, contextWindow),
    computeThresholdTokens(threshold, contextWindow) * PREPARATION_THRESHOLD_SHARE,
  );
