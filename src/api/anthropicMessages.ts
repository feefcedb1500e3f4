/**
 * Anthropic's API rejects unknown fields. So known blocks keep only documented fields, and unknown
 * blocks lose only our own. The API merges consecutive messages of one role.
 */
import { isAnyThinking, isRecord, isToolResult } from '../core/messages/blocks';
import type { ApiMessage, Block } from '../core/messages/types';
import { foldSystemMessages, type FoldedMessages } from '../core/messages/foldSystem';
import { findStartOfUnfinishedTurn } from '../core/messages/task';
import { findModelFamily } from '../core/vendors/families';
import type { AnthropicDialect } from './anthropicDialect';
import { convertUnsupportedToText, isOpenAIBlock, REASONING_BLOCK_TYPE } from './openaiBlocks';
import type { ModelOptions } from './handlerOptions';
import type { ApiRequest, ToolChoice } from './types';

type WireObject = Readonly<Record<string, unknown>>;

interface WireMessage {
  readonly role: 'user' | 'assistant';
  readonly content: string | readonly WireObject[];
}

/** Source: API reference, "Messages" (content block params). */
const ACCEPTED_BLOCK_FIELDS: Readonly<Record<string, readonly string[]>> = {
  text: ['type', 'text', 'cache_control', 'citations'],
  image: ['type', 'source', 'cache_control', 'transformations'],
  document: ['type', 'source', 'cache_control', 'citations', 'context', 'title'],
  search_result: ['type', 'source', 'title', 'content', 'cache_control', 'citations'],
  thinking: ['type', 'thinking', 'signature'],
  redacted_thinking: ['type', 'data'],
  tool_use: ['type', 'id', 'name', 'input', 'cache_control', 'caller'],
  tool_result: ['type', 'tool_use_id', 'content', 'is_error', 'cache_control'],
};

const INTERNAL_FIELDS = new Set([
  'ts',
  'isSummary',
  'condenseId',
  'condenseParent',
  'rawArguments',
  'openai',
  'uuid',
  'timestamp',
]);

export function buildAnthropicBody(request: ApiRequest, model: ModelOptions, dialect: AnthropicDialect): WireObject {
  const { prompt, messages } = separateSystemPrompt(request);
  const { tools, toolChoice, temperature } = request;
  const maxTokens = Math.min(getOutputLimit(request, model), dialect.maxTokens);
  return {
    model: model.id,
    max_tokens: maxTokens,
    ...(prompt !== undefined && { system: prompt }),
    messages,
    ...(tools && tools.length > 0 && { tools: tools.map((tool) => dropInternalFields(tool)) }),
    ...(tools &&
      tools.length > 0 &&
      toolChoice !== undefined && { tool_choice: convertToolChoice(toolChoice, dialect) }),
    ...(temperature !== undefined && { temperature }),
    ...buildThinking(request, maxTokens, dialect),
    ...(request.compact ? buildCompactionFields(request) : request.extraBody),
  };
}

/**
 * A compaction request must not have fields that affect only answers (guide "Compaction on
 * demand").
 */
function buildCompactionFields({ extraBody = {} }: ApiRequest): WireObject {
  const { context_management: _, stop_sequences: __, output_config: output, ...otherFields } = extraBody;
  const effort = isRecord(output) ? output['effort'] : undefined;
  return {
    ...otherFields,
    ...(effort !== undefined && { output_config: { effort } }),
    compaction: { type: 'summarize' },
  };
}

const getOutputLimit = ({ maxOutputTokens }: ApiRequest, model: ModelOptions): number =>
  maxOutputTokens ?? model.maxOutputTokens ?? findModelFamily(model.id)?.maxOutputTokens ?? ASSUMED_OUTPUT_LIMIT_TOKENS;

/**
 * Output limit sent for unknown models. If it is too high, the rejection states the right limit.
 */
const ASSUMED_OUTPUT_LIMIT_TOKENS = 32_000;

/**
 * A change of thinking within a turn would invalidate the prompt cache. With a thinking budget, a
 * turn must start with thinking (guide "Extended thinking with tool use"). If a restart lost it,
 * the rest of the turn runs without any.
 */
function buildThinking(
  { thinkingTokens, messages }: ApiRequest,
  maxTokens: number,
  dialect: AnthropicDialect,
): WireObject {
  const { thinking, display, betas, blockBinding } = dialect;
  if (thinking !== 'unasked' && thinkingTokens === undefined) return {};
  if (thinking !== 'budget') {
    return {
      thinking: {
        type: 'adaptive',
        // Newer models return empty thinking by default, which would lose what they say between
        // calls.
        ...(display && { display: 'summarized' }),
        ...(betas && blockBinding && { block_binding: { prefix_mismatch_behavior: 'drop_block' } }),
      },
    };
  }
  if (thinkingTokens === undefined || !beginsWithThinking(messages)) return {};
  return { thinking: { type: 'enabled', budget_tokens: Math.min(thinkingTokens, maxTokens - 1) } };
}

function beginsWithThinking(messages: readonly ApiMessage[]): boolean {
  const firstMessageOfTurn = messages[findStartOfUnfinishedTurn(messages) + 1];
  if (firstMessageOfTurn?.role !== 'assistant') return true;
  const block = typeof firstMessageOfTurn.content === 'string' ? undefined : firstMessageOfTurn.content[0];
  return block !== undefined && isAnyThinking(block);
}

function convertToolChoice(choice: ToolChoice, { forcedTools }: AnthropicDialect): WireObject {
  if (!forcedTools && choice !== 'none') return { type: 'auto' };
  if (typeof choice === 'object') return { type: 'tool', name: choice.name };
  return { type: choice === 'required' ? 'any' : choice };
}

function separateSystemPrompt({ system, messages }: ApiRequest): { prompt: unknown; messages: WireMessage[] } {
  const foldedMessages = foldSystemMessages(messages);
  const wireMessages = foldedMessages.messages.flatMap(convertMessage);
  if (typeof system === 'string' && foldedMessages.prompt.length === 0) {
    return { prompt: system.trim() === '' ? undefined : system, messages: wireMessages };
  }
  const systemBlocks = typeof system === 'string' ? [{ type: 'text', text: system }] : (system ?? []);
  const blocks = [...systemBlocks, ...foldedMessages.prompt]
    .filter(({ text }) => text.trim() !== '')
    .map(pickKnownFields);
  return { prompt: blocks.length > 0 ? blocks : undefined, messages: wireMessages };
}

function convertMessage({ role, content }: FoldedMessages['messages'][number]): WireMessage[] {
  if (typeof content === 'string') return [{ role, content }];
  const blocks = content.flatMap(convertBlock);
  return blocks.length === 0 && content.length > 0 ? [] : [{ role, content: blocks }];
}

function convertBlock(block: Block): WireObject[] {
  // The API rejects thinking that Anthropic did not sign.
  if (block.type === 'thinking' && (typeof block['signature'] !== 'string' || block['signature'] === '')) return [];
  if (block.type === REASONING_BLOCK_TYPE) return [];
  if (isOpenAIBlock(block)) return [{ ...convertUnsupportedToText(block) }];
  if (isToolResult(block) && Array.isArray(block.content)) {
    return [{ ...pickKnownFields(block), content: (block.content as readonly Block[]).flatMap(convertBlock) }];
  }
  return [pickKnownFields(block)];
}

function pickKnownFields(block: WireObject): WireObject {
  const fields = typeof block['type'] === 'string' ? ACCEPTED_BLOCK_FIELDS[block['type']] : undefined;
  if (!fields) return dropInternalFields(block);
  return Object.fromEntries(fields.filter((field) => block[field] !== undefined).map((field) => [field, block[field]]));
}

const dropInternalFields = (value: WireObject): WireObject =>
  Object.fromEntries(Object.entries(value).filter(([field]) => !INTERNAL_FIELDS.has(field)));
