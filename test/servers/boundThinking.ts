/**
 * Thinking that belongs to what stood before it (Anthropic's guide, "Preserved thinking"): system prompt, tools and earlier
 * messages must be what they were when it was made. The oldest blocks may be left out, but none between others.
 */
import { objects, text, type Json } from './json';

/** What a block was made behind. */
interface Made {
  readonly prefix: string;
  /** The thinking before it; undefined where there was none. */
  readonly before: string | undefined;
}

const isThinking = ({ type }: Json): boolean => type === 'thinking' || type === 'redacted_thinking';

const markOf = (block: Json): string => text(block['signature']) + text(block['data']);

/** The thinking that a server made, and how it judges what comes back. */
export class BoundThinking {
  private readonly blocks = new Map<string, Made>();

  /** Notes the thinking of an answer to a request. */
  made(body: Json, content: readonly Json[]): void {
    const messages = objects(body['messages']);
    let before = thinkingIn(messages).at(-1);
    for (const mark of content.filter(isThinking).map(markOf)) {
      this.blocks.set(mark, { prefix: prefixOf(body, messages), before });
      before = mark;
    }
  }

  /** What is wrong with the thinking of a request, as the API says it. */
  fault(body: Json): string | undefined {
    const messages = objects(body['messages']);
    let before: string | undefined;
    for (const [index, message] of messages.entries()) {
      for (const [at, block] of objects(message['content']).entries()) {
        if (!isThinking(block)) continue;
        const made = this.blocks.get(markOf(block));
        const isSame = made?.prefix === prefixOf(body, messages.slice(0, index));
        if (!isSame || (before !== undefined && made.before !== before)) {
          return `messages.${index}.content.${at}: Invalid \`signature\` in \`${text(block['type'])}\` block. The block is bound to a different conversation. Remove the block, or set \`thinking.block_binding.prefix_mismatch_behavior\` to "drop_block".`;
        }
        before = markOf(block);
      }
    }
    return undefined;
  }
}

const thinkingIn = (messages: readonly Json[]): string[] =>
  messages.flatMap(({ content }) => objects(content).filter(isThinking).map(markOf));

const prefixOf = ({ system, tools }: Json, messages: readonly Json[]): string =>
  JSON.stringify([system, tools, messages.map(withoutThinking)], (field, value: unknown) =>
    field === 'cache_control' ? undefined : value,
  );

const withoutThinking = ({ role, content }: Json): Json => ({
  role,
  content: typeof content === 'string' ? content : objects(content).filter((block) => !isThinking(block)),
});
