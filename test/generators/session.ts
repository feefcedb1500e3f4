import type { ApiMessage, Block } from '../../src/core/messages/types';
import type { Random } from './random';

/** A tool call with its result. */
export interface Call {
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly result: string;
  readonly isError?: boolean;
}

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

export const randomText = (random: Random, length: number): string =>
  Array.from({ length }, () => ALPHABET[random.int(ALPHABET.length)]).join('');

/**
 * Builds a conversation in the form of the Messages API, with pairs of calls and results, IDs, and
 * signatures.
 */
export class Session {
  readonly messages: ApiMessage[] = [];
  private lead: Block[] = [];

  constructor(private readonly random: Random) {}

  user(text: string): void {
    this.flush();
    this.messages.push({ role: 'user', content: text });
  }

  /** Adds thinking before the next text or call. */
  think(text: string): void {
    this.lead.push({ type: 'thinking', thinking: text, signature: randomText(this.random, 64) });
  }

  /** Adds a text of the assistant; the calls that follow are in the same message. */
  say(text: string): void {
    this.lead.push({ type: 'text', text });
  }

  /** Adds a message with parallel calls, and their results. */
  call(...calls: readonly Call[]): void {
    const ids = calls.map(() => `toolu_01${randomText(this.random, 22)}`);
    const toolUses = calls.map(({ tool, input }, at): Block => ({ type: 'tool_use', id: ids[at]!, name: tool, input }));
    this.messages.push({ role: 'assistant', content: [...this.lead, ...toolUses] });
    this.lead = [];
    this.messages.push({ role: 'user', content: calls.map((each, at) => resultBlock(ids[at]!, each)) });
  }

  /** Adds calls without results, because the user stopped the agent. */
  interrupted(...calls: readonly Call[]): void {
    this.call(...calls);
    this.messages.pop();
  }

  /** Ends an assistant's message without calls. */
  flush(): void {
    if (this.lead.length > 0) this.messages.push({ role: 'assistant', content: this.lead });
    this.lead = [];
  }
}

const resultBlock = (id: string, { result, isError }: Call): Block => ({
  type: 'tool_result',
  tool_use_id: id,
  content: result,
  ...(isError === undefined ? {} : { is_error: isError }),
});
