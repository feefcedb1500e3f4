import type { ApiMessage } from '../core/messages/types';
import { Pace } from '../core/pace';
import type { MessageCounter } from '../core/tokens/messageCounter';

/** One rendering of the agent's prompt has some 1,200 texts, and each request four renderings: about 150 different ones. */
const MAX_TEXTS = 20_000;

/** Longer texts are remembered by the counter itself, by their hash. */
const LONGEST_CHARS = 4_000;

/** Tokens of what VS Code wants counted, about 5,000 times a request: from memory where it was counted before. */
export class TokenCounts {
  private readonly texts = new Map<string, number>();

  constructor(private readonly counter: MessageCounter) {}

  /** @param factor the model's tokens for one o200k token. */
  async text(text: string, factor: number): Promise<number> {
    if (text.length > LONGEST_CHARS)
      return Math.ceil((await new Pace().through(this.counter.countingText(text))) * factor);
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
    return Math.ceil((await new Pace().through(this.counter.counting(message))) * factor);
  }
}
