/** What is known of a vendor's prompt cache before a request, and what that rests on. */
import { promptTokens, type Usage } from '../core/cost/usage';
import type { CacheSpan } from '../core/vendors/caches';
import type { UpstreamModel } from './request';

/** The longest of the vendors' shortest cached prompts: what a shorter one's usage says of a cache proves nothing. */
export const MIN_CACHED_TOKENS = 4_096;

/** Tokens of the last answered prompt that the vendor reported as read from its cache. */
interface CacheRead {
  readonly tokens: number;
  readonly of: number;
}

/**
 * Whether the vendor's cache holds what was sent last. `basis` says what that rests on: the time that the vendor names, usages that it
 * reported (`answers`), or why nothing can be said. Times in milliseconds since the last request began.
 */
export type CacheState =
  | { readonly state: 'warm'; readonly basis: 'vendor' | 'answers'; readonly ageMs: number; readonly spanMs: number }
  | { readonly state: 'cold'; readonly basis: 'vendor' | 'answers'; readonly ageMs: number; readonly spanMs: number }
  | { readonly state: 'cold'; readonly basis: 'other-model' }
  | { readonly state: 'none'; readonly basis: 'model' | 'answers' }
  | { readonly state: 'unknown'; readonly basis: 'not-answered' }
  | { readonly state: 'unknown'; readonly basis: 'span'; readonly ageMs: number; readonly read?: CacheRead }
  | { readonly state: 'unknown'; readonly basis: 'between'; readonly ageMs: number; readonly span: CacheSpan }
  | { readonly state: 'unknown'; readonly basis: 'missed'; readonly ageMs: number };

/** The last answered request of a conversation to a model. */
export interface AnsweredLast {
  /** Milliseconds since the epoch. */
  readonly began: number;
  /** What its usage shows of the cache. `missed`: read nothing, though it should have. `unused`: neither read nor written. */
  readonly shows: 'reading' | 'missed' | 'unused' | 'nothing';
  readonly read?: CacheRead;
}

/** @param shouldRead whether the request went out unchanged within the time in which the cache is warm */
export function answeredLast(began: number, usage: Usage | undefined, shouldRead: boolean): AnsweredLast {
  if (usage?.source !== 'reported') return { began, shows: 'nothing' };
  const of = promptTokens(usage);
  const { accounting, cacheReadTokens: tokens, cacheWriteTokens } = usage;
  const read = { tokens, of };
  if (tokens > 0) return { began, shows: 'reading', read };
  if (of < MIN_CACHED_TOKENS) return { began, shows: 'nothing', read };
  // Whoever counts as Anthropic does reports what was written; the others do not.
  if (accounting === 'anthropic') return { began, shows: cacheWriteTokens > 0 ? 'nothing' : 'unused', read };
  return { began, shows: shouldRead ? 'missed' : 'nothing', read };
}

/**
 * @param span as far as the vendor named it or answers have shown it
 * @param answered the last answered request, by the model's key. A model that another one has replaced in the conversation has nothing
 * of it in its cache.
 * @param resumed when the conversation came here with answers that others had, in milliseconds since the epoch: any model may have given
 * them. Undefined: it began here.
 */
export function cacheState(
  { key, cacheSpan: named }: UpstreamModel,
  span: CacheSpan | undefined,
  answered: ReadonlyMap<string, AnsweredLast>,
  now: number,
  resumed?: number,
): CacheState {
  const last = answered.get(key);
  if (last?.shows === 'unused') return { state: 'none', basis: 'answers' };
  if (!span && named === 'none' && last?.shows !== 'reading') return { state: 'none', basis: 'model' };
  if (!last) {
    const isReplaced = answered.size > 0 && (resumed === undefined || now - resumed >= (span?.coldMs ?? Infinity));
    return span && isReplaced ? { state: 'cold', basis: 'other-model' } : { state: 'unknown', basis: 'not-answered' };
  }
  const ageMs = Math.max(0, now - last.began);
  if (!span) return { state: 'unknown', basis: 'span', ageMs, ...(last.read && { read: last.read }) };
  const vendor = named === 'none' ? undefined : named;
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
