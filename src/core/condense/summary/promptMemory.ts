import type { SummarizerModel } from '../summarizer';

/**
 * Shortest prefix that vendors cache, and OpenAI's step, in tokens (OpenAI and Anthropic guides,
 * "Prompt caching").
 */
const MIN_CACHED_PROMPT_TOKENS = 1_024;
const CACHE_STEP_TOKENS = 128;
const CACHE_LIFETIME_MS = { none: 300_000, '5m': 300_000, '1h': 3_600_000 } as const;
const MAX_REMEMBERED_PROMPTS = 6;

interface SentPrompt {
  readonly model: string;
  readonly text: string;
  /** In milliseconds since 1970. */
  readonly at: number;
}

/** Tokens read from and written to the vendor's cache, counted by the model's tokenizer. */
export interface CachedTokensEstimate {
  readonly read: number;
  readonly write: number;
}

/** Remembers sent prompts, so that estimates of a retry use the price of cached input. */
export class SentPromptMemory {
  private sentPrompts: SentPrompt[] = [];

  constructor(private readonly now: () => number = Date.now) {}

  recordPrompt(model: SummarizerModel, text: string): void {
    this.sentPrompts = [
      ...this.sentPrompts.slice(1 - MAX_REMEMBERED_PROMPTS),
      { model: makeModelKey(model), text, at: this.now() },
    ];
  }

  estimateCachedTokens(model: SummarizerModel, text: string, tokens: number): CachedTokensEstimate {
    const isMarkedForCache = model.cacheLifetime !== 'none';
    // Anthropic caches only what is marked; OpenAI and similar vendors cache by themselves at no
    // charge.
    if (model.accounting === 'anthropic' && !isMarkedForCache) return { read: 0, write: 0 };
    const oldestTime = this.now() - CACHE_LIFETIME_MS[model.cacheLifetime];
    const recentPrompts = this.sentPrompts.filter(
      (entry) => entry.model === makeModelKey(model) && entry.at >= oldestTime,
    );
    if (model.accounting === 'anthropic') {
      if (tokens < MIN_CACHED_PROMPT_TOKENS) return { read: 0, write: 0 };
      return recentPrompts.some((entry) => entry.text === text)
        ? { read: tokens, write: 0 }
        : { read: 0, write: tokens };
    }
    const commonPrefixChars = Math.max(0, ...recentPrompts.map((entry) => countCommonPrefixChars(entry.text, text)));
    const readTokens =
      Math.floor((tokens * commonPrefixChars) / Math.max(1, text.length) / CACHE_STEP_TOKENS) * CACHE_STEP_TOKENS;
    return { read: readTokens >= MIN_CACHED_PROMPT_TOKENS ? readTokens : 0, write: 0 };
  }
}

const makeModelKey = ({ vendor, model }: SummarizerModel): string => `${vendor} ${model}`;

function countCommonPrefixChars(a: string, b: string): number {
  const minLength = Math.min(a.length, b.length);
  let offset = 0;
  while (offset < minLength && a.charCodeAt(offset) === b.charCodeAt(offset)) offset++;
  return offset;
}
