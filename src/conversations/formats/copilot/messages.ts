import { isRecord, isToolUse } from '../../../core/messages/blocks';
import type { ApiMessage, Block, ToolUseBlock } from '../../../core/messages/types';
import type { CopilotEvent } from './events';
import { parseArguments } from '../openai/arguments';
import type { RecordedRequest } from '../../../core/account/recordedRequest';
import { type Fields, stringifyValue, readList, readNumber, readString } from '../../text/values';

export interface CopilotMessages {
  readonly messages: readonly ApiMessage[];
  /** Copilot stores the latest system prompt whole with each prompt of the user. */
  readonly system: string | undefined;
  /** Index of the first message that the next request would hold; 0 without a compaction. */
  readonly activeFrom: number;
  /** Number of tool results whose content was not stored, only the outcome. */
  readonly withoutResult: number;
  readonly answers: readonly CopilotAnswer[];
}

export interface CopilotAnswer {
  readonly request: RecordedRequest;
  readonly record: number | undefined;
}

export function convertCopilotEvents(events: readonly CopilotEvent[]): CopilotMessages {
  const messages: ApiMessage[] = [];
  const calledIds = new Set<string>();
  let results: Block[] | undefined;
  let compactionStart: number | undefined;
  let activeStart = 0;
  let callsWithoutResult = 0;
  let system: string | undefined;
  const recordedAnswers: CopilotAnswer[] = [];
  for (const { type, data, at, request: record } of events) {
    switch (type) {
      case 'tool.execution_start': {
        const call = convertToolCall(data, readString(data, 'toolName'));
        if (!call || calledIds.has(call.id)) break;
        calledIds.add(call.id);
        appendCall(messages, call);
        results = undefined;
        break;
      }
      case 'tool.execution_complete': {
        const result = convertToolResult(data);
        if (!result) break;
        if (result['content'] === undefined) callsWithoutResult += 1;
        if (results) results.push(result);
        else messages.push({ role: 'user', content: (results = [result]) });
        break;
      }
      case 'session.compaction_start':
        compactionStart = messages.length;
        break;
      case 'session.compaction_complete': {
        const summary = readString(data, 'summaryContent') ?? '';
        if (data['success'] === false || summary === '') break;
        // The summary does not cover messages written while it was being made, so they follow it.
        activeStart = compactionStart ?? messages.length;
        messages.splice(activeStart, 0, { role: 'user', content: summary, isSummary: true });
        for (const [index, answer] of recordedAnswers.entries()) {
          const { message } = answer.request;
          if (message !== undefined && message >= activeStart)
            recordedAnswers[index] = { ...answer, request: { ...answer.request, message: message + 1 } };
        }
        results = undefined;
        break;
      }
      case 'session.context_cleared':
        activeStart = messages.length;
        break;
      case 'system.message':
        system = stringifyValue(data['content']);
        break;
      default: {
        const message = convertMessageEvent(type, data);
        for (const block of message.content) if (isToolUse(block)) calledIds.add(block.id);
        if (type === 'assistant.message') {
          const index = message.content.length > 0 ? messages.length : undefined;
          recordedAnswers.push({ request: convertRequestEvent(data, at, index), record });
        }
        if (message.content.length > 0) messages.push(message);
        results = undefined;
      }
    }
  }
  return {
    messages,
    system,
    activeFrom: Math.min(activeStart, Math.max(messages.length - 1, 0)),
    withoutResult: callsWithoutResult,
    answers: recordedAnswers,
  };
}

function convertRequestEvent(data: Fields, at: number | undefined, message: number | undefined): RecordedRequest {
  const model = readString(data, 'model');
  const outputTokens = readNumber(data, 'outputTokens');
  return {
    ...(at !== undefined && { at }),
    ...(model !== undefined && { model }),
    ...(outputTokens !== undefined && { outputTokens }),
    ...(message !== undefined && { message }),
    seller: 'github-copilot',
    purpose: 'answer',
  };
}

/** Some calls are in no message because Copilot only stored them when they ran. */
function appendCall(messages: ApiMessage[], call: ToolUseBlock): void {
  const lastMessage = messages.at(-1);
  if (lastMessage?.role === 'assistant' && typeof lastMessage.content !== 'string') {
    messages.splice(-1, 1, { ...lastMessage, content: [...lastMessage.content, call] });
  } else messages.push({ role: 'assistant', content: [call] });
}

function convertMessageEvent(type: string, data: Fields): ApiMessage & { readonly content: readonly Block[] } {
  if (type === 'assistant.message') return { role: 'assistant', content: toReplyBlocks(data) };
  const attachments = readList(data, 'attachments');
  return {
    role: 'user',
    // The record contains the prompt as typed and as sent; the sent text is used.
    content: toTextBlocks(data['transformedContent'] ?? data['content']),
    ...(attachments.length > 0 && { attachments }),
  };
}

function toReplyBlocks(data: Fields): Block[] {
  const reasoningText = readString(data, 'reasoningText') ?? '';
  const calls = readList(data, 'toolRequests').flatMap((request) => {
    const call = isRecord(request) ? convertToolCall(request, readString(request, 'name')) : undefined;
    return call ? [call] : [];
  });
  return [
    ...(reasoningText.trim() === '' ? [] : [{ type: 'thinking', thinking: reasoningText }]),
    ...toTextBlocks(data['content']),
    ...calls,
  ];
}

function toTextBlocks(content: unknown): Block[] {
  const text = stringifyValue(content);
  return text.trim() === '' ? [] : [{ type: 'text', text }];
}

function convertToolCall(data: Fields, name: string | undefined): ToolUseBlock | undefined {
  const id = readString(data, 'toolCallId');
  if (id === undefined || name === undefined) return undefined;
  const { arguments: rawArguments } = data;
  if (typeof rawArguments !== 'string') {
    return {
      type: 'tool_use',
      id,
      name,
      input: isRecord(rawArguments) ? rawArguments : { input: rawArguments ?? null },
    };
  }
  return { type: 'tool_use', id, name, input: parseArguments(rawArguments), rawArguments };
}

function convertToolResult(data: Fields): Block | undefined {
  const id = readString(data, 'toolCallId');
  if (id === undefined) return undefined;
  const content = convertResultContent(data['result']);
  if (data['success'] !== false) return { type: 'tool_result', tool_use_id: id, ...(content && { content }) };
  const error = data['error'];
  const reason = isRecord(error) ? readString(error, 'message') : readString(data, 'error');
  return {
    type: 'tool_result',
    tool_use_id: id,
    content: reason ?? (typeof content === 'string' ? content : 'The tool failed.'),
    is_error: true,
  };
}

/** A result is text, parts, or the tool's own object (JetBrains, older versions). */
function convertResultContent(result: unknown): string | Block[] | undefined {
  if (result === undefined || result === null) return undefined;
  if (!isRecord(result)) return stringifyValue(result);
  const images = readList(result, 'contents').flatMap(convertImagePart);
  const resultParts = result['content'] ?? result['result'];
  const text = Array.isArray(resultParts)
    ? resultParts
        .map((part) => (isRecord(part) ? stringifyValue(part['text'] ?? part['value'] ?? part) : stringifyValue(part)))
        .join('\n')
    : stringifyValue(resultParts ?? result);
  return images.length > 0 ? [...toTextBlocks(text), ...images] : text;
}

function convertImagePart(part: unknown): Block[] {
  if (!isRecord(part) || part['type'] !== 'image') return [];
  const data = readString(part, 'data');
  const source = { type: 'base64', media_type: readString(part, 'mimeType') ?? 'image/png', data };
  return data === undefined ? [] : [{ type: 'image', source }];
}
