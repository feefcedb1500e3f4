import type { ApiMessage } from '../core/messages/types';
import type { MessageCounter } from '../core/tokens/messageCounter';

/** One rendering of the agent's prompt has some 1,200 texts, and each request four renderings: about 150 different ones. */
const MAX_TEXTS = 20_000;

/** Longer texts are remembered by the counter itself, by their hash. */
const LONGEST_CHARS = 4_000;

/** UTF-16 units from which on something is counted in the engine's thread. */
export const LONG_PART = 64_000;

/** UTF-16 units of the texts in a value. */
export function lengthOf(value: unknown): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 0;
  return Object.values(value).reduce((sum: number, part) => sum + lengthOf(part), 0);
}

/** UTF-16 units of a token of code and prose, about. */
export const CHARS_PER_TOKEN = 4;

/** Tokens of what VS Code wants counted, about 5,000 times a request: from memory where it was counted before. */
export class TokenCounts {
  private readonly texts = new Map<string, number>();

  /** @param long counts what is long, in a thread of its own */
  constructor(
    private readonly counter: MessageCounter,
    private readonly long: (part: string | ApiMessage) => Promise<number>,
  ) {}

  /** @param factor the model's tokens for one o200k token. */
  async text(text: string, factor: number): Promise<number> {
    if (text.length >= LONG_PART) return Math.ceil((await this.counted(text)) * factor);
    if (text.length > LONGEST_CHARS) return Math.ceil(this.counter.text(text) * factor);
    let tokens = this.texts.get(text);
    if (tokens === undefined) {
      tokens = this.counter.text(text);
      this.texts.set(text, tokens);
      const oldest = this.texts.size > MAX_TEXTS ? this.texts.keys().next() : undefined;
      if (oldest && !oldest.done) this.texts.delete(oldest.value);
    }
    return Math.ceil(tokens * factor);
  }

  /** @param factor the model's tokens for one o200k token. */
  async message(message: ApiMessage, factor: number): Promise<number> {
    const tokens = lengthOf(message) < LONG_PART ? this.counter.message(message) : await this.counted(message);
    return Math.ceil(tokens * factor);
  }

  /** A guess where the thread has died: VS Code only decides by it what to leave out of a prompt. */
  private counted(part: string | ApiMessage): Promise<number> {
    return this.long(part).catch(() => lengthOf(part) / CHARS_PER_TOKEN);
  }
}
