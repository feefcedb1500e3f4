/**
 * `convertToOpenAI(convertFromOpenAI(x))` equals `x`, including key order. A field `openai` keeps
 * the original object, in which converted values are replaced by empty ones. What isn't understood
 * stays whole in a block `openai_message`, `openai_call` or `openai_part`. Messages from other
 * formats lose thinking and `is_error`.
 */
import { isRecord, isToolResult, isToolUse } from '../../../core/messages/blocks';
import type { ApiMessage, Block, Role, ToolResultBlock, ToolUseBlock } from '../../../core/messages/types';
import { makeSourceId, getSourceName } from '../../conversationId';
import { MAX_JSON_DEPTH, isDeeperThan } from '../../text/json';
import { type MessageDocument, addSourceToShapeErrors, pickRequestFields } from '../messageArray';
import { MessageShapeError } from '../messageShape';
import { type OpenAIRecord, renderArguments, parseArguments } from './arguments';
import { convertPartFromOpenAI, convertPartToOpenAI } from './parts';
import { makeConversationTitle } from '../../title';
import type { Conversation, InputSource } from '../../types';
import { describeUnansweredCalls } from '../unanswered';

/** @throws {ConversationReadError} for a malformed message */
export function readOpenAI(document: MessageDocument, source: InputSource, input: string | Uint8Array): Conversation {
  const openaiMessages = addSourceToShapeErrors(getSourceName(source), () =>
    document.messages.map((message, index) => checkOpenAIMessage(message, `messages[${index}]`)),
  );
  const messages = convertFromOpenAI(openaiMessages);
  return {
    id: makeSourceId(source, input),
    format: 'openai',
    title: makeConversationTitle(messages),
    messages,
    notes: describeUnansweredCalls(messages),
    sidechains: [],
    ...pickRequestFields(document),
  };
}

/** @throws {MessageShapeError} */
export function checkOpenAIMessage(message: unknown, path: string): OpenAIRecord {
  if (!isRecord(message)) throw new MessageShapeError(path, message, 'a message: an object with "role"');
  if (isDeeperThan(message, MAX_JSON_DEPTH))
    throw new MessageShapeError(path, message, `at most ${MAX_JSON_DEPTH} levels of nesting`);
  const { role, content, tool_calls: calls, tool_call_id: callId } = message;
  if (typeof role !== 'string') throw new MessageShapeError(`${path}.role`, role, 'the role, a string');
  if (content !== undefined && content !== null && typeof content !== 'string' && !Array.isArray(content)) {
    throw new MessageShapeError(`${path}.content`, content, 'a string, an array of parts or null');
  }
  if (calls !== undefined && calls !== null && !Array.isArray(calls)) {
    throw new MessageShapeError(`${path}.tool_calls`, calls, 'an array of calls');
  }
  if (role === 'tool' && typeof callId !== 'string') {
    throw new MessageShapeError(`${path}.tool_call_id`, callId, 'the id of the call, a string');
  }
  return message;
}

/**
 * Joins consecutive results into one user message, as Anthropic's API wants. Never rejects a
 * message.
 */
export function convertFromOpenAI(messages: readonly OpenAIRecord[]): ApiMessage[] {
  const convertedMessages: ApiMessage[] = [];
  let results: Block[] | undefined;
  for (const message of messages) {
    const result = convertResultFromOpenAI(message);
    if (!result) {
      results = undefined;
      convertedMessages.push(convertMessageFromOpenAI(message));
    } else if (results) {
      results.push(result);
    } else {
      results = [result];
      convertedMessages.push({ role: 'user', content: results });
    }
  }
  return convertedMessages;
}

export const convertToOpenAI = (messages: readonly ApiMessage[]): OpenAIRecord[] =>
  messages.flatMap(convertMessageToOpenAI);

const ROLE_BY_OPENAI_ROLE: ReadonlyMap<unknown, Role> = new Map([
  ['system', 'system'],
  ['developer', 'system'],
  ['user', 'user'],
  ['assistant', 'assistant'],
]);

const hasOnlyKeys = (value: OpenAIRecord, ...keys: readonly string[]): boolean => {
  const ownKeys = Object.keys(value);
  return ownKeys.length === keys.length && keys.every((key, index) => ownKeys[index] === key);
};

function convertMessageFromOpenAI(message: OpenAIRecord): ApiMessage {
  const value: unknown = message;
  if (!isRecord(value)) return wrapUnknownMessage(message);
  const { role: rawRole, content, tool_calls: rawCalls } = message;
  const role = ROLE_BY_OPENAI_ROLE.get(rawRole);
  const isContentValid =
    content === undefined || content === null || typeof content === 'string' || Array.isArray(content);
  if (role === undefined || !isContentValid) return wrapUnknownMessage(message);

  const calls = role === 'assistant' && Array.isArray(rawCalls) ? (rawCalls as readonly unknown[]) : [];
  const messageWithoutContent = {
    ...message,
    ...('content' in message && { content: makeEmptyContentLike(content) }),
    ...(calls.length > 0 && { tool_calls: [] }),
  };
  const isPlain = hasOnlyKeys(message, 'role', 'content') && role === rawRole && content !== null;
  return {
    role,
    content:
      typeof content === 'string' && calls.length === 0
        ? content
        : [...convertPartsFromOpenAI(content), ...calls.map((call) => convertCallFromOpenAI(call))],
    ...(!isPlain && { openai: messageWithoutContent }),
  };
}

const wrapUnknownMessage = (message: OpenAIRecord): ApiMessage => ({
  role: 'user',
  content: [{ type: 'openai_message', message }],
});

function convertPartsFromOpenAI(content: unknown): Block[] {
  if (Array.isArray(content)) return (content as readonly unknown[]).map((part) => convertPartFromOpenAI(part));
  return typeof content === 'string' && content !== '' ? [{ type: 'text', text: content }] : [];
}

/** Marks where converted content was, so that it can be put back. */
function makeEmptyContentLike(content: unknown): unknown {
  if (typeof content === 'string') return '';
  return Array.isArray(content) ? [] : content;
}

function convertCallFromOpenAI(call: unknown): Block {
  const unknownCall: Block = { type: 'openai_call', call };
  if (!isRecord(call) || typeof call['id'] !== 'string') return unknownCall;
  const { id, function: functionCall, custom } = call;
  if (
    isRecord(functionCall) &&
    typeof functionCall['name'] === 'string' &&
    typeof functionCall['arguments'] === 'string'
  ) {
    const { name, arguments: rawArguments } = functionCall;
    const isPlain = hasOnlyKeys(call, 'id', 'type', 'function') && call['type'] === 'function';
    return {
      type: 'tool_use',
      id,
      name,
      input: parseArguments(rawArguments),
      rawArguments,
      ...(!(isPlain && hasOnlyKeys(functionCall, 'name', 'arguments')) && {
        openai: { ...call, id: '', function: { ...functionCall, name: '', arguments: '' } },
      }),
    };
  }
  // A custom tool's input is text without a schema.
  if (
    functionCall === undefined &&
    isRecord(custom) &&
    typeof custom['name'] === 'string' &&
    typeof custom['input'] === 'string'
  ) {
    return {
      type: 'tool_use',
      id,
      name: custom['name'],
      input: { input: custom['input'] },
      openai: { ...call, id: '', custom: { ...custom, name: '', input: '' } },
    };
  }
  return unknownCall;
}

function convertCallToOpenAI(block: Block): unknown {
  if (!isToolUse(block)) return block['call'];
  const { id, name, openai } = block;
  const openaiCall = isRecord(openai) ? openai : undefined;
  if (openaiCall && isRecord(openaiCall['custom']) && !isRecord(openaiCall['function'])) {
    return { ...openaiCall, id, custom: { ...openaiCall['custom'], name, input: getCustomInput(block) } };
  }
  const functionCall = { name, arguments: renderArguments(block) };
  if (!openaiCall) return { id, type: 'function', function: functionCall };
  return {
    ...openaiCall,
    id,
    function: { ...(isRecord(openaiCall['function']) && openaiCall['function']), ...functionCall },
  };
}

function getCustomInput({ input }: ToolUseBlock): string {
  if (isRecord(input) && typeof input['input'] === 'string' && hasOnlyKeys(input, 'input')) return input['input'];
  return JSON.stringify(input);
}

function convertResultFromOpenAI(message: OpenAIRecord): ToolResultBlock | undefined {
  const value: unknown = message;
  if (!isRecord(value) || message['role'] !== 'tool' || typeof message['tool_call_id'] !== 'string') return undefined;
  const { content, tool_call_id: id } = message;
  if (content !== undefined && content !== null && typeof content !== 'string' && !Array.isArray(content)) {
    return undefined;
  }
  const isPlain = hasOnlyKeys(message, 'role', 'tool_call_id', 'content') && content !== null;
  return {
    type: 'tool_result',
    tool_use_id: id,
    ...(typeof content === 'string' && { content }),
    ...(Array.isArray(content) && { content: convertPartsFromOpenAI(content) }),
    ...(!isPlain && {
      openai: {
        ...message,
        tool_call_id: '',
        ...('content' in message && { content: makeEmptyContentLike(content) }),
      },
    }),
  };
}

function convertResultToOpenAI({ tool_use_id: id, content, openai }: ToolResultBlock): OpenAIRecord {
  const convertedContent = typeof content === 'string' ? content : content?.map((block) => convertPartToOpenAI(block));
  if (!isRecord(openai)) return { role: 'tool', tool_call_id: id, content: convertedContent ?? '' };
  return { ...openai, tool_call_id: id, ...(convertedContent !== undefined && { content: convertedContent }) };
}

function convertMessageToOpenAI(message: ApiMessage): OpenAIRecord[] {
  const { role, content, openai } = message;
  const openaiMessage = isRecord(openai) ? openai : undefined;
  if (typeof content === 'string') return [openaiMessage ? { ...openaiMessage, content } : { role, content }];
  const [first] = content;
  if (first?.type === 'openai_message' && content.length === 1) return [first['message'] as OpenAIRecord];

  const results = role === 'user' ? content.filter(isToolResult) : [];
  const calls = role === 'assistant' ? content.filter((block) => isToolUse(block) || block.type === 'openai_call') : [];
  const convertedBlocks = new Set<Block>([...results, ...calls]);
  const otherBlocks = content.filter((block) => !convertedBlocks.has(block) && !isReasoning(block));
  const toolMessages = results.map((result) => convertResultToOpenAI(result));
  if (toolMessages.length > 0 && otherBlocks.length === 0 && !openaiMessage) return toolMessages;
  const toolCalls = calls.map((call) => convertCallToOpenAI(call));
  const value = convertContentToOpenAI(otherBlocks, openaiMessage, toolCalls.length > 0);
  return [
    ...toolMessages,
    {
      ...(openaiMessage ?? { role }),
      ...(value !== undefined && { content: value }),
      ...(toolCalls.length > 0 && { tool_calls: toolCalls }),
    },
  ];
}

const isReasoning = ({ type }: Block): boolean => type === 'thinking' || type === 'redacted_thinking';

function convertContentToOpenAI(blocks: readonly Block[], shell: OpenAIRecord | undefined, hasCalls: boolean): unknown {
  const contentShape = shell ? shell['content'] : hasCalls ? null : [];
  if (Array.isArray(contentShape)) return blocks.map((block) => convertPartToOpenAI(block));
  if (blocks.length === 0) return contentShape;
  const [only] = blocks;
  const isPlain = blocks.length === 1 && only && hasOnlyKeys(only, 'type', 'text') && only.type === 'text';
  return isPlain ? only['text'] : blocks.map((block) => convertPartToOpenAI(block));
}
