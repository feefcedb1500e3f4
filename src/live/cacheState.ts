import { countPromptTokens, type Usage } from '../core/cost/usage';
import type { CacheLifespan } from '../core/vendors/caches';
import type { UpstreamModel } from './request';

/**
 * Every vendor caches prompts of at least this many tokens; usage of shorter prompts proves
 * nothing.
 */
export const MIN_CACHED_TOKENS = 4_096;

interface ObservedCacheRead {
  readonly tokens: number;
  /** Tokens of the whole prompt, of which `tokens` were read from the cache. */
  readonly of: number;
}

/**
 * `basis` is the evidence: the vendor's lifetime, reported usage (`answers`), or why the state is
 * unknown. Times are milliseconds since the last request began.
 */
export type CacheState =
  | { readonly state: 'warm'; readonly basis: 'vendor' | 'answers'; readonly ageMs: number; readonly spanMs: number }
  | { readonly state: 'cold'; readonly basis: 'vendor' | 'answers'; readonly ageMs: number; readonly spanMs: number }
  | { readonly state: 'cold'; readonly basis: 'other-model' }
  | { readonly state: 'none'; readonly basis: 'model' | 'answers' }
  | { readonly state: 'unknown'; readonly basis: 'not-answered' }
  | { readonly state: 'unknown'; readonly basis: 'span'; readonly ageMs: number; readonly read?: ObservedCacheRead }
  | { readonly state: 'unknown'; readonly basis: 'between'; readonly ageMs: number; readonly span: CacheLifespan }
  | { readonly state: 'unknown'; readonly basis: 'missed'; readonly ageMs: number };

export interface LastAnsweredRequest {
  /** When the request began, in milliseconds since the epoch. */
  readonly began: number;
  /**
   * What the answer shows about the cache. `missed`: nothing was read, although something should
   * have been. `unused`: the vendor neither read nor wrote it.
   */
  readonly shows: 'reading' | 'missed' | 'unused' | 'nothing';
  readonly read?: ObservedCacheRead;
}

/** @param shouldRead false if the conversation was condensed or the cache had expired */
export function makeLastAnsweredRequest(
  beganMs: number,
  usage: Usage | undefined,
  shouldRead: boolean,
): LastAnsweredRequest {
  if (usage?.source !== 'reported') return { began: beganMs, shows: 'nothing' };
  const promptTokens = countPromptTokens(usage);
  const { accounting, cacheReadTokens: tokens, cacheWriteTokens } = usage;
  const observedRead = { tokens, of: promptTokens };
  if (tokens > 0) return { began: beganMs, shows: 'reading', read: observedRead };
  if (promptTokens < MIN_CACHED_TOKENS) return { began: beganMs, shows: 'nothing', read: observedRead };
  // Only Anthropic's accounting reports writes.
  if (accounting === 'anthropic')
    return { began: beganMs, shows: cacheWriteTokens > 0 ? 'nothing' : 'unused', read: observedRead };
  return { began: beganMs, shows: shouldRead ? 'missed' : 'nothing', read: observedRead };
}

/**
 * @param resumedMs when a conversation with earlier answers arrived, in milliseconds since the epoch;
 * undefined if it began here
 */
export function inferCacheState(
  { key, cacheSpan: statedSpan }: UpstreamModel,
  lifespan: CacheLifespan | undefined,
  lastByModel: ReadonlyMap<string, LastAnsweredRequest>,
  nowMs: number,
  resumedMs?: number,
): CacheState {
  const lastRequest = lastByModel.get(key);
  if (lastRequest?.shows === 'unused') return { state: 'none', basis: 'answers' };
  if (!lifespan && statedSpan === 'none' && lastRequest?.shows !== 'reading') return { state: 'none', basis: 'model' };
  if (!lastRequest) {
    const isReplaced =
      lastByModel.size > 0 && (resumedMs === undefined || nowMs - resumedMs >= (lifespan?.coldMs ?? Infinity));
    return lifespan && isReplaced
      ? { state: 'cold', basis: 'other-model' }
      : { state: 'unknown', basis: 'not-answered' };
  }
  const ageMs = Math.max(0, nowMs - lastRequest.began);
  if (!lifespan) return { state: 'unknown', basis: 'span', ageMs, ...(lastRequest.read && { read: lastRequest.read }) };
  const statedLifespan = statedSpan === 'none' ? undefined : statedSpan;
  const getBasis = (spanMs: number, statedMs: number | undefined): 'vendor' | 'answers' =>
    spanMs === statedMs ? 'vendor' : 'answers';
  if (ageMs < lifespan.warmMs) {
    return lastRequest.shows === 'missed'
      ? { state: 'unknown', basis: 'missed', ageMs }
      : { state: 'warm', basis: getBasis(lifespan.warmMs, statedLifespan?.warmMs), ageMs, spanMs: lifespan.warmMs };
  }
  if (ageMs >= lifespan.coldMs) {
    return { state: 'cold', basis: getBasis(lifespan.coldMs, statedLifespan?.coldMs), ageMs, spanMs: lifespan.coldMs };
  }
  return statedLifespan
    ? { state: 'unknown', basis: 'between', ageMs, span: lifespan }
    : { state: 'unknown', basis: 'span', ageMs, ...(lastRequest.read && { read: lastRequest.read }) };
}
