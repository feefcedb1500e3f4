import { thresholdPoint } from '../core/condense/trigger/automatic';
import { tokensAt } from '../core/condense/trigger/thresholds';
import type { CondensationReason } from './events';
import type { UpstreamModel } from './request';

/** Milliseconds that a vendor keeps a prompt. Source: Anthropic API guide, "Prompt caching". */
const LIFETIME_MS = { none: 0, '5m': 5 * 60_000, '1h': 60 * 60_000 } as const;

/** What is known of the vendor's cache. `unused`: prompts are not marked for it, or the model hasn't answered yet. */
export type CacheState = 'warm' | 'cold' | 'unused';

/** @param lastAnswered milliseconds since the epoch; undefined before the first answer of this host. */
export function cacheState(
  { cacheLifetime = 'none' }: UpstreamModel,
  lastAnswered: number | undefined,
  now: number,
): CacheState {
  if (cacheLifetime === 'none' || lastAnswered === undefined) return 'unused';
  return now - lastAnswered < LIFETIME_MS[cacheLifetime] ? 'warm' : 'cold';
}

/** A request as it stands before its condensation. */
export interface DueInput {
  readonly model: UpstreamModel;
  /** All that is sent, in the model's tokens. */
  readonly tokens: number;
  readonly isFitting: boolean;
  readonly cache: CacheState;
  /** Percent of the window from which a cold cache is reason enough. */
  readonly coldPercent: number | undefined;
  /** The last condensation freed too little and the next waits. */
  readonly coolsDown: boolean;
}

/** The model's tokens at which a conversation is due. */
export const thresholdTokens = ({ threshold, contextWindow }: UpstreamModel): number =>
  tokensAt(thresholdPoint(threshold), contextWindow);

/** Why to condense now; undefined where that isn't due. A window of 0 is not known: never due. */
export function dueReason(input: DueInput): CondensationReason | undefined {
  const { model, tokens, isFitting, cache, coldPercent, coolsDown } = input;
  if (model.contextWindow <= 0) return undefined;
  if (!isFitting) return 'window';
  if (coolsDown) return undefined;
  if (tokens >= thresholdTokens(model)) return 'threshold';
  // The cache is written anew anyway, so that a condensation breaks nothing.
  const isCold = coldPercent !== undefined && cache === 'cold' && tokens >= tokensFrom(coldPercent, model);
  return isCold ? 'cold-cache' : undefined;
}

/** The model's tokens at a percentage of its window. */
export const tokensFrom = (percent: number, { contextWindow }: UpstreamModel): number =>
  tokensAt({ kind: 'percent', percent }, contextWindow);
