/**
 * `ApiMessage` to what Anthropic's API takes. It refuses fields that it doesn't know ("Extra inputs are not permitted"), so
 * known blocks carry only what the reference names; blocks that we don't know go as they are, less our own fields.
 * Consecutive messages of one role are left: the API merges them.
 */
import { blocksOf, isRecord, isText, isToolResult } from '../core/messages/blocks';
import type { ApiMessage, Block, TextBlock } from '../core/messages/types';
import { asText, isOpenAIBlock, REASONING_BLOCK } from './foreignBlocks';
import { DEFAULT_MAX_OUTPUT_TOKENS, type ApiRequest, type ToolChoice } from './types';

type Wire = Readonly<Record<string, unknown>>;

interface WireMessage {
  readonly role: 'user' | 'assistant';
  readonly content: string | readonly Wire[];
}

/** The fields of the blocks (API reference, "Messages": content block params). */
const FIELDS: Readonly<Record<string, readonly string[]>> = {
  text: ['type', 'text', 'cache_control', 'citations'],
  image: ['type', 'source', 'cache_control', 'transformations'],
  document: ['type', 'source', 'cache_control', 'citations', 'context', 'title'],
  search_result: ['type', 'source', 'title', 'content', 'cache_control', 'citations'],
  thinking: ['type', 'thinking', 'signature'],
  redacted_thinking: ['type', 'data'],
  tool_use: ['type', 'id', 'name', 'input', 'cache_control', 'caller'],
  tool_result: ['type', 'tool_use_id', 'content', 'is_error', 'cache_control'],
};

/** Fields that agents and we put on blocks and messages for ourselves. */
const INTERNAL = new Set([
  'ts',
  'isSummary',
  'condenseId',
  'condenseParent',
  'rawArguments',
  'openai',
  'uuid',
  'timestamp',
]);

/** The body of a request, without `stream`. */
export function anthropicBody(
  request: ApiRequest,
  model: { readonly id: string; readonly maxOutputTokens?: number },
): Wire {
  const { prompt, messages } = splitSystem(request);
  const { tools, toolChoice, temperature, thinkingTokens } = request;
  const maxTokens = request.maxOutputTokens ?? model.maxOutputTokens ?? DEFAULT_MAX_OUTPUT_TOKENS;
  return {
    model: model.id,
    max_tokens: maxTokens,
    ...(prompt !== undefined && { system: prompt }),
    messages,
    ...(tools && tools.length > 0 && { tools: tools.map((tool) => withoutInternal(tool)) }),
    ...(tools && tools.length > 0 && toolChoice !== undefined && { tool_choice: choiceTo(toolChoice) }),
    ...(temperature !== undefined && { temperature }),
    ...(thinkingTokens !== undefined && { thinking: { type: 'enabled', budget_tokens: thinkingTokens } }),
    ...request.extraBody,
  };
}

function choiceTo(choice: ToolChoice): Wire {
  if (typeof choice === 'object') return { type: 'tool', name: choice.name };
  return { type: choice === 'required' ? 'any' : choice };
}

/** Leading system messages belong to the prompt; later ones become text of the user's message next to them. */
function splitSystem({ system, messages }: ApiRequest): { prompt: unknown; messages: WireMessage[] } {
  const firstOther = messages.findIndex((message) => message.role !== 'system');
  const leading = firstOther < 0 ? messages : messages.slice(0, firstOther);
  const own =
    typeof system === 'string' ? (system.trim() === '' ? [] : [{ type: 'text', text: system }]) : (system ?? []);
  const blocks = [...own, ...leading.flatMap(textsOf)]
    .map((block) => onlyKnown(block))
    .filter((block) => !isBlank(block));
  const plain = leading.length === 0 && typeof system === 'string' && blocks.length > 0;
  return {
    prompt: plain ? system : blocks.length > 0 ? blocks : undefined,
    messages: firstOther < 0 ? [] : conversationTo(messages.slice(firstOther)),
  };
}

const isBlank = (block: Wire): boolean => typeof block['text'] === 'string' && block['text'].trim() === '';

const textsOf = (message: ApiMessage): TextBlock[] =>
  typeof message.content === 'string' ? [{ type: 'text', text: message.content }] : message.content.filter(isText);

function conversationTo(messages: readonly ApiMessage[]): WireMessage[] {
  const converted: WireMessage[] = [];
  let waiting: Wire[] = [];
  for (const message of messages) {
    if (message.role === 'system') {
      const notes = textsOf(message).map(({ text }) => ({ type: 'text', text: `<system>\n${text}\n</system>` }));
      const last = converted.at(-1);
      // Behind a user's message: there it separates no call from its results.
      if (last?.role === 'user') converted.splice(-1, 1, joined(last, notes));
      else waiting.push(...notes);
      continue;
    }
    const own = messageTo(message, message.role);
    if (!own) continue;
    const takesNotes = own.role === 'user' && waiting.length > 0;
    converted.push(takesNotes ? joined(own, waiting) : own);
    if (takesNotes) waiting = [];
  }
  if (waiting.length > 0) converted.push({ role: 'user', content: waiting });
  return converted;
}

const joined = ({ role, content }: WireMessage, more: readonly Wire[]): WireMessage => ({
  role,
  content: [...(typeof content === 'string' ? [{ type: 'text', text: content }] : content), ...more],
});

/** Undefined where nothing is left that the vendor takes. */
function messageTo(message: ApiMessage, role: 'user' | 'assistant'): WireMessage | undefined {
  if (typeof message.content === 'string') return { role, content: message.content };
  const content = blocksOf(message).flatMap(blockTo);
  return content.length === 0 && message.content.length > 0 ? undefined : { role, content };
}

function blockTo(block: Block): Wire[] {
  // Thinking that Anthropic didn't sign (another vendor's, or an agent's note of it) is refused.
  if (block.type === 'thinking' && (typeof block['signature'] !== 'string' || block['signature'] === '')) return [];
  if (block.type === REASONING_BLOCK) return [];
  if (isOpenAIBlock(block)) return [{ ...asText(block) }];
  if (isToolResult(block) && Array.isArray(block.content)) {
    return [{ ...onlyKnown(block), content: (block.content as readonly Block[]).flatMap(blockTo) }];
  }
  return [onlyKnown(block)];
}

function onlyKnown(block: Wire): Wire {
  const fields = typeof block['type'] === 'string' ? FIELDS[block['type']] : undefined;
  if (!fields) return withoutInternal(block);
  return Object.fromEntries(fields.filter((field) => block[field] !== undefined).map((field) => [field, block[field]]));
}

const withoutInternal = (value: Wire): Wire =>
  isRecord(value) ? Object.fromEntries(Object.entries(value).filter(([field]) => !INTERNAL.has(field))) : value;
