/**
 * OpenAI's Responses API (`POST …/responses`). Forwards requests with stored state
 * (`previous_response_id`, `conversation`) unchanged. Instructions, tool declarations and leading
 * developer messages are the prompt. Consecutive model items form one message, and so do results.
 * Source: OpenAI API reference, "Create a model response"; items as sent by Codex.
 */
import { convertResponsesUsage } from '../../api/openaiResponses';
import { stringifyValue, convertImageUrl, readString } from '../../conversations/text/values';
import { REASONING_BLOCK_TYPE, isRecord } from '../../core/messages/blocks';
import type { Block, Path } from '../../core/messages/types';
import { pickCallerField } from '../../core/messages/programs';
import { parseCallInput } from './callInput';
import {
  MessageListBuilder,
  makeRawBlock,
  makeBlockWithSource,
  makeTextBlockWithSource,
  type BlockWithSource,
} from './reading';
import type { RequestBody, WireFormat, WireRequest } from './wire';

export const responsesWire: WireFormat = {
  name: 'responses',
  list: 'input',
  read: readResponsesRequest,
  textPart: (text) => ({ type: 'input_text', text }),
  userItem: (text) => ({ type: 'message', role: 'user', content: [{ type: 'input_text', text }] }),
  usage({ usage, response }, before) {
    const reportedUsage = isRecord(response) ? response['usage'] : usage;
    return isRecord(reportedUsage) ? convertResponsesUsage(reportedUsage) : before;
  },
  /**
   * If the prompt is too long, OpenAI responds 200 and then sends `response.failed` with
   * `response.error` (openai/codex#4675). An `error` event before it has the fields at its top
   * level (API reference, "Streaming events") or in `error` (vercel/ai#15922).
   */
  failure(event) {
    const { type, error, response } = event;
    if (isRecord(response)) return response['error'];
    return type === 'error' ? (error ?? event) : error;
  },
};

/** User-side items that are not messages. */
const RESULT_ITEM_TYPES = new Set<unknown>([
  'function_call_output',
  'custom_tool_call_output',
  'local_shell_call_output',
]);

function readResponsesRequest(body: RequestBody): WireRequest | undefined {
  const { input, instructions, tools, model, max_output_tokens: maxTokens } = body;
  if (isPresent(body['previous_response_id']) || isPresent(body['conversation']) || !Array.isArray(input))
    return undefined;
  const messageList = new MessageListBuilder();
  const system: string[] = typeof instructions === 'string' ? [instructions] : [];
  const declaredTools: unknown[] = Array.isArray(tools) ? [...(tools as readonly unknown[])] : [];
  let isLeadingSystemMessage = true;
  for (const [index, item] of (input as readonly unknown[]).entries()) {
    if (!isRecord(item)) return undefined;
    const path: Path = ['input', index];
    const { type = 'message', role } = item;
    if (type === 'additional_tools') {
      declaredTools.push(item);
      continue;
    }
    const isSystem = type === 'message' && (role === 'system' || role === 'developer');
    isLeadingSystemMessage &&= isSystem;
    if (type === 'message' && role !== 'assistant') {
      const parts = readResponsesContent(item['content'], path.concat('content'));
      if (isLeadingSystemMessage) system.push(...parts.map(({ block }) => stringifyValue(block['text'])));
      else messageList.addMessage(isSystem ? 'system' : 'user', path, parts);
    } else if (RESULT_ITEM_TYPES.has(type))
      messageList.addMessage('user', path, [readResultItem(item, path)], 'results');
    else messageList.addMessage('assistant', path, readReplyItem(item, path), 'reply');
  }
  return {
    ...messageList.finishReading(),
    tools: declaredTools,
    ...(typeof model === 'string' && { model }),
    ...(system.length > 0 && { system: system.join('\n') }),
    ...(typeof maxTokens === 'number' && { maxOutputTokens: maxTokens }),
  };
}

const isPresent = (value: unknown): boolean => value !== undefined && value !== null;

/** Reads an item of the model. Unknown items, such as vendor searches and compactions, are kept. */
function readReplyItem(item: RequestBody, path: Path): BlockWithSource[] {
  const id = readString(item, 'call_id');
  const name = readString(item, 'name');
  const args = readString(item, 'arguments');
  const text = readString(item, 'input');
  switch (item['type'] ?? 'message') {
    case 'message':
      return readResponsesContent(item['content'], path.concat('content'));
    case 'reasoning':
      return [makeBlockWithSource({ type: REASONING_BLOCK_TYPE, item }, path, [])];
    case 'function_call':
      if (id !== undefined && name !== undefined && args !== undefined) {
        const { input, strings } = parseCallInput(args, path.concat('arguments'));
        return [makeBlockWithSource({ type: 'tool_use', id, name, input, ...pickCallerField(item) }, path, strings)];
      }
      break;
    case 'custom_tool_call':
      if (id !== undefined && name !== undefined && text !== undefined) {
        const block: Block = { type: 'tool_use', id, name, input: { input: text }, ...pickCallerField(item) };
        return [makeBlockWithSource(block, path, [{ from: ['input', 'input'], to: path.concat('input') }])];
      }
      break;
    case 'local_shell_call':
      if (id !== undefined) {
        const block: Block = {
          type: 'tool_use',
          id,
          name: 'local_shell',
          input: item['action'] ?? {},
          ...pickCallerField(item),
        };
        return [makeBlockWithSource(block, path, [{ from: ['input'], to: path.concat('action') }])];
      }
  }
  return [makeRawBlock(item, path)];
}

function readResultItem(item: RequestBody, path: Path): BlockWithSource {
  const id = readString(item, 'call_id');
  if (id === undefined) return makeRawBlock(item, path);
  const { output } = item;
  const outputPath = path.concat('output');
  const parts = readResponsesContent(output, outputPath);
  const content = parts.map((part) => part.block);
  const block: Block = { type: 'tool_result', tool_use_id: id, content, ...pickCallerField(item) };
  const strings =
    typeof output === 'string'
      ? [{ from: ['content', 0, 'text'], to: outputPath }]
      : [{ from: ['content'], to: outputPath }];
  return makeBlockWithSource(block, path, strings);
}

function readResponsesContent(content: unknown, path: Path): BlockWithSource[] {
  if (typeof content === 'string') return makeTextBlockWithSource(content, path, path);
  if (!Array.isArray(content)) return [];
  return (content as readonly unknown[]).map((part, index) => readResponsesPart(part, path.concat(index)));
}

const TEXT_PART_TYPES = new Set<unknown>(['input_text', 'output_text', 'text']);

function readResponsesPart(part: unknown, path: Path): BlockWithSource {
  if (!isRecord(part)) return makeRawBlock(part, path);
  const text = readString(part, 'text');
  if (TEXT_PART_TYPES.has(part['type']) && text !== undefined) return makeBlockWithSource({ type: 'text', text }, path);
  const url = readString(part, 'image_url');
  if (part['type'] === 'input_image' && url !== undefined) {
    return makeBlockWithSource({ type: 'image', source: convertImageUrl(url) }, path, []);
  }
  return makeRawBlock(part, path);
}
