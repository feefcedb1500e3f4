import { countPromptTokens, type Usage } from '../core/cost/usage';
import type { CacheLifespan } from '../core/vendors/caches';
import type { UpstreamModel } from './request';

/**
 * The largest prompt size from which any vendor caches; usage of shorter prompts proves nothing.
 */
export const MIN_CACHED_TOKENS = 4_096;

interface ObservedCacheRead {
  readonly tokens: number;
  /** Tokens of the whole prompt. */
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
  /** Milliseconds since the epoch. */
  readonly began: number;
  /**
   * `missed`: nothing was read although it should have been. `unused`: the vendor neither read nor
   * wrote.
   */
  readonly shows: 'reading' | 'missed' | 'unused' | 'nothing';
  readonly read?: ObservedCacheRead;
}

/** @param shouldRead true if the request was unchanged and within the cache's lifetime */
export function makeLastAnsweredRequest(
  began: number,
  usage: Usage | undefined,
  shouldRead: boolean,
): LastAnsweredRequest {
  if (usage?.source !== 'reported') return { began, shows: 'nothing' };
  const promptTokens = countPromptTokens(usage);
  const { accounting, cacheReadTokens: tokens, cacheWriteTokens } = usage;
  const read = { tokens, of: promptTokens };
  if (tokens > 0) return { began, shows: 'reading', read };
  if (promptTokens < MIN_CACHED_TOKENS) return { began, shows: 'nothing', read };
  // Only Anthropic's accounting reports writes.
  if (accounting === 'anthropic') return { began, shows: cacheWriteTokens > 0 ? 'nothing' : 'unused', read };
  return { began, shows: shouldRead ? 'missed' : 'nothing', read };
}

/**
 * @param resumed when a conversation with earlier answers arrived, in milliseconds since the epoch;
 * undefined if it began here
 */
export function inferCacheState(
  { key, cacheSpan: statedSpan }: UpstreamModel,
  span: CacheLifespan | undefined,
  lastByModel: ReadonlyMap<string, LastAnsweredRequest>,
  now: number,
  resumed?: number,
): CacheState {
  const last = lastByModel.get(key);
  if (last?.shows === 'unused') return { state: 'none', basis: 'answers' };
  if (!span && statedSpan === 'none' && last?.shows !== 'reading') return { state: 'none', basis: 'model' };
  if (!last) {
    const isReplaced = lastByModel.size > 0 && (resumed === undefined || now - resumed >= (span?.coldMs ?? Infinity));
    return span && isReplaced ? { state: 'cold', basis: 'other-model' } : { state: 'unknown', basis: 'not-answered' };
  }
  const ageMs = Math.max(0, now - last.began);
  if (!span) return { state: 'unknown', basis: 'span', ageMs, ...(last.read && { read: last.read }) };
  const vendor = statedSpan === 'none' ? undefined : statedSpan;
  const basis = (spanMs: number, word: number | undefined): 'vendor' | 'answers' =>
    spanMs === word ? 'vendor' : 'answers';
  if (ageMs < span.warmMs) {
    return last.shows === 'missed'
      ? { state: 'unknown', basis: 'missed', ageMs }
      : { state: 'warm', basis: basis(span.warmMs, vendor?.warmMs), ageMs, spanMs: span.warmMs };
  }
  if (ageMs >= span.coldMs) {
    return { state: 'cold', basis: basis(span.coldMs, vendor?.coldMs), ageMs, spanMs: span.coldMs };
  }
  return vendor
    ? { state: 'unknown', basis: 'between', ageMs, span }
    : { state: 'unknown', basis: 'span', ageMs, ...(last.read && { read: last.read }) };
}
