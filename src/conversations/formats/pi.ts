/**
 * Entries form a tree by `id` and `parentId`; the conversation is the path to the last entry.
 * Sources: Pi's docs/session.md and session-manager.ts (versions 1 to 3), Oh My Pi's
 * docs/session.md, recorded sessions.
 */
import {
  selectRecordedRequests,
  type RecordedCompaction,
  type RecordedRequest,
  type RecordedRequests,
} from '../../core/account/recordedRequest';
import { isRecord } from '../../core/messages/blocks';
import { isMachineMessage } from '../../core/messages/personText';
import type { ApiMessage, Block } from '../../core/messages/types';
import { makeSourceId, getSourceName } from '../conversationId';
import { formatPlural } from '../../core/plural';
import { describeOmittedMessages, createNoMessagesError, describeSkippedRecords } from '../notes';
import { type JsonRecord, readJsonLineRecords, findRecordBeforeGap } from '../text/jsonLines';
import { type Line, readLines } from '../text/lines';
import {
  type Fields,
  stringifyValue,
  readCount,
  readList,
  readNumber,
  readRecord,
  readString,
  readTime,
} from '../text/values';
import { makeConversationTitle, normalizeTitle } from '../title';
import type { Conversation, ReadOptions, InputSource, ConversationNote } from '../types';
import type { RequestCollector } from './format';
import { type BlockMessage, splitPromptAtAttachments } from './splitPrompt';
import { describeUnansweredCalls } from './unanswered';

export const isPiRecord = (value: Fields): boolean =>
  (value['type'] === 'session' && readString(value, 'id') !== undefined && 'cwd' in value) ||
  (value['type'] === 'message' && isRecord(value['message']) && 'parentId' in value);

/**
 * `active`: the last compaction's summary, the messages that it kept, and what follows.
 * @throws {ConversationReadError} for a broken line or no messages
 */
export function readPi(input: string | Uint8Array, source: InputSource, options: ReadOptions = {}): Conversation {
  const name = getSourceName(source);
  const notes: ConversationNote[] = [];
  const session = parsePiEntries(readLines(input, name), name, notes);
  const { header, entries, titles } = session;
  const activeEntries = findActivePath(session);
  const messageByEntry = new Map<Fields, ApiMessage>();
  const edits = collectEntryEdits(activeEntries);
  const allMessages = convertPiEntries(applyEntryEdits(activeEntries, edits), messageByEntry);
  const messages =
    options.history === 'all'
      ? allMessages
      : convertPiEntries(applyEntryEdits(selectActiveEntries(activeEntries), edits));
  const skippedByKind = countEntriesNotSentByKind(activeEntries);
  if (allMessages.length === 0) {
    throw createNoMessagesError(name, 'a Pi session with "message" entries', skippedByKind, notes);
  }
  const id = readString(header, 'id');
  const workspace = readString(header, 'cwd');
  const system = activeEntries.map((entry) => readString(entry, 'systemPrompt')).findLast((text) => text !== undefined);
  const leftOutCount = entries.filter(isMessageEntry).length - activeEntries.filter(isMessageEntry).length;
  const removedCount = activeEntries.filter((entry) => edits.get(readString(entry, 'id')) === null).length;
  return {
    id: id === undefined ? makeSourceId(source, input) : `pi:${id}`,
    format: 'pi',
    title: normalizeTitle(titles.at(-1)) ?? makeConversationTitle(allMessages),
    messages,
    notes: [
      ...notes,
      ...(messages.length < allMessages.length
        ? [describeOmittedMessages(allMessages.length - messages.length, 'before the last compaction')]
        : []),
      ...(leftOutCount > 0 ? [`Left out: ${formatPlural(leftOutCount, 'message')} on abandoned branches.`] : []),
      ...(removedCount > 0
        ? [`Left out: ${formatPlural(removedCount, 'message')} taken out of the context (context_edit).`]
        : []),
      ...describeSkippedRecords(skippedByKind, ROLES_NOT_SENT_TO_MODEL),
      ...describeUnansweredCalls(messages),
    ],
    sidechains: [],
    ...(workspace !== undefined && { workspace }),
    ...(system !== undefined && { request: { system } }),
    ...selectRecordedRequests(
      options.history,
      readRecordedRequests(header, entries, activeEntries, allMessages, messageByEntry),
      allMessages.length,
    ),
  };
}

/** Requests on abandoned branches were also paid for. */
function readRecordedRequests(
  header: Fields,
  entries: readonly Fields[],
  path: readonly Fields[],
  allMessages: readonly ApiMessage[],
  owners: ReadonlyMap<Fields, ApiMessage>,
): RecordedRequests | undefined {
  const indexByMessage = new Map(allMessages.map((message, index) => [message, index]));
  const findMessageIndex = (entry: Fields): number | undefined => {
    const ownerMessage = owners.get(entry);
    return ownerMessage && indexByMessage.get(ownerMessage);
  };
  const requestCollector = new PiRequests();
  requestCollector.takeRecord(header);
  for (const entry of entries) requestCollector.takeRecord(entry, findMessageIndex(entry));
  const compactions = path.flatMap((entry): RecordedCompaction[] => {
    const message = entry['type'] === 'compaction' ? findMessageIndex(entry) : undefined;
    if (message === undefined) return [];
    const timeMs = readTime(entry, 'timestamp');
    const tokensBefore = readNumber(entry, 'tokensBefore');
    return [
      { message, ...(timeMs !== undefined && { at: timeMs }), ...(tokensBefore !== undefined && { tokensBefore }) },
    ];
  });
  const recordedRequests = requestCollector.getResult();
  return recordedRequests && { ...recordedRequests, compactions };
}

export class PiRequests implements RequestCollector {
  compactions = 0;
  private readonly requests: RecordedRequest[] = [];
  private header: Fields = {};
  private hasCompactions = false;
  private model: string | undefined;
  private seller: string | undefined;

  takeRecord(entry: Fields, message?: number): void {
    if (entry['type'] === 'session') this.header = entry;
    // Since 1.x a summary's entry contains the usage of the request that made it (CompactionEntry).
    const isCompaction = entry['type'] === 'compaction' || entry['type'] === 'branch_summary';
    if (isCompaction) this.compactions += 1;
    const content = isCompaction ? entry : (readRecord(entry, 'message') ?? {});
    if (entry['type'] === 'model_change') {
      this.model = readString(entry, 'modelId') ?? this.model;
      this.seller = readString(entry, 'provider') ?? this.seller;
    }
    const usage = isCompaction || content['role'] === 'assistant' ? readRecord(content, 'usage') : undefined;
    if (!usage || (!isCompaction && entry['type'] !== 'message')) return;
    this.hasCompactions ||= isCompaction;
    const timeMs = readTime(content, 'timestamp') ?? readTime(entry, 'timestamp');
    const sessionStart = readTime(this.header, 'timestamp');
    const id = readString(entry, 'id');
    // The current model makes a summary, but the summary's entry does not name the model.
    const model = (this.model = readString(content, 'model') ?? this.model);
    const seller = (this.seller = readString(content, 'provider') ?? this.seller);
    const recordedCost = readNumber(readRecord(usage, 'cost') ?? {}, 'total');
    const reasoningTokens = readNumber(usage, 'reasoning') ?? readNumber(usage, 'reasoningTokens');
    this.requests.push({
      ...(timeMs !== undefined && { at: timeMs }),
      ...(model !== undefined && { model }),
      ...(seller !== undefined && { seller }),
      ...(recordedCost !== undefined && { recordedCost }),
      ...(message !== undefined && !isCompaction && { message }),
      // A fork copies entries with their ids and times (session-manager.ts, createBranchedSession
      // and forkFrom).
      ...((id ?? timeMs) !== undefined && { key: `${id ?? timeMs ?? ''} ${JSON.stringify(usage)}` }),
      ...(timeMs !== undefined && sessionStart !== undefined && timeMs < sessionStart && { isCopy: true }),
      usage: {
        accounting: 'anthropic',
        source: 'reported',
        inputTokens: readCount(usage, 'input'),
        outputTokens: readCount(usage, 'output'),
        cacheReadTokens: readCount(usage, 'cacheRead'),
        cacheWriteTokens: readCount(usage, 'cacheWrite'),
        ...(reasoningTokens !== undefined && { reasoningTokens }),
      },
      purpose: isCompaction ? 'compaction' : 'answer',
    });
  }

  getResult(): RecordedRequests | undefined {
    if (this.requests.length === 0) return undefined;
    const id = readString(this.header, 'id');
    const sessionStart = readTime(this.header, 'timestamp');
    return {
      requests: this.requests,
      compactions: [],
      session: {
        keys: 'everywhere',
        ...(id !== undefined && { id }),
        ...(sessionStart !== undefined && { began: sessionStart }),
      },
      ...(this.hasCompactions && { hasCompactions: true }),
    };
  }
}

interface PiEntries {
  readonly header: Fields;
  readonly records: readonly JsonRecord[];
  readonly entries: readonly Fields[];
  readonly titles: readonly string[];
}

function parsePiEntries(input: Iterable<Line>, source: string, notes: ConversationNote[]): PiEntries {
  let header: Fields = {};
  const records: JsonRecord[] = [];
  const titles: string[] = [];
  readJsonLineRecords(input, source, notes, (record) => {
    const { value } = record;
    const title =
      readString(value, 'title') ?? (value['type'] === 'session_info' ? readString(value, 'name') : undefined);
    if (title !== undefined) titles.push(title);
    if (value['type'] === 'session') header = value;
    // Oh My Pi keeps the title in a separate record at the start and overwrites it there.
    else if (value['type'] !== 'title') records.push(record);
  });
  return { header, records, entries: records.map(({ value }) => value), titles };
}

/** Entries of version 1 have no ids; each follows the previous one. */
function findActivePath({ records, entries }: PiEntries): readonly Fields[] {
  if (!entries.some((entry) => readString(entry, 'id') !== undefined)) return entries;
  const byId = new Map(records.map((record) => [readString(record.value, 'id'), record]));
  const activeEntries: Fields[] = [];
  const seenRecords = new Set<JsonRecord>();
  let record = records.at(-1);
  // A damaged file may contain circular links.
  while (record && !seenRecords.has(record)) {
    seenRecords.add(record);
    activeEntries.push(record.value);
    const parent = readString(record.value, 'parentId');
    const mayHaveParent = parent !== undefined || record.gap === record.line;
    record =
      (parent === undefined ? undefined : byId.get(parent)) ??
      (mayHaveParent ? findRecordBeforeGap(records, record) : undefined);
  }
  return activeEntries.reverse();
}

/** Maps an entry to its new content, or null if it was removed; the last edit counts (Pi 1.6). */
const collectEntryEdits = (path: readonly Fields[]): ReadonlyMap<string | undefined, Fields | null> =>
  new Map(
    path.flatMap((entry) =>
      entry['type'] === 'context_edit'
        ? [[readString(entry, 'targetId'), readRecord(entry, 'replacement') ?? null] as const]
        : [],
    ),
  );

/** Unedited entries stay the same objects, because messages are looked up by entry. */
function applyEntryEdits(
  entries: readonly Fields[],
  edits: ReadonlyMap<string | undefined, Fields | null>,
): readonly Fields[] {
  if (edits.size === 0) return entries;
  return entries.flatMap((entry) => {
    const replacement = edits.get(readString(entry, 'id'));
    if (replacement === undefined) return [entry];
    if (replacement === null) return [];
    const { content } = replacement;
    return entry['type'] === 'message'
      ? [{ ...entry, message: { ...readRecord(entry, 'message'), content } }]
      : [{ ...entry, content }];
  });
}

/**
 * Keeps only the newest compaction, with the system message of that time, as `buildSessionContext`
 * does (Pi 1.6).
 */
function selectActiveEntries(path: readonly Fields[]): readonly Fields[] {
  const compactionIndex = path.findLastIndex(({ type }) => type === 'compaction');
  const compaction = path[compactionIndex];
  if (!compaction) return path;
  const firstKeptId = compaction['firstKeptEntryId'];
  const index = compaction['firstKeptEntryIndex'];
  const firstKeptIndex = firstKeptId === undefined ? Number(index) - 1 : path.findIndex(({ id }) => id === firstKeptId);
  const system = readRecord(compaction, 'systemMessage');
  const isKeptEntry = ({ type, message }: Fields): boolean =>
    type !== 'compaction' && !(isRecord(message) && message['role'] === 'system');
  return [
    ...(system ? [{ type: 'message', message: system }] : []),
    compaction,
    ...(firstKeptIndex >= 0 ? path.slice(firstKeptIndex, compactionIndex).filter(isKeptEntry) : []),
    ...path.slice(compactionIndex + 1),
  ];
}

/**
 * The model does not get these entries. Sources: `sessionEntryToContextMessages` of Pi 1.6
 * (session-manager), Oh My Pi's docs/session.md.
 */
const ROLES_NOT_SENT_TO_MODEL: ReadonlySet<string> = new Set([
  'bashExecution',
  'custom',
  'label',
  'mcp_tool_selection',
  'mode_change',
  'model_change',
  'service_tier_change',
  'session_info',
  'session_init',
  'thinking_level_change',
  'ttsr_injection',
  'usage',
]);

const isMessageEntry = (entry: Fields): boolean => convertPiEntry(entry) !== undefined;

function countEntriesNotSentByKind(path: readonly Fields[]): ReadonlyMap<string, number> {
  const countByKind = new Map<string, number>();
  for (const entry of path) {
    if (isMessageEntry(entry) || entry['type'] === 'context_edit') continue;
    const role = entry['type'] === 'message' ? readString(readRecord(entry, 'message') ?? {}, 'role') : undefined;
    const kind = role ?? readString(entry, 'type') ?? 'unnamed';
    countByKind.set(kind, (countByKind.get(kind) ?? 0) + 1);
  }
  return countByKind;
}

/**
 * Joins consecutive tool results into one message.
 * @param owners filled with each entry that starts a message, and that message
 */
function convertPiEntries(entries: readonly Fields[], owners?: Map<Fields, ApiMessage>): ApiMessage[] {
  const messages: ApiMessage[] = [];
  let results: Block[] | undefined;
  for (const entry of entries) {
    const convertedEntry = convertPiEntry(entry);
    if (!convertedEntry || convertedEntry.content.length === 0) continue;
    const isResult = convertedEntry.content.every(({ type }) => type === 'tool_result');
    if (isResult && results) {
      results.push(...convertedEntry.content);
      continue;
    }
    results = isResult ? [...convertedEntry.content] : undefined;
    const [message = convertedEntry, ...rest] = results
      ? [{ ...convertedEntry, content: results }]
      : splitAtFiles(convertedEntry);
    messages.push(message, ...rest);
    owners?.set(entry, message);
  }
  return messages;
}

/**
 * `pi @file "words"` sends one text with the files first (file-processor.ts). A file can contain
 * the closing tag itself, so the last closing tag counts.
 */
const LEADING_FILE_ELEMENT = /^<file name="[^"\n]*">[\s\S]*<\/file>\n/;

function splitAtFiles(message: BlockMessage): readonly BlockMessage[] {
  const [firstBlock, ...otherBlocks] = message.content;
  const text = stringifyValue(firstBlock?.['text']);
  const fileElements = isMachineMessage(message) || message.role !== 'user' ? null : LEADING_FILE_ELEMENT.exec(text);
  if (!fileElements) return [message];
  const filesBlock: Block = { type: 'text', text: fileElements[0] };
  const textAfter = text.slice(fileElements[0].length);
  const textBlocks = textAfter.trim() === '' ? [] : [{ type: 'text', text: textAfter }];
  return splitPromptAtAttachments([filesBlock, ...textBlocks, ...otherBlocks], new Set([filesBlock]));
}

/** Uses the same words as Pi's `convertToLlm`. */
function convertPiEntry(entry: Fields): BlockMessage | undefined {
  switch (entry['type']) {
    case 'message':
      return convertMessage(readRecord(entry, 'message') ?? {});
    case 'custom_message':
      return { role: 'user', content: convertParts(entry['content']), isMeta: true };
    case 'compaction':
      return makeSummaryMessage(
        'The conversation history before this point was compacted into the following summary:',
        entry,
      );
    case 'branch_summary':
      return makeSummaryMessage('The following is a summary of a branch that this conversation came back from:', entry);
    default:
      return undefined;
  }
}

function makeSummaryMessage(heading: string, entry: Fields): BlockMessage | undefined {
  const text = readString(entry, 'summary') ?? '';
  if (text === '') return undefined;
  const content = [{ type: 'text', text: `${heading}\n\n<summary>\n${text}\n</summary>` }];
  return { role: 'user', content, isSummary: true };
}

function convertMessage(message: Fields): BlockMessage | undefined {
  switch (message['role']) {
    case 'user':
      return { role: 'user', content: convertParts(message['content']) };
    case 'assistant':
      return { role: 'assistant', content: convertReply(message) };
    case 'toolResult':
      return { role: 'user', content: convertToolResult(message) };
    case 'developer':
    case 'system':
      return { role: 'system', content: convertParts(message['content']) };
    case 'bashExecution':
      // Pi hides commands run with `!!` from the model.
      return message['excludeFromContext'] === true ? undefined : convertBashExecution(message);
    case 'custom':
    case 'hookMessage':
      return { role: 'user', content: convertParts(message['content']), isMeta: true };
    default:
      return undefined;
  }
}

function convertBashExecution(message: Fields): BlockMessage {
  const output = stringifyValue(message['output']);
  const code = message['exitCode'];
  const text = [
    `Ran \`${stringifyValue(message['command'])}\`\n${output === '' ? '(no output)' : `\`\`\`\n${output}\n\`\`\``}`,
    ...(message['cancelled'] === true ? ['(command cancelled)'] : []),
    ...(typeof code === 'number' && code !== 0 ? [`Command exited with code ${code}`] : []),
  ].join('\n\n');
  return { role: 'user', content: [{ type: 'text', text }], isMeta: true };
}

function convertReply(message: Fields): Block[] {
  // Only the vendor that made a signature can use it. For other vendors, Pi stores field names and
  // ids in the signature's place.
  const isAnthropic = readString(message, 'api')?.startsWith('anthropic') ?? false;
  return listContentParts(message['content']).flatMap((part): Block[] => {
    if (part['type'] === 'thinking') {
      const thinking = readString(part, 'thinking') ?? '';
      const signature = isAnthropic ? readString(part, 'thinkingSignature') : undefined;
      if (part['redacted'] === true && signature !== undefined) return [{ type: 'redacted_thinking', data: signature }];
      return thinking.trim() === '' && (signature ?? '') === ''
        ? []
        : [{ type: 'thinking', thinking, ...(signature !== undefined && { signature }) }];
    }
    if (part['type'] === 'toolCall') {
      const id = readString(part, 'id');
      const tool = readString(part, 'name');
      if (id !== undefined && tool !== undefined)
        return [{ type: 'tool_use', id, name: tool, input: part['arguments'] ?? {} }];
    }
    return convertParts([part]);
  });
}

function convertToolResult(message: Fields): Block[] {
  const id = readString(message, 'toolCallId');
  if (id === undefined) return [];
  const content = convertParts(message['content']);
  return [{ type: 'tool_result', tool_use_id: id, content, ...(message['isError'] === true && { is_error: true }) }];
}

const listContentParts = (content: unknown): Fields[] =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : readList({ content }, 'content').filter(isRecord);

function convertParts(content: unknown): Block[] {
  return listContentParts(content).flatMap((part): Block[] => {
    const text = readString(part, 'text');
    if (part['type'] === 'text' && text !== undefined) return text.trim() === '' ? [] : [{ type: 'text', text }];
    const data = readString(part, 'data');
    // Oh My Pi stores large images in separate files.
    if (part['type'] === 'image' && data !== undefined && !data.startsWith('blob:')) {
      const source = { type: 'base64', media_type: readString(part, 'mimeType') ?? 'image/png', data };
      return [{ type: 'image', source }];
    }
    return [{ type: 'pi_part', part }];
  });
}
