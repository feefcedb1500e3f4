import type { ApiMessage } from '../core/messages/types';
import type { MessageCounter } from '../core/tokens/messageCounter';
import { LruMap } from '../core/lruMap';

/**
 * Enough for several prompts: each has about 1,200 texts and is rendered four times per request.
 */
const MAX_CACHED_TEXTS = 20_000;

/**
 * In UTF-16 units. Longer texts are not cached here, because the token counter caches them by hash.
 */
const MAX_CACHED_TEXT_CHARS = 4_000;

/** UTF-16 units from which a text is counted in the engine's thread. */
export const MIN_ESTIMATED_PART_CHARS = 64_000;

/** Returns the number of UTF-16 units of all strings in a value. */
export function measureCharacters(value: unknown): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 0;
  return Object.values(value).reduce((sum: number, part) => sum + measureCharacters(part), 0);
}

/** Approximate UTF-16 units per token of code and prose. */
export const CHARS_PER_TOKEN = 4;

/** Caches counts, because VS Code requests about 5,000 of them per request. */
export class CachedTokenCounter {
  private readonly tokensByText = new LruMap<string, number>(MAX_CACHED_TEXTS);

  /** @param countLong counts the tokens of a long part in another thread */
  constructor(
    private readonly counter: MessageCounter,
    private readonly countLong: (part: string | ApiMessage) => Promise<number>,
  ) {}

  /** @param tokenFactor the model's tokens per o200k token */
  async countText(text: string, tokenFactor: number): Promise<number> {
    if (text.length >= MIN_ESTIMATED_PART_CHARS) return Math.ceil((await this.countLongPart(text)) * tokenFactor);
    if (text.length > MAX_CACHED_TEXT_CHARS) return Math.ceil(this.counter.countText(text) * tokenFactor);
    let tokens = this.tokensByText.get(text);
    if (tokens === undefined) {
      tokens = this.counter.countText(text);
      this.tokensByText.set(text, tokens);
    }
    return Math.ceil(tokens * tokenFactor);
  }

  /** @param tokenFactor the model's tokens per o200k token */
  async countMessage(message: ApiMessage, tokenFactor: number): Promise<number> {
    const tokens =
      measureCharacters(message) < MIN_ESTIMATED_PART_CHARS
        ? this.counter.countMessage(message)
        : await this.countLongPart(message);
    return Math.ceil(tokens * tokenFactor);
  }

  /** If the thread has died, the count is guessed: VS Code only uses it to shorten a prompt. */
  private countLongPart(part: string | ApiMessage): Promise<number> {
    return this.countLong(part).catch(() => measureCharacters(part) / CHARS_PER_TOKEN);
  }
}
