/** Simulates a vendor's prompt cache, which stores seen prefixes by hash. */
import { createHash } from 'node:crypto';

/** A piece of a prompt: a tool, the system prompt, or a block. */
export interface Segment {
  /** Its full content as text. */
  readonly identity: string;
  readonly tokens: number;
  readonly marked: boolean;
  /** Lifetime that its breakpoint requests, if any. */
  readonly ttl?: string;
}

export interface CacheUse {
  readonly read: number;
  readonly written: number;
  readonly total: number;
}

export interface CacheRules {
  /** Minimum cached prompt in tokens; shorter ones are accepted but not cached. */
  readonly minTokens: number;
  /** Lifetime after the last write or read, in milliseconds. */
  readonly lifetime: number;
  /** Lifetimes that a breakpoint may request, by name. */
  readonly lifetimes: Readonly<Record<string, number>>;
  /** Number of blocks before a breakpoint that are searched for an earlier entry. */
  readonly lookBack: number;
  /** Cached tokens are a multiple of this. */
  readonly step: number;
  /** Writes are reported and billed separately. */
  readonly paysWrites: boolean;
}

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** The 20 blocks are from Anthropic's guide "Prompt caching", the 128 tokens from OpenAI's. */
const DEFAULT_RULES: CacheRules = {
  minTokens: 1024,
  lifetime: Infinity,
  lifetimes: {},
  lookBack: 20,
  step: 128,
  paysWrites: false,
};

/**
 * How long each vendor keeps cached prompts. The minimum lengths for Claude's models are in
 * claudeModels.ts.
 * - anthropic: five minutes from the last use, or one hour (`CacheControlEphemeral` of
 *   @anthropic-ai/sdk).
 * - openai: up to GPT-5.5, `prompt_cache_retention: "24h"` is the default if data may be stored;
 *   otherwise the cache is kept up to one hour and cleared after five to ten idle minutes. From
 *   GPT-5.6, prompts are kept at least 30 minutes, the cached part is exact to the token, and
 *   writes are billed (`ResponseCreateParamsBase` of openai; Azure's guide "Prompt caching").
 * - openrouter: requests go to the same provider until ten idle minutes have passed (its guide
 *   "Prompt caching", sticky routing); then another provider may answer, whose cache is empty.
 */
export const AGEING = {
  anthropic: { lifetime: 5 * MINUTE, lifetimes: { '5m': 5 * MINUTE, '1h': HOUR } },
  openaiKept: { lifetime: 24 * HOUR },
  openaiInMemory: { lifetime: 5 * MINUTE },
  openaiNew: { lifetime: 30 * MINUTE, lifetimes: { '30m': 30 * MINUTE, '12h': 12 * HOUR }, step: 1, paysWrites: true },
  openrouter: { lifetime: 5 * MINUTE, lifetimes: { '5m': 5 * MINUTE, '1h': HOUR }, paysWrites: true },
} as const satisfies Readonly<Record<string, Partial<CacheRules>>>;

interface CacheEntry {
  at: number;
  readonly lifetime: number;
}

interface CachedPrefix {
  readonly hash: string;
  readonly tokens: number;
  /** The last segment of the prefix. */
  readonly last: Pick<Segment, 'identity' | 'tokens'>;
}

export class PromptCache {
  private readonly entries = new Map<string, CacheEntry>();
  private readonly rules: CacheRules;
  /** The previous request of each scope, because most requests share its prefix. */
  private readonly before = new Map<string, readonly CachedPrefix[]>();

  constructor(
    rules: Partial<CacheRules>,
    private readonly now: () => number = Date.now,
  ) {
    this.rules = { ...DEFAULT_RULES, ...rules };
  }

  /** Reads and writes only at breakpoints, as at Anthropic. */
  useMarked(segments: readonly Segment[], scope = ''): CacheUse {
    const prefixes = this.prefixesOf(segments, scope);
    const total = prefixes.at(-1)?.tokens ?? 0;
    const { minTokens, lookBack } = this.rules;
    const cacheableIndexes = segments.flatMap(({ marked }, index) =>
      marked && (prefixes[index]?.tokens ?? 0) >= minTokens ? [index] : [],
    );
    const warmPrefixes = cacheableIndexes.flatMap((mark) =>
      prefixes.slice(Math.max(0, mark - lookBack), mark + 1).filter((prefix) => this.isWarm(prefix)),
    );
    const longestWarmPrefix = warmPrefixes.reduce<CachedPrefix | undefined>(
      (a, b) => (a && a.tokens >= b.tokens ? a : b),
      undefined,
    );
    const readTokens = longestWarmPrefix?.tokens ?? 0;
    const cacheableTokens = Math.max(0, ...cacheableIndexes.map((index) => prefixes[index]?.tokens ?? 0));
    if (longestWarmPrefix) this.renew(longestWarmPrefix);
    for (const index of cacheableIndexes) this.write(prefixes[index], segments[index]?.ttl);
    return { read: readTokens, written: Math.max(0, cacheableTokens - readTokens), total };
  }

  /**
   * Reads the longest known prefix in steps, without breakpoints, as at OpenAI. Requests with the
   * same `scope` share a cache.
   */
  useLongest(segments: readonly Segment[], scope = ''): CacheUse {
    const prefixes = this.prefixesOf(segments, scope);
    const total = prefixes.at(-1)?.tokens ?? 0;
    const { minTokens, step, paysWrites } = this.rules;
    const warmPrefix = prefixes.findLast((prefix) => prefix.tokens >= minTokens && this.isWarm(prefix));
    if (warmPrefix) this.renew(warmPrefix);
    for (const prefix of prefixes) this.write(prefix);
    const readTokens = Math.floor((warmPrefix?.tokens ?? 0) / step) * step;
    return { read: readTokens, written: paysWrites && total >= minTokens ? total - readTokens : 0, total };
  }

  private isWarm({ hash }: CachedPrefix): boolean {
    const entry = this.entries.get(hash);
    return entry !== undefined && this.now() - entry.at <= entry.lifetime;
  }

  private renew({ hash }: CachedPrefix): void {
    const entry = this.entries.get(hash);
    if (entry) entry.at = this.now();
  }

  private write(prefix: CachedPrefix | undefined, ttl?: string): void {
    if (!prefix) return;
    const lifetime = (ttl === undefined ? undefined : this.rules.lifetimes[ttl]) ?? this.rules.lifetime;
    this.entries.set(prefix.hash, { at: this.now(), lifetime });
  }

  private prefixesOf(segments: readonly Segment[], scope: string): readonly CachedPrefix[] {
    const prefixesBefore = this.before.get(scope) ?? [];
    const prefixes: CachedPrefix[] = [];
    let isUnchanged = true;
    let [hash, tokens] = [scope, 0];
    for (const [index, segment] of segments.entries()) {
      const prefixBefore = prefixesBefore[index];
      isUnchanged &&= prefixBefore?.last.identity === segment.identity && prefixBefore.last.tokens === segment.tokens;
      const prefix = isUnchanged && prefixBefore ? prefixBefore : makePrefix(segment, hash, tokens);
      ({ hash, tokens } = prefix);
      prefixes.push(prefix);
    }
    this.before.set(scope, prefixes);
    return prefixes;
  }
}

function makePrefix({ identity, tokens }: Segment, before: string, tokensBefore: number): CachedPrefix {
  const hash = createHash('sha256').update(`${before}\n${identity}`).digest('base64');
  return { hash, tokens: tokensBefore + tokens, last: { identity, tokens } };
}
