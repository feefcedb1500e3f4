import { getPercentTokens, thresholdTokens } from '../core/condense/trigger/thresholds';
import type { CacheState } from './cacheState';
import type { CondensationReason } from './events';
import type { UpstreamModel } from './request';

/** A request before its condensation. */
export interface DueInput {
  readonly model: UpstreamModel;
  /** The whole request, in the model's tokens. */
  readonly tokens: number;
  readonly isFitting: boolean;
  readonly cache: CacheState['state'];
  /** Percent of the window above which a cold cache is a reason to condense. */
  readonly coldPercent: number | undefined;
  /**
   * The last condensation freed too little and the next waits, or the user has paused condensing.
   */
  readonly isWaiting: boolean;
}

/** Why to condense now, if at all. A window of 0 is unknown: never due. */
export function findDueReason(input: DueInput): CondensationReason | undefined {
  const { model, tokens, isFitting, cache, coldPercent, isWaiting } = input;
  if (model.contextWindow <= 0) return undefined;
  if (!isFitting) return 'window';
  if (isWaiting) return undefined;
  if (tokens >= thresholdTokens(model.threshold, model.contextWindow)) return 'threshold';
  // The cache must be rewritten anyway, so that condensing breaks nothing.
  const isCold =
    coldPercent !== undefined && cache === 'cold' && tokens >= getPercentTokens(coldPercent, model.contextWindow);
  return isCold ? 'cold-cache' : undefined;
}

/** Share of the threshold at which a summary starts at the latest, so that it is ready in time. */
const PREPARE_SHARE = 0.8;

/** The model's tokens from which a summary is prepared in the background. */
export const getPreparingTokens = (backgroundPercent: number, { threshold, contextWindow }: UpstreamModel): number =>
  Math.min(
    getPercentTokens(backgroundPercent, contextWindow),
    thresholdTokens(threshold, contextWindow) * PREPARE_SHARE,
  );
