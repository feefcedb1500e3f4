/** Detects the format from the content, since file names are not reliable. */
import { AGENT_LIST } from '../core/agents';
import { isRecord } from '../core/messages/blocks';
import type { ConversationReader } from './formats/format';
import { JsonError, scanValue, skipSpace } from './text/json';
import type { Line } from './text/lines';
import type { MessageDocument } from './formats/messageArray';
import { ConversationReadError, describeValue } from './readError';

export type FileLayout = 'document' | 'lines';

/**
 * Returns `lines` if the first line is a complete object, and text follows it or it has no list
 * such as `messages`. A broken first line counts, too, if the next one begins with `{`.
 */
export function detectLayout(lines: Iterable<Line>): FileLayout {
  const [firstLine, secondLine] = takeFirst(lines, 2);
  if (!firstLine) return 'document';
  const text = firstLine.text.trim();
  if (!text.startsWith('{')) return 'document';
  const hasSecondRecord = secondLine?.text.trimStart().startsWith('{') ?? false;
  const end = findEndOfJsonValue(text);
  if (end === undefined) return hasSecondRecord && text !== '{' ? 'lines' : 'document';
  if (secondLine || skipSpace(text, end) < text.length) return 'lines';
  const value: unknown = JSON.parse(text);
  // A single object on one line is a document, unless its kind is only stored as lines.
  if (!isRecord(value)) return 'lines';
  const isText = value['type'] === undefined && typeof value['input'] === 'string';
  return isText || DOCUMENT_FORMAT_FIELDS.some((field) => Array.isArray(value[field])) ? 'document' : 'lines';
}

const DOCUMENT_FORMAT_FIELDS = [
  'messages',
  'requests',
  'steps',
  'history',
  'events',
  'items',
  'loglines',
  'input',
  'output',
  'conversation',
];

const MAX_DETECTION_LINES = 20;

/** Skips damaged lines, since a crash may have damaged the first ones. */
export function detectRecordFormat(
  lines: Iterable<Line>,
  formats: readonly ConversationReader[],
): ConversationReader['lines'] {
  let checkedCount = 0;
  for (const { text } of lines) {
    const value = parseFirstValue(text);
    if (value === undefined) continue;
    const format = isRecord(value) ? formats.find((each) => each.lines?.isRecord(value)) : undefined;
    if (format) return format.lines;
    checkedCount += 1;
    if (checkedCount === MAX_DETECTION_LINES) return undefined;
  }
  return undefined;
}

export const parseFirstRecords = (lines: Iterable<Line>): readonly unknown[] =>
  takeFirst(lines, MAX_DETECTION_LINES).map(({ text }) => parseFirstValue(text));

export const findRecordWithoutType = (values: readonly unknown[]): unknown =>
  values.every((value) => isRecord(value) && value['type'] === undefined) ? values[0] : undefined;

/** A line may hold several values, be cut off, or be padded with NULs. */
function parseFirstValue(line: string): unknown {
  const text = line.replace(/^[\0\s]+/, '').trimEnd();
  const end = findEndOfJsonValue(text);
  return end === undefined ? undefined : (JSON.parse(text.slice(0, end)) as unknown);
}

function takeFirst<T>(values: Iterable<T>, count: number): readonly T[] {
  const takenValues: T[] = [];
  for (const value of values) {
    takenValues.push(value);
    if (takenValues.length === count) break;
  }
  return takenValues;
}

function findEndOfJsonValue(text: string): number | undefined {
  try {
    JSON.parse(text);
    return text.length;
  } catch {
    // The scanner decides whether the line is broken, cut off, or continues.
  }
  try {
    return scanValue(text, 0);
  } catch (error) {
    if (error instanceof JsonError) return undefined;
    throw error;
  }
}

export type DocumentFormat = 'roo' | 'anthropic' | 'openai';

/** @throws {ConversationReadError} if the document has no messages */
export function parseMessageDocument(value: unknown, source: string): MessageDocument {
  const isRequestBody = isRecord(value) && Array.isArray(value['messages']);
  const messages: unknown = isRequestBody ? value['messages'] : value;
  if (!Array.isArray(messages)) {
    throw new ConversationReadError({
      problem: 'unknown-format',
      source,
      found: describeValue(value),
      expected: EXPECTED_FORMATS_TEXT,
    });
  }
  if (messages.length === 0) {
    throw new ConversationReadError({
      problem: 'empty',
      source,
      found: 'a conversation without messages',
      expected: 'at least one message',
    });
  }
  if (messages.every(isUiMessage)) {
    throw new ConversationReadError({
      problem: 'unknown-format',
      source,
      found: 'the messages that Roo or Cline show on screen (ui_messages.json)',
      expected: 'the messages that they send',
      advice: 'Read api_conversation_history.json in the same folder.',
    });
  }
  if (!isRequestBody) return { messages };
  return { messages, request: Object.fromEntries(Object.entries(value).filter(([field]) => field !== 'messages')) };
}

export const EXPECTED_FORMATS_TEXT = `a conversation of ${AGENT_LIST.filter(({ formats }) => formats.length > 0)
  .map(({ name }) => name)
  .join(', ')}, or Anthropic or OpenAI messages`;

const isUiMessage = (message: unknown): boolean =>
  isRecord(message) && message['role'] === undefined && (message['type'] === 'say' || message['type'] === 'ask');

const ROO_MESSAGE_FIELDS = [
  'ts',
  'isSummary',
  'condenseId',
  'condenseParent',
  'truncationId',
  'truncationParent',
  'isTruncationMarker',
];

const OPENAI_ONLY_ROLES: readonly unknown[] = ['tool', 'developer', 'function'];
const OPENAI_ONLY_PARTS: readonly unknown[] = ['image_url', 'input_audio', 'refusal'];

/** Plain text without a system message counts as Anthropic's. */
export function detectDocumentFormat({ messages }: MessageDocument): DocumentFormat {
  const records = messages.filter(isRecord);
  if (records.some(hasOpenAIFields)) return 'openai';
  if (
    records.some((message) => message['type'] === 'reasoning' || ROO_MESSAGE_FIELDS.some((field) => field in message))
  ) {
    return 'roo';
  }
  // System messages in the list mean OpenAI's format, unless there are blocks that only Anthropic
  // has.
  const blocks = records.flatMap(({ content }) => (Array.isArray(content) ? (content as readonly unknown[]) : []));
  const isAnthropic = blocks.some((block) => isRecord(block) && block['type'] !== 'text' && block['type'] !== 'file');
  return !isAnthropic && records.some(({ role }) => role === 'system') ? 'openai' : 'anthropic';
}

function hasOpenAIFields(message: Readonly<Record<string, unknown>>): boolean {
  const { role, content } = message;
  if (OPENAI_ONLY_ROLES.includes(role)) return true;
  if (role === 'assistant' && ('tool_calls' in message || 'function_call' in message || 'refusal' in message))
    return true;
  if (!Array.isArray(content)) return false;
  return content.some((part) => isRecord(part) && OPENAI_ONLY_PARTS.includes(part['type']));
}
