import type { CacheLifetime } from '../cost/prices';
import { getWire, type Vendor } from './vendors';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/**
 * Milliseconds since the last request started. Between the two times the cache's state is unknown.
 */
export interface CacheLifespan {
  /** Before this time the prompt is certainly cached. */
  readonly warmMs: number;
  /** After this time the prompt has certainly expired. */
  readonly coldMs: number;
}

/**
 * For endpoints other than the vendor's own (DeepSeek's guides "Context Caching", hours to days,
 * and "Anthropic API").
 */
const CACHE_LIFESPAN_BY_HOST: readonly { readonly host: RegExp; readonly span: CacheLifespan }[] = [
  { host: /(?:^|\.)deepseek\.com$/, span: { warmMs: HOUR_MS, coldMs: 24 * HOUR_MS } },
];

/**
 * The first match counts. Sources: OpenAI's SDK (responses.d.ts, `prompt_cache_options.ttl`: at
 * least 30 minutes from GPT-5.6 on; `prompt_cache_retention`: up to 24 hours, in memory 5 to 10
 * minutes); OpenRouter's guide on prompt caching (10 minutes); Google's guide (no guarantee).
 */
const AUTOMATIC_CACHE_LIFESPANS: readonly { readonly models?: RegExp; readonly span: CacheLifespan }[] = [
  { models: /gpt-(?:5\.(?:[6-9]|\d\d)|[6-9]|\d\d)/i, span: { warmMs: 30 * MINUTE_MS, coldMs: 24 * HOUR_MS } },
  { span: { warmMs: 5 * MINUTE_MS, coldMs: 24 * HOUR_MS } },
];

/** Caches with breakpoints last the requested time after the last use. */
const MARKED_CACHE_LIFESPANS: Readonly<Record<Exclude<CacheLifetime, 'none'>, CacheLifespan>> = {
  '5m': { warmMs: 5 * MINUTE_MS, coldMs: 5 * MINUTE_MS },
  '1h': { warmMs: HOUR_MS, coldMs: HOUR_MS },
};

/**
 * Nova caches what precedes a cache point for five minutes (user guide, "Prompt caching"). It
 * rejects cache points among the tools (LibreChat#13838).
 */
export const supportsConverseCache = (model: string): boolean => /nova/i.test(model);

export interface CachedModel {
  readonly vendor: Vendor;
  readonly model: string;
  readonly host?: string | undefined;
  readonly lifetime?: CacheLifetime | undefined;
}

/** True if the cache contains only what requests mark. */
const usesCacheMarks = ({ vendor, model }: CachedModel): boolean => {
  const wire = getWire(vendor, model);
  return wire === 'messages' || /claude/i.test(model);
};

/** Returns `none` if nothing is cached, undefined if unknown. */
export function getCacheLifespan(model: CachedModel): CacheLifespan | 'none' | undefined {
  const { vendor, lifetime, host = '' } = model;
  const wire = getWire(vendor, model.model);
  if (wire === 'editor') return undefined;
  if (wire === 'converse')
    return lifetime !== 'none' && supportsConverseCache(model.model) ? MARKED_CACHE_LIFESPANS['5m'] : 'none';
  const lifespanOfHost = CACHE_LIFESPAN_BY_HOST.find((each) => each.host.test(host));
  if (lifespanOfHost) return lifespanOfHost.span;
  if (usesCacheMarks(model)) return lifetime === 'none' ? 'none' : MARKED_CACHE_LIFESPANS[lifetime ?? '5m'];
  if (lifetime !== undefined && lifetime !== 'none') return MARKED_CACHE_LIFESPANS[lifetime];
  return AUTOMATIC_CACHE_LIFESPANS.find(({ models }) => models?.test(model.model) ?? true)?.span;
}
