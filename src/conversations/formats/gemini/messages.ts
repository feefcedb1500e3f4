import { isRecord, isToolResult, isToolUse } from '../../../core/messages/blocks';
import type { ApiMessage, Block } from '../../../core/messages/types';
import { type Fields, stringifyValue, readList, readRecord, readString } from '../../text/values';

export interface GeminiMessages {
  readonly messages: readonly ApiMessage[];
  /** Number of messages for the user (info, error, warning), by type of message. */
  readonly skippedByKind: ReadonlyMap<string, number>;
  readonly places: ReadonlyMap<Fields, number>;
}

/** `model` is not in Gemini CLI's source but was seen in sessions (getagentseal/codeburn#166). */
const ANSWER_TYPES: ReadonlySet<unknown> = new Set(['gemini', 'model']);

export const isModelAnswer = ({ type }: Fields): boolean => ANSWER_TYPES.has(type);

export function convertGeminiRecords(records: readonly Fields[]): GeminiMessages {
  const messages: ApiMessage[] = [];
  const skippedByKind = new Map<string, number>();
  const messageByRecord = new Map<Fields, number>();
  let openCalls = new Set<string>();
  const answeredIds = new Set<string>();
  for (const record of records) {
    const type = readString(record, 'type') ?? 'unnamed';
    if (type === 'user')
      appendBlocks(
        messages,
        'user',
        dropRepeatedResults(convertGeminiContent(record['content']), openCalls, answeredIds),
      );
    else if (isModelAnswer(record)) {
      const calls = readList(record, 'toolCalls').filter(isRecord);
      messageByRecord.set(record, messages.length);
      const blocks = [
        ...convertThoughts(readList(record, 'thoughts')),
        ...convertGeminiContent(record['content']).map(convertFunctionCall),
        ...calls.flatMap(convertToolCall),
      ];
      const results = calls.flatMap(convertCallResult);
      appendBlocks(messages, 'assistant', blocks);
      appendBlocks(messages, 'user', results);
      for (const { tool_use_id: id } of results.filter(isToolResult)) answeredIds.add(id);
      openCalls = new Set(blocks.filter(isToolUse).flatMap(({ id }) => (answeredIds.has(id) ? [] : [id])));
    } else skippedByKind.set(type, (skippedByKind.get(type) ?? 0) + 1);
  }
  return { messages, skippedByKind, places: messageByRecord };
}

/**
 * Since 0.61 a user record repeats results that are also stored with their calls. In a resumed
 * session only the user record has them, but twice.
 * @param openCalls the last answer's unanswered calls; updated
 * @param answeredIds updated
 */
function dropRepeatedResults(
  content: readonly Block[],
  openCalls: Set<string>,
  answeredIds: Set<string>,
): readonly Block[] {
  const results: Block[] = [];
  const otherBlocks: Block[] = [];
  for (const block of content) {
    const id = getResponseId(block);
    if (id !== undefined && openCalls.delete(id)) {
      answeredIds.add(id);
      results.push({ type: 'tool_result', tool_use_id: id, content: convertFunctionResponse(block['part']) });
    } else if (id === undefined || !answeredIds.has(id)) otherBlocks.push(block);
  }
  return [...results, ...otherBlocks];
}

function getResponseId({ type, part }: Block): string | undefined {
  const response = type === 'gemini_part' && isRecord(part) ? readRecord(part, 'functionResponse') : undefined;
  return response && readString(response, 'id');
}

function convertFunctionCall(block: Block): Block {
  const { part } = block;
  const call = block.type === 'gemini_part' && isRecord(part) ? readRecord(part, 'functionCall') : undefined;
  return (call && convertToolCall(call)[0]) ?? block;
}

function appendBlocks(messages: ApiMessage[], role: ApiMessage['role'], content: readonly Block[]): void {
  if (content.length > 0) messages.push({ role, content });
}

function convertThoughts(thoughts: readonly unknown[]): Block[] {
  const thoughtTexts = thoughts.filter(isRecord).map(({ subject, description }) => {
    const heading = stringifyValue(subject);
    return [...(heading === '' ? [] : [`**${heading}**`]), stringifyValue(description)].join('\n').trim();
  });
  const thinking = thoughtTexts.filter((text) => text !== '').join('\n\n');
  return thinking === '' ? [] : [{ type: 'thinking', thinking }];
}

/** Accepts a text, a part, or a list of both (`PartListUnion` of Google's SDK). */
export function convertGeminiContent(content: unknown): Block[] {
  if (Array.isArray(content)) return content.flatMap(convertGeminiContent);
  if (typeof content === 'string') return content.trim() === '' ? [] : [{ type: 'text', text: content }];
  if (!isRecord(content)) return [];
  const text = readString(content, 'text');
  if (text !== undefined) {
    if (text.trim() === '') return [];
    return [content['thought'] === true ? { type: 'thinking', thinking: text } : { type: 'text', text }];
  }
  const media = readRecord(content, 'inlineData');
  const mimeType = media && readString(media, 'mimeType');
  const data = media && readString(media, 'data');
  if (data !== undefined && mimeType !== undefined) {
    const source = { type: 'base64', media_type: mimeType, data };
    if (mimeType.startsWith('image/')) return [{ type: 'image', source }];
    if (mimeType === 'application/pdf') return [{ type: 'document', source }];
  }
  return [{ type: 'gemini_part', part: content }];
}

function convertToolCall(call: Fields): Block[] {
  const id = readString(call, 'id');
  const name = readString(call, 'name');
  return id === undefined || name === undefined
    ? [{ type: 'gemini_part', part: call }]
    : [{ type: 'tool_use', id, name, input: call['args'] ?? {} }];
}

function convertCallResult(call: Fields): Block[] {
  const id = readString(call, 'id');
  const result = call['result'];
  if (id === undefined || readString(call, 'name') === undefined || result === undefined || result === null) return [];
  const parts = Array.isArray(result) ? (result as readonly unknown[]) : [result];
  const content = parts.flatMap(convertFunctionResponse);
  if (call['status'] !== 'error') return [{ type: 'tool_result', tool_use_id: id, content }];
  const reason = content.map(({ text }) => stringifyValue(text)).join('\n');
  return [{ type: 'tool_result', tool_use_id: id, content: reason || 'The tool failed.', is_error: true }];
}

/** A `functionResponse` holds `{output}`, `{error}`, or the tool's own object. */
export function convertFunctionResponse(part: unknown): Block[] {
  const answer = isRecord(part) ? readRecord(part, 'functionResponse') : undefined;
  if (!answer) return convertGeminiContent(part);
  const response = readRecord(answer, 'response') ?? {};
  const text = stringifyValue(response['output'] ?? response['error'] ?? response);
  return [...convertGeminiContent(text), ...convertGeminiContent(answer['parts'])];
}
