/** A vendor's prompt cache: which prefixes of requests were seen, by the hash of all that stands before. */
import { createHash } from 'node:crypto';

/** A piece of a prompt in its order: a tool, the system prompt, a block of a message. */
export interface Segment {
  /** Everything that makes it what it is, as text. */
  readonly identity: string;
  readonly tokens: number;
  /** Carries a cache breakpoint. */
  readonly marked: boolean;
}

export interface CacheUse {
  readonly read: number;
  readonly written: number;
  /** Input tokens of the whole prompt. */
  readonly total: number;
}

/** How many blocks before a breakpoint are looked at for an earlier one (Anthropic guide, "Prompt caching"). */
const LOOK_BACK = 20;

/** OpenAI caches in steps of this many tokens (guide, "Prompt caching"). */
const STEP = 128;

export class PromptCache {
  private readonly seen = new Set<string>();

  constructor(private readonly minTokens: number) {}

  /** Anthropic's: only what stands before a breakpoint is read and written. */
  useMarked(segments: readonly Segment[]): CacheUse {
    const prefixes = prefixesOf(segments);
    const total = prefixes.at(-1)?.tokens ?? 0;
    const marks = segments.flatMap(({ marked }, index) => (marked ? [index] : []));
    const cacheable = marks.filter((index) => (prefixes[index]?.tokens ?? 0) >= this.minTokens);
    const hits = cacheable.flatMap((mark) =>
      prefixes.slice(Math.max(0, mark - LOOK_BACK), mark + 1).filter(({ hash }) => this.seen.has(hash)),
    );
    const read = Math.max(0, ...hits.map(({ tokens }) => tokens));
    const upTo = Math.max(0, ...cacheable.map((index) => prefixes[index]?.tokens ?? 0));
    for (const index of cacheable) this.seen.add(prefixes[index]?.hash ?? '');
    return { read, written: Math.max(0, upTo - read), total };
  }

  /** OpenAI's: the longest known prefix, in steps, without breakpoints and without a price for writing. */
  useLongest(segments: readonly Segment[]): CacheUse {
    const prefixes = prefixesOf(segments);
    const total = prefixes.at(-1)?.tokens ?? 0;
    const hit = prefixes.findLast(({ hash, tokens }) => tokens >= this.minTokens && this.seen.has(hash));
    for (const { hash } of prefixes) this.seen.add(hash);
    return { read: Math.floor((hit?.tokens ?? 0) / STEP) * STEP, written: 0, total };
  }
}

function prefixesOf(segments: readonly Segment[]): { readonly hash: string; readonly tokens: number }[] {
  const hash = createHash('sha256');
  let tokens = 0;
  return segments.map((segment) => {
    hash.update(`${segment.identity.length}:${segment.identity}`);
    tokens += segment.tokens;
    return { hash: hash.copy().digest('hex'), tokens };
  });
}
