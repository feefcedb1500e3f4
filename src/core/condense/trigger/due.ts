/** Decides whether a conversation is due. */
import { getPercentTokens, computeThresholdTokens, type Threshold } from './thresholds';

/** A request before its condensation. */
export interface DueInput {
  /** Input and output together, in the model's tokens; 0 if unknown. */
  readonly contextWindow: number;
  readonly threshold: Threshold;
  /** The whole request, in the model's tokens. */
  readonly tokens: number;
  /** Whether the window leaves enough room for the reply. */
  readonly isFitting: boolean;
  /** True if the vendor's prompt cache has expired. Default false. */
  readonly isCold?: boolean;
  /** Percent of the window from which an expired cache is a reason to condense; absent: never. */
  readonly coldPercent?: number | undefined;
  /**
   * The last condensation freed too little or was undone and the next waits, or the user has paused
   * condensing. Default false.
   */
  readonly isWaiting?: boolean;
}

export type DueReason = 'window' | 'threshold' | 'cold-cache';

/** Why to condense now, if at all. A window of 0 is unknown: never due. */
export function findDueReason(input: DueInput): DueReason | undefined {
  const { contextWindow, threshold, tokens, isFitting, isCold, coldPercent, isWaiting } = input;
  if (contextWindow <= 0) return undefined;
  if (!isFitting) return 'window';
  if (isWaiting) return undefined;
  if (tokens >= computeThresholdTokens(threshold, contextWindow)) return 'threshold';
  // The cache must be rewritten anyway, so that condensing breaks nothing.
  return isCold && coldPercent !== undefined && tokens >= getPercentTokens(coldPercent, contextWindow)
    ? 'cold-cache'
    : undefined;
}

/** Share of the threshold at which a summary starts at the latest, so that it is ready in time. */
const PREPARE_SHARE = 0.8;

/** The model's tokens from which a summary is prepared in the background. */
export const getPreparingTokens = (
  backgroundPercent: number,
  { threshold, contextWindow }: Pick<DueInput, 'threshold' | 'contextWindow'>,
): number =>
  Math.min(
    getPercentTokens(backgroundPercent, contextWindow),
    computeThresholdTokens(threshold, contextWindow) * PREPARE_SHARE,
  );
