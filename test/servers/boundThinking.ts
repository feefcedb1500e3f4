/**
 * Thinking can be bound to its context (Anthropic's guide, "Preserved thinking"): system prompt,
 * tools and earlier messages must then be unchanged. Only the oldest blocks may be omitted.
 */
import { isObject, objects, text, type Json } from './json';

/**
 * What preceded a thinking block when it was made: the prompt, and the thinking block before it.
 */
interface ThinkingOrigin {
  readonly prefix: string;
  readonly before: string | undefined;
}

const isThinking = ({ type }: Json): boolean => type === 'thinking' || type === 'redacted_thinking';

const makeKey = (block: Json): string => text(block['signature']) + text(block['data']);

/** Remembers the thinking that the server sent, and checks it when it is sent back. */
export class BoundThinking {
  private readonly blocks = new Map<string, ThinkingOrigin>();

  remember(body: Json, content: readonly Json[]): void {
    const messages = objects(body['messages']);
    let thinkingBefore = listThinkingKeys(messages).at(-1);
    for (const thinkingKey of content.filter(isThinking).map(makeKey)) {
      this.blocks.set(thinkingKey, { prefix: serializePrefix(body, messages), before: thinkingBefore });
      thinkingBefore = thinkingKey;
    }
  }

  /**
   * Finds thinking that is bound to another conversation. Thinking directly after such a block is
   * invalid too (`BetaThinkingDroppedInputTransformation.reason` of the SDK); thinking further on
   * is not (guide "Prefix checks on thinking blocks").
   */
  private findMismatches(body: Json): { readonly path: string; readonly type: string }[] {
    const messages = objects(body['messages']);
    const mismatches: { readonly path: string; readonly type: string }[] = [];
    let thinkingBefore: string | undefined;
    for (const [index, message] of messages.entries()) {
      let followsMismatch = false;
      for (const [at, block] of objects(message['content']).entries()) {
        if (!isThinking(block)) {
          followsMismatch = false;
          continue;
        }
        const origin = this.blocks.get(makeKey(block));
        const isSamePrefix = origin?.prefix === serializePrefix(body, messages.slice(0, index));
        followsMismatch ||= !isSamePrefix || (thinkingBefore !== undefined && origin.before !== thinkingBefore);
        if (followsMismatch) mismatches.push({ path: `messages.${index}.content.${at}`, type: text(block['type']) });
        thinkingBefore = makeKey(block);
      }
    }
    return mismatches;
  }

  /**
   * Returns the API's message for the first thinking block that is invalid.
   * @param betas the header `anthropic-beta`.
   */
  fault(body: Json, betas: string): string | undefined {
    if (getBinding(body) !== undefined && !betas.includes(BINDING_BETA)) {
      return `thinking.block_binding: Extra inputs are not permitted. That setting requires the \`${BINDING_BETA}\` value in the \`anthropic-beta\` header.`;
    }
    const [first] = getBinding(body) === 'drop_block' ? [] : this.findMismatches(body);
    return (
      first &&
      `${first.path}: Invalid \`signature\` in \`${first.type}\` block. The block is bound to a different conversation. Remove the block, or set \`thinking.block_binding.prefix_mismatch_behavior\` to "drop_block". That setting requires the \`${BINDING_BETA}\` value in the \`anthropic-beta\` header.`
    );
  }

  /**
   * Lists the dropped thinking for an answer's `input_transformations` (`BetaInputTransformation`
   * of the SDK); undefined unless the request sets a binding.
   */
  listDropped(body: Json): Json[] | undefined {
    return getBinding(body) === undefined
      ? undefined
      : this.findMismatches(body).map(({ path }) => ({
          type: 'thinking_dropped',
          reason: 'prefix_binding_mismatch',
          path,
        }));
  }
}

const BINDING_BETA = 'thinking-binding-controls-2026-08-01';

function getBinding({ thinking }: Json): string | undefined {
  const binding = isObject(thinking) ? thinking['block_binding'] : undefined;
  return isObject(binding) ? text(binding['prefix_mismatch_behavior']) || 'error' : undefined;
}

const listThinkingKeys = (messages: readonly Json[]): string[] =>
  messages.flatMap(({ content }) => objects(content).filter(isThinking).map(makeKey));

const serializePrefix = ({ system, tools }: Json, messages: readonly Json[]): string =>
  JSON.stringify([system, tools, messages.map(removeThinking)], (field, value: unknown) =>
    field === 'cache_control' ? undefined : value,
  );

const removeThinking = ({ role, content }: Json): Json => ({
  role,
  content: typeof content === 'string' ? content : objects(content).filter((block) => !isThinking(block)),
});
