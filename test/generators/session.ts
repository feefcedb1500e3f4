import type { ApiMessage, Block } from '../../src/core/messages/types';
import type { Random } from './random';

/** A tool call and what the tool answered. */
export interface Call {
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly result: string;
  readonly isError?: boolean;
}

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

export const randomText = (random: Random, length: number): string =>
  Array.from({ length }, () => ALPHABET[random.int(ALPHABET.length)]).join('');

/** Puts a conversation together in the shape of the Messages API: pairs of calls and results, ids, signatures. */
export class Session {
  readonly messages: ApiMessage[] = [];
  private lead: Block[] = [];

  constructor(private readonly random: Random) {}

  user(text: string): void {
    this.flush();
    this.messages.push({ role: 'user', content: text });
  }

  /** Thinking in front of the assistant's next text or call. */
  think(text: string): void {
    this.lead.push({ type: 'thinking', thinking: text, signature: randomText(this.random, 64) });
  }

  /** The assistant's words; what is called next belongs to the same message. */
  say(text: string): void {
    this.lead.push({ type: 'text', text });
  }

  /** Calls of one message, made at the same time. */
  call(...calls: readonly Call[]): void {
    const ids = calls.map(() => `toolu_01${randomText(this.random, 22)}`);
    const uses = calls.map(({ tool, input }, at): Block => ({ type: 'tool_use', id: ids[at]!, name: tool, input }));
    this.messages.push({ role: 'assistant', content: [...this.lead, ...uses] });
    this.lead = [];
    this.messages.push({ role: 'user', content: calls.map((each, at) => resultBlock(ids[at]!, each)) });
  }

  /** Calls whose results never came, because the user stopped the agent. */
  interrupted(...calls: readonly Call[]): void {
    this.call(...calls);
    this.messages.pop();
  }

  /** Ends the assistant's message where it makes no call. */
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
