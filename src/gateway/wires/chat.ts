/**
 * OpenAI's Chat Completions (`POST …/chat/completions`; API reference, "Create chat completion").
 * Leading system and developer messages are the prompt; consecutive results form one user message.
 */
import { convertChatUsage } from '../../api/openaiChat';
import { stringifyValue, convertImageUrl, readString } from '../../conversations/text/values';
import { isRecord } from '../../core/messages/blocks';
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

export const chatWire: WireFormat = {
  name: 'chat',
  list: 'messages',
  read: readChatRequest,
  textPart: (text) => ({ type: 'text', text }),
  userItem: (text) => ({ role: 'user', content: text }),
  usage: ({ usage }, before) => (isRecord(usage) ? convertChatUsage(usage) : before),
  // After the model has started, the status is 200 and the error is in the body or an event
  // (OpenRouter's documentation, "Errors"; for LM Studio, lmstudio-bug-tracker#2322).
  failure: ({ error }) => error,
};

function readChatRequest(body: RequestBody): WireRequest | undefined {
  const { messages, tools, model, max_tokens: maxTokens, max_completion_tokens: maxCompletion } = body;
  if (!Array.isArray(messages)) return undefined;
  const messageList = new MessageListBuilder();
  const system: string[] = [];
  let isLeadingSystemMessage = true;
  for (const [index, message] of (messages as readonly unknown[]).entries()) {
    if (!isRecord(message)) return undefined;
    const path: Path = ['messages', index];
    const { role, content } = message;
    const parts = readChatContent(content, path);
    const isSystem = role === 'system' || role === 'developer';
    isLeadingSystemMessage &&= isSystem;
    if (isLeadingSystemMessage) system.push(...parts.map(({ block }) => stringifyValue(block['text'])));
    else if (isSystem) messageList.addMessage('system', path, parts);
    else if (role === 'user') messageList.addMessage('user', path, parts);
    else if (role === 'assistant')
      messageList.addMessage('assistant', path, [
        ...readChatReasoning(message, path),
        ...parts,
        ...readChatCalls(message, path),
      ]);
    else if (role === 'tool' && typeof message['tool_call_id'] === 'string') {
      messageList.addMessage('user', path, [readChatResult(message['tool_call_id'], content, path)], 'results');
    } else messageList.addMessage('user', path, [makeRawBlock(message, path)]);
  }
  const maxOutputTokens = maxCompletion ?? maxTokens;
  return {
    ...messageList.finishReading(),
    tools: Array.isArray(tools) ? tools : [],
    ...(typeof model === 'string' && { model }),
    ...(system.length > 0 && { system: system.join('\n') }),
    ...(typeof maxOutputTokens === 'number' && { maxOutputTokens }),
  };
}

function readChatContent(content: unknown, path: Path): BlockWithSource[] {
  const contentPath = path.concat('content');
  if (typeof content === 'string') return makeTextBlockWithSource(content, contentPath, contentPath);
  if (!Array.isArray(content)) return [];
  return (content as readonly unknown[]).map((part, index) => readChatPart(part, contentPath.concat(index)));
}

function readChatPart(part: unknown, path: Path): BlockWithSource {
  if (!isRecord(part)) return makeRawBlock(part, path);
  const { type, image_url: image } = part;
  // Mistral also accepts a plain URL (its API reference, "ImageURLChunk").
  const url = isRecord(image) ? readString(image, 'url') : readString(part, 'image_url');
  const text = readString(part, 'text');
  if (type === 'text' && text !== undefined) return makeBlockWithSource({ type: 'text', text }, path);
  if (type === 'image_url' && url !== undefined) {
    return makeBlockWithSource({ type: 'image', source: convertImageUrl(url) }, path, []);
  }
  return makeRawBlock(part, path);
}

/** DeepSeek, Kimi and others require their reasoning back unchanged. */
function readChatReasoning(message: RequestBody, path: Path): BlockWithSource[] {
  const reasoning = readString(message, 'reasoning_content');
  return reasoning ? [makeRawBlock(reasoning, path.concat('reasoning_content'))] : [];
}

function readChatCalls(message: RequestBody, path: Path): BlockWithSource[] {
  const { tool_calls: calls } = message;
  if (!Array.isArray(calls)) return [];
  return (calls as readonly unknown[]).map((call, index) => readChatCall(call, path.concat('tool_calls', index)));
}

function readChatCall(call: unknown, path: Path): BlockWithSource {
  if (!isRecord(call) || typeof call['id'] !== 'string') return makeRawBlock(call, path);
  const { id, function: functionCall, custom } = call;
  const name = isRecord(functionCall) ? functionCall['name'] : isRecord(custom) ? custom['name'] : undefined;
  if (typeof name !== 'string') return makeRawBlock(call, path);
  if (isRecord(functionCall) && typeof functionCall['arguments'] === 'string') {
    const { input, strings } = parseCallInput(functionCall['arguments'], path.concat('function', 'arguments'));
    return makeBlockWithSource({ type: 'tool_use', id, name, input, ...pickCallerField(call) }, path, strings);
  }
  if (isRecord(custom) && typeof custom['input'] === 'string') {
    const inputPath: Path = ['input', 'input'];
    const block: Block = { type: 'tool_use', id, name, input: { input: custom['input'] }, ...pickCallerField(call) };
    return makeBlockWithSource(block, path, [{ from: inputPath, to: path.concat('custom', 'input') }]);
  }
  return makeRawBlock(call, path);
}

function readChatResult(id: string, content: unknown, path: Path): BlockWithSource {
  const contentPath = path.concat('content');
  const parts = readChatContent(content, path);
  const block: Block = { type: 'tool_result', tool_use_id: id, content: parts.map((part) => part.block) };
  const strings =
    typeof content === 'string'
      ? [{ from: ['content', 0, 'text'], to: contentPath }]
      : [{ from: ['content'], to: contentPath }];
  return makeBlockWithSource(block, path, strings);
}
