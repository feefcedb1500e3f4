/** A vendor's prompt cache: which prefixes of requests were seen, by the hash of all that stands before. */
import { createHash } from 'node:crypto';

/** A piece of a prompt in its order: a tool, the system prompt, a block of a message. */
export interface Segment {
  /** Everything that makes it what it is, as text. */
  readonly identity: string;
  readonly tokens: number;
  /** Carries a cache breakpoint. */
  readonly marked: boolean;
  /** The lifetime that its breakpoint asks for, where it names one. */
  readonly ttl?: string;
}

export interface CacheUse {
  readonly read: number;
  readonly written: number;
  /** Input tokens of the whole prompt. */
  readonly total: number;
}

/** How a vendor's cache behaves. */
export interface CacheRules {
  /** Shortest prompt that is cached, in tokens; a shorter one is not refused, only not cached. */
  readonly minTokens: number;
  /** How long an entry lives after it was last written or read, in milliseconds. */
  readonly lifetime: number;
  /** Lifetimes that a breakpoint may ask for, by their names. */
  readonly lifetimes: Readonly<Record<string, number>>;
  /** How many blocks before a breakpoint are looked at for an earlier one. */
  readonly lookBack: number;
  /** The number of read tokens is a multiple of this. */
  readonly step: number;
  /** Writing has a price of its own, and is reported. */
  readonly paysWrites: boolean;
}

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** 20 blocks: Anthropic's guide, "Prompt caching"; 128 tokens: OpenAI's. */
const EVER: CacheRules = {
  minTokens: 1024,
  lifetime: Infinity,
  lifetimes: {},
  lookBack: 20,
  step: 128,
  paysWrites: false,
};

/**
 * Rules of caches as they age, by vendor. Minimums of Claude's models stand in claudeModels.ts.
 * - anthropic: five minutes from the last use, or one hour (`CacheControlEphemeral` of @anthropic-ai/sdk).
 * - openai: up to GPT-5.5, `prompt_cache_retention: "24h"` by default where data may be kept, else up to one hour, cleared after
 *   five to ten minutes of rest; from GPT-5.6 at least 30 minutes, exact to the token, and writing is billed
 *   (`ResponseCreateParamsBase` of openai; Azure's guide "Prompt caching").
 * - openrouter: the same provider is asked for ten minutes of rest (its guide "Prompt caching", sticky routing); after that
 *   another one may answer, whose cache is empty.
 */
export const AGEING = {
  anthropic: { lifetime: 5 * MINUTE, lifetimes: { '5m': 5 * MINUTE, '1h': HOUR } },
  openaiKept: { lifetime: 24 * HOUR },
  openaiInMemory: { lifetime: 5 * MINUTE },
  openaiNew: { lifetime: 30 * MINUTE, lifetimes: { '30m': 30 * MINUTE, '12h': 12 * HOUR }, step: 1, paysWrites: true },
  openrouter: { lifetime: 5 * MINUTE, lifetimes: { '5m': 5 * MINUTE, '1h': HOUR }, paysWrites: true },
} as const satisfies Readonly<Record<string, Partial<CacheRules>>>;

interface Entry {
  /** When it was last used. */
  at: number;
  readonly lifetime: number;
}

interface Prefix {
  readonly hash: string;
  readonly tokens: number;
  /** The piece that it ends with. */
  readonly last: Pick<Segment, 'identity' | 'tokens'>;
}

export class PromptCache {
  private readonly entries = new Map<string, Entry>();
  private readonly rules: CacheRules;
  /** Of the request before, by scope: most begin with what that one was. */
  private readonly before = new Map<string, readonly Prefix[]>();

  constructor(
    rules: Partial<CacheRules>,
    private readonly now: () => number = Date.now,
  ) {
    this.rules = { ...EVER, ...rules };
  }

  /** Anthropic's: only what stands before a breakpoint is read and written. */
  useMarked(segments: readonly Segment[], scope = ''): CacheUse {
    const prefixes = this.prefixesOf(segments, scope);
    const total = prefixes.at(-1)?.tokens ?? 0;
    const { minTokens, lookBack } = this.rules;
    const cacheable = segments.flatMap(({ marked }, index) =>
      marked && (prefixes[index]?.tokens ?? 0) >= minTokens ? [index] : [],
    );
    const hits = cacheable.flatMap((mark) =>
      prefixes.slice(Math.max(0, mark - lookBack), mark + 1).filter((prefix) => this.isWarm(prefix)),
    );
    const best = hits.reduce<Prefix | undefined>((a, b) => (a && a.tokens >= b.tokens ? a : b), undefined);
    const read = best?.tokens ?? 0;
    const upTo = Math.max(0, ...cacheable.map((index) => prefixes[index]?.tokens ?? 0));
    if (best) this.renew(best);
    for (const index of cacheable) this.write(prefixes[index], segments[index]?.ttl);
    return { read, written: Math.max(0, upTo - read), total };
  }

  /** OpenAI's: the longest known prefix, in steps, without breakpoints. `scope`: what routes requests to the same cache. */
  useLongest(segments: readonly Segment[], scope = ''): CacheUse {
    const prefixes = this.prefixesOf(segments, scope);
    const total = prefixes.at(-1)?.tokens ?? 0;
    const { minTokens, step, paysWrites } = this.rules;
    const hit = prefixes.findLast((prefix) => prefix.tokens >= minTokens && this.isWarm(prefix));
    if (hit) this.renew(hit);
    for (const prefix of prefixes) this.write(prefix);
    const read = Math.floor((hit?.tokens ?? 0) / step) * step;
    return { read, written: paysWrites && total >= minTokens ? total - read : 0, total };
  }

  private isWarm({ hash }: Prefix): boolean {
    const entry = this.entries.get(hash);
    return entry !== undefined && this.now() - entry.at <= entry.lifetime;
  }

  private renew({ hash }: Prefix): void {
    const entry = this.entries.get(hash);
    if (entry) entry.at = this.now();
  }

  private write(prefix: Prefix | undefined, ttl?: string): void {
    if (!prefix) return;
    const lifetime = (ttl === undefined ? undefined : this.rules.lifetimes[ttl]) ?? this.rules.lifetime;
    this.entries.set(prefix.hash, { at: this.now(), lifetime });
  }

  private prefixesOf(segments: readonly Segment[], scope: string): readonly Prefix[] {
    const before = this.before.get(scope) ?? [];
    const prefixes: Prefix[] = [];
    let isAsBefore = true;
    let [hash, tokens] = [scope, 0];
    for (const [index, segment] of segments.entries()) {
      const known = before[index];
      isAsBefore &&= known?.last.identity === segment.identity && known.last.tokens === segment.tokens;
      const prefix = isAsBefore && known ? known : prefixOf(segment, hash, tokens);
      ({ hash, tokens } = prefix);
      prefixes.push(prefix);
    }
    this.before.set(scope, prefixes);
    return prefixes;
  }
}

/** A prefix that goes on behind another one. */
function prefixOf({ identity, tokens }: Segment, before: string, tokensBefore: number): Prefix {
  const hash = createHash('sha256').update(`${before}\n${identity}`).digest('base64');
  return { hash, tokens: tokensBefore + tokens, last: { identity, tokens } };
}
