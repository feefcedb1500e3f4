/** How long vendors keep a prompt that was sent, so that the next request with the same beginning is read from a cache. */
import type { CacheLifetime } from '../cost/prices';
import { getWire, type Vendor } from './vendors';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** Between the two nobody knows, until an answer's usage tells. Milliseconds since the last request began. */
export interface CacheSpan {
  /** Up to here the prompt is still there. */
  readonly warmMs: number;
  /** From here on it is gone. */
  readonly coldMs: number;
}

/** Of endpoints that are not the vendor's own, whatever they are asked for (DeepSeek's guides "Context Caching", hours to days, and "Anthropic API"). */
const OF_HOSTS: readonly { readonly host: RegExp; readonly span: CacheSpan }[] = [
  { host: /(?:^|\.)deepseek\.com$/, span: { warmMs: HOUR, coldMs: 24 * HOUR } },
];

/**
 * Caches that need no marks, by model; the first that fits counts. Sources: OpenAI's SDK (responses.d.ts,
 * `prompt_cache_options.ttl`: at least 30 minutes from GPT-5.6 on, entries may live longer; `prompt_cache_retention`: up to 24
 * hours, in memory 5 to 10 minutes, at most an hour); OpenRouter's guide on prompt caching (a conversation stays with its
 * provider for 10 minutes); Google's guide (no promise).
 */
const AUTOMATIC: readonly { readonly models?: RegExp; readonly span: CacheSpan }[] = [
  { models: /gpt-(?:5\.(?:[6-9]|\d\d)|[6-9]|\d\d)/i, span: { warmMs: 30 * MINUTE, coldMs: 24 * HOUR } },
  { span: { warmMs: 5 * MINUTE, coldMs: 24 * HOUR } },
];

/** Caches that requests are marked for: the time is the one that was asked for, from the last use on. */
const MARKED: Readonly<Record<Exclude<CacheLifetime, 'none'>, CacheSpan>> = {
  '5m': { warmMs: 5 * MINUTE, coldMs: 5 * MINUTE },
  '1h': { warmMs: HOUR, coldMs: HOUR },
};

/**
 * Whether one of Bedrock's models that speak Converse caches prompts: Nova, what stands before a cache point in the system prompt or
 * in messages, for five minutes (user guide, "Prompt caching"; LibreChat#13838: a point among the tools is refused).
 */
export const cachesOnConverse = (model: string): boolean => /nova/i.test(model);

export interface CachedModel {
  readonly vendor: Vendor;
  readonly model: string;
  /** Host of an endpoint other than the vendor's own. */
  readonly host?: string | undefined;
  /** The profile's setting; undefined: none. */
  readonly lifetime?: CacheLifetime | undefined;
}

/** Whether the model's cache keeps what a request marks for it, and nothing else. */
const isMarked = ({ vendor, model }: CachedModel): boolean => {
  const wire = getWire(vendor, model);
  return wire === 'messages' || /claude/i.test(model);
};

/** How long the cache of a model holds a prompt; `none`: it holds none of these; undefined where that is not known. */
export function getCacheSpan(model: CachedModel): CacheSpan | 'none' | undefined {
  const { vendor, lifetime, host = '' } = model;
  const wire = getWire(vendor, model.model);
  if (wire === 'editor') return undefined;
  if (wire === 'converse') return lifetime !== 'none' && cachesOnConverse(model.model) ? MARKED['5m'] : 'none';
  const ofHost = OF_HOSTS.find((each) => each.host.test(host));
  if (ofHost) return ofHost.span;
  if (isMarked(model)) return lifetime === 'none' ? 'none' : MARKED[lifetime ?? '5m'];
  if (lifetime !== undefined && lifetime !== 'none') return MARKED[lifetime];
  return AUTOMATIC.find(({ models }) => models?.test(model.model) ?? true)?.span;
}
