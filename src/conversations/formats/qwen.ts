/**
 * Sessions of Qwen Code (`~/.qwen/projects/<folder>/chats/<session>.jsonl`) are a tree by `uuid`
 * and `parentUuid`. Sources: QwenLM/qwen-code (chatRecordingService, sessionService:
 * `buildApiHistoryFromConversation`), sessions of 0.21.
 */
import { selectRecordedRequests, type RecordedRequests } from '../../core/account/recordedRequest';
import { isRecord } from '../../core/messages/blocks';
import type { ApiMessage, Block } from '../../core/messages/types';
import { formatPlural } from '../../core/plural';
import { makeSourceId, getSourceName } from '../conversationId';
import { describeOmittedMessages, createNoMessagesError, describeSkippedRecords } from '../notes';
import { type JsonRecord, readJsonLineRecords, findRecordBeforeGap } from '../text/jsonLines';
import { readLines } from '../text/lines';
import { type Fields, stringifyValue, readList, readRecord, readString } from '../text/values';
import { normalizeTitle, makeConversationTitle } from '../title';
import type { Conversation, ReadOptions, InputSource, ConversationNote } from '../types';
import { convertFunctionResponse, convertGeminiContent } from './gemini/messages';
import { QwenRequests } from './qwenRequests';
import { describeUnansweredCalls } from './unanswered';

/** Source: `buildApiHistoryFromConversation`. */
const MESSAGE_RECORD_TYPES: ReadonlySet<unknown> = new Set(['user', 'assistant', 'tool_result']);

/** Qwen's records look like Claude Code's, but have Google's parts. */
export const isQwenRecord = (value: Fields): boolean =>
  typeof value['uuid'] === 'string' &&
  (MESSAGE_RECORD_TYPES.has(value['type'])
    ? Array.isArray(readRecord(value, 'message')?.['parts'])
    : value['type'] === 'system' && 'systemPayload' in value);

/**
 * `active`: the history left by the last compression and what follows.
 * @throws {ConversationReadError} if there are no messages
 */
export function readQwen(input: string | Uint8Array, source: InputSource, options: ReadOptions = {}): Conversation {
  const name = getSourceName(source);
  const notes: ConversationNote[] = [];
  const records: JsonRecord[] = [];
  readJsonLineRecords(readLines(input, name), name, notes, (record) => {
    records.push(record);
  });
  const branch = findActiveBranch(records);
  const unsentCounts = countRecordsNotSentByKind(branch);
  const allMessages = branch.flatMap(convertQwenRecord);
  if (allMessages.length === 0) {
    throw createNoMessagesError(
      name,
      'a Qwen Code session with "user" and "assistant" records',
      unsentCounts.notSent,
      notes,
    );
  }
  const compressionIndex = branch.findLastIndex((value) => value['subtype'] === 'chat_compression');
  const compressedHistory = readCompressedHistory(branch[compressionIndex]);
  const activeMessages = compressedHistory
    ? [...compressedHistory, ...branch.slice(compressionIndex + 1).flatMap(convertQwenRecord)].map(
        ({ message }) => message,
      )
    : undefined;
  const messages =
    options.history === 'all' || !activeMessages ? allMessages.map(({ message }) => message) : activeMessages;
  const id = records.map(({ value }) => readString(value, 'sessionId')).find((each) => each !== undefined);
  const workspace = records.map(({ value }) => readString(value, 'cwd')).find((each) => each !== undefined);
  const parent = records
    .map(({ value }) => readString(readRecord(value, 'systemPayload') ?? {}, 'parentSessionId'))
    .find((each) => each !== undefined);
  const leftOutCount =
    records.filter(({ value }) => MESSAGE_RECORD_TYPES.has(value['type'])).length -
    branch.filter(isMessageRecord).length;
  return {
    id: id === undefined ? makeSourceId(source, input) : `qwen:${id}`,
    format: 'qwen',
    title: findTitle(branch) ?? makeConversationTitle(allMessages.map(({ message }) => message)),
    messages,
    notes: [
      ...notes,
      ...(activeMessages && messages === activeMessages
        ? [
            describeOmittedMessages(
              branch.slice(0, compressionIndex).filter(isMessageRecord).length,
              'before the last compaction',
            ),
          ]
        : []),
      ...(leftOutCount > 0 ? [`Left out: ${formatPlural(leftOutCount, 'message')} on abandoned branches.`] : []),
      ...describeSkippedRecords(new Map([...unsentCounts.unknown, ...unsentCounts.notSent]), unsentCounts.notSent),
      ...describeUnansweredCalls(messages),
    ],
    sidechains: [],
    ...(workspace !== undefined && { workspace }),
    ...(parent !== undefined && { parent: `qwen:${parent}` }),
    ...selectRecordedRequests(options.history, readRecordedRequests(records, allMessages), allMessages.length),
  };
}

function readRecordedRequests(
  records: readonly JsonRecord[],
  allMessages: readonly RecordedMessage[],
): RecordedRequests | undefined {
  const messageIndexByRecord = new Map(allMessages.map(({ record }, index) => [record, index]));
  const requestCollector = new QwenRequests();
  for (const { value } of records) requestCollector.takeRecord(value, messageIndexByRecord.get(value));
  return requestCollector.getResult();
}

const isMessageRecord = (value: Fields): boolean => MESSAGE_RECORD_TYPES.has(value['type']);

function findActiveBranch(records: readonly JsonRecord[]): readonly Fields[] {
  const byId = new Map(records.map((record) => [readString(record.value, 'uuid'), record]));
  const branch: Fields[] = [];
  const seenRecords = new Set<JsonRecord>();
  let record = records.at(-1);
  // A damaged file may contain circular links.
  while (record && !seenRecords.has(record)) {
    seenRecords.add(record);
    branch.push(record.value);
    const parent = readString(record.value, 'parentUuid');
    const mayHaveParent = parent !== undefined || record.gap === record.line;
    record =
      (parent === undefined ? undefined : byId.get(parent)) ??
      (mayHaveParent ? findRecordBeforeGap(records, record) : undefined);
  }
  return branch.reverse();
}

/** `system` records, except compressions, are for the screen or for resuming. */
function countRecordsNotSentByKind(branch: readonly Fields[]): {
  readonly notSent: ReadonlyMap<string, number>;
  readonly unknown: ReadonlyMap<string, number>;
} {
  const notSentByKind = new Map<string, number>();
  const unknownByKind = new Map<string, number>();
  for (const value of branch) {
    const type = readString(value, 'type') ?? 'unnamed';
    const subtype = readString(value, 'subtype');
    if (isMessageRecord(value) || subtype === 'chat_compression') continue;
    const kinds = type === 'system' ? notSentByKind : unknownByKind;
    const kind = [type, subtype].filter((word) => word !== undefined).join(' ');
    kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
  }
  return { notSent: notSentByKind, unknown: unknownByKind };
}

interface RecordedMessage {
  readonly record: Fields;
  readonly message: ApiMessage;
}

function convertQwenRecord(record: Fields): RecordedMessage[] {
  const content = isMessageRecord(record) ? readRecord(record, 'message') : undefined;
  const message = content && toMessage(content, record['type'] === 'assistant');
  return message ? [{ record, message }] : [];
}

function readCompressedHistory(compression: Fields | undefined): RecordedMessage[] | undefined {
  const history = compression && readRecord(compression, 'systemPayload')?.['compressedHistory'];
  if (!Array.isArray(history)) return undefined;
  return history.filter(isRecord).flatMap((content) => {
    const message = toMessage(content, content['role'] === 'model');
    return message ? [{ record: content, message }] : [];
  });
}

function toMessage(content: Fields, isModel: boolean): ApiMessage | undefined {
  const blocks = readList(content, 'parts').flatMap(convertPart);
  const results = blocks.filter(({ type }) => type === 'tool_result');
  const otherBlocks = blocks.filter(({ type }) => type !== 'tool_result');
  if (blocks.length === 0) return undefined;
  return { role: isModel ? 'assistant' : 'user', content: [...results, ...otherBlocks] };
}

function convertPart(part: unknown): Block[] {
  if (!isRecord(part)) return [];
  const thoughtText = part['thought'] === true ? readString(part, 'text') : undefined;
  if (thoughtText !== undefined) return thoughtText.trim() === '' ? [] : [{ type: 'thinking', thinking: thoughtText }];
  const call = readRecord(part, 'functionCall');
  const name = call && readString(call, 'name');
  const id = call && readString(call, 'id');
  if (call && name !== undefined && id !== undefined) {
    return [{ type: 'tool_use', id, name, input: readRecord(call, 'args') ?? {} }];
  }
  const answer = readRecord(part, 'functionResponse');
  const answeredId = answer && readString(answer, 'id');
  if (answer && answeredId !== undefined) {
    const error = readRecord(answer, 'response')?.['error'];
    return error === undefined
      ? [{ type: 'tool_result', tool_use_id: answeredId, content: convertFunctionResponse(part) }]
      : [
          {
            type: 'tool_result',
            tool_use_id: answeredId,
            content: stringifyValue(error) || 'The tool failed.',
            is_error: true,
          },
        ];
  }
  return convertGeminiContent(part);
}

const findTitle = (branch: readonly Fields[]): string | undefined =>
  normalizeTitle(
    branch
      .filter((value) => value['subtype'] === 'custom_title')
      .map((value) => readString(readRecord(value, 'systemPayload') ?? {}, 'customTitle'))
      .findLast((title) => title !== undefined),
  );
