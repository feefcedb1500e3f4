/**
 * Anthropic's Messages API (`POST …/v1/messages`; API reference, "Messages"). Reads string content
 * as a list with one text, since agents vary the form. Omits cache breakpoints, since agents move
 * them.
 */
import { convertAnthropicUsage } from '../../api/anthropicStream';
import { stringifyValue } from '../../conversations/text/values';
import { isRecord } from '../../core/messages/blocks';
import type { Block, Path } from '../../core/messages/types';
import { MessageListBuilder, makeRawBlock, makeBlockWithSource, type BlockWithSource } from './reading';
import type { RequestBody, StringSource, WireFormat, WireRequest } from './wire';

export const anthropicWire: WireFormat = {
  name: 'anthropic',
  list: 'messages',
  read: readAnthropicRequest,
  textPart: (text) => ({ type: 'text', text }),
  userItem: (text) => ({ role: 'user', content: [{ type: 'text', text }] }),
  usage({ usage, message }, before) {
    const reportedUsage = isRecord(message) ? message['usage'] : usage;
    return isRecord(reportedUsage) ? convertAnthropicUsage(reportedUsage, before) : before;
  },
  // Source: Anthropic API reference, "Streaming Messages", "Error events".
  failure: ({ type, error }) => (type === 'error' ? error : undefined),
};

function readAnthropicRequest(body: RequestBody): WireRequest | undefined {
  const { messages, system, tools, model, max_tokens: maxTokens } = body;
  if (!Array.isArray(messages)) return undefined;
  const messageList = new MessageListBuilder();
  for (const [index, message] of (messages as readonly unknown[]).entries()) {
    if (!isRecord(message)) return undefined;
    const { role, content, ...fields } = message;
    if (role !== 'user' && role !== 'assistant' && role !== 'system') return undefined;
    const path: Path = ['messages', index];
    messageList.addMessage(role, path, readAnthropicContent(content, path.concat('content')), undefined, fields);
  }
  const systemText = extractSystemText(system);
  return {
    ...messageList.finishReading(),
    tools: Array.isArray(tools) ? tools : [],
    ...(typeof model === 'string' && { model }),
    ...(systemText !== '' && { system: systemText }),
    ...(typeof maxTokens === 'number' && { maxOutputTokens: maxTokens }),
  };
}

const extractSystemText = (system: unknown): string =>
  typeof system === 'string'
    ? system
    : Array.isArray(system)
      ? (system as readonly unknown[]).map((block) => (isRecord(block) ? stringifyValue(block['text']) : '')).join('\n')
      : '';

function readAnthropicContent(content: unknown, path: Path): BlockWithSource[] {
  if (typeof content === 'string')
    return [makeBlockWithSource({ type: 'text', text: content }, path, [{ from: ['text'], to: path }])];
  if (!Array.isArray(content)) return [];
  return (content as readonly unknown[]).map((block, index) => readAnthropicBlock(block, path.concat(index)));
}

function readAnthropicBlock(value: unknown, path: Path): BlockWithSource {
  if (!isRecord(value) || typeof value['type'] !== 'string') return makeRawBlock(value, path);
  const block = removeCacheMark(value) as Block;
  if (block.type !== 'tool_result') return makeBlockWithSource(block, path);
  const { content } = block;
  const contentPath = path.concat('content');
  if (typeof content === 'string') {
    const strings: StringSource[] = [{ from: ['content', 0, 'text'], to: contentPath }];
    return makeBlockWithSource({ ...block, content: [{ type: 'text', text: content }] }, path, strings);
  }
  if (!Array.isArray(content)) return makeBlockWithSource(block, path);
  return makeBlockWithSource({ ...block, content: (content as readonly unknown[]).map(removeCacheMark) }, path);
}

function removeCacheMark(value: unknown): unknown {
  if (!isRecord(value) || !('cache_control' in value)) return value;
  const fieldsWithoutMark: Record<string, unknown> = { ...value };
  delete fieldsWithoutMark['cache_control'];
  return fieldsWithoutMark;
}
