import { dirname, join } from 'node:path';
import { getBlocks, isRecord, isToolResult } from '../../../core/messages/blocks';
import { type Fields, readList, readString } from '../../text/values';
import { type ActiveBranch, findActiveBranch } from './branch';
import { joinRecordsIntoMessages } from './join';
import { resolveRecords, addQueuedPrompts } from './resolve';
import { describeRecordsNotSentToModel } from './unsentRecords';
import { type ClaudeCodeRecord, isPrintedLogRecord, parseRecords } from './record';
import { selectRecordedRequests } from '../../../core/account/recordedRequest';
import { readRecordedRequests } from './recordedRequests';
import { makeSourceId, getSourceName } from '../../conversationId';
import { readLines } from '../../text/lines';
import { formatPlural } from '../../../core/plural';
import { describeOmittedMessages, createNoMessagesError } from '../../notes';
import type { ConversationReadError } from '../../readError';
import { normalizeTitle, makeConversationTitle } from '../../title';
import { describeUnansweredCalls } from '../unanswered';
import type { Conversation, ReadOptions, Sidechain, InputSource, ConversationNote } from '../../types';

export const isClaudeCodeRecord = (value: Fields): boolean =>
  typeof value['type'] === 'string' &&
  ('uuid' in value || 'sessionId' in value || (isPrintedLogRecord(value) && PRINTED_RECORD_TYPES.has(value['type']))) &&
  !isIflowRecord(value);

/** `--output-format stream-json` prints these records. */
const PRINTED_RECORD_TYPES: ReadonlySet<unknown> = new Set(['system', 'user', 'assistant', 'result', 'stream_event']);

/** iFlow's records look the same but have other session ids, and results in Google's form. */
export const isIflowRecord = (value: Fields): boolean =>
  /^session-[0-9a-f]{8}-[0-9a-f]{4}-/.test(readString(value, 'sessionId') ?? '');

const isClaudeWebExport = (value: unknown): value is Fields =>
  isRecord(value) && Array.isArray(value['loglines']) && value['loglines'].every(isRecord);

/** `--output-format json --verbose` prints a log as one list; claude-code-action keeps it. */
const isClaudeRecordList = (value: unknown): value is readonly Fields[] =>
  Array.isArray(value) &&
  value.length > 0 &&
  value.every((record) => isRecord(record) && isPrintedLogRecord(record) && isClaudeCodeRecord(record));

export const asClaudeWebExport = (value: unknown): Fields | undefined =>
  isClaudeRecordList(value) ? { loglines: value } : isClaudeWebExport(value) ? value : undefined;

export const convertWebExportToLines = (value: Fields): string =>
  readList(value, 'loglines')
    .map((record) => JSON.stringify(record))
    .join('\n');

/**
 * `active`: the newest branch after the last compact boundary.
 * @throws {ConversationReadError} for damaged lines, malformed messages, or no messages
 */
export function readClaudeCode(
  input: string | Uint8Array,
  source: InputSource,
  options: ReadOptions = {},
): Conversation {
  const {
    records: parsedRecords,
    notes,
    requests,
  } = parseRecords(readLines(input, getSourceName(source)), getSourceName(source));
  const records = resolveRecords(parsedRecords);
  const { main: mainThread, side: sideThreads } = splitMainAndSideThreads(records);
  const branch = addQueuedPrompts(findActiveBranch(mainThread), mainThread);
  if (branch.records.length === 0) throw createMissingMessagesError(records, getSourceName(source), notes);

  const skippedPart = joinRecordsIntoMessages(branch.records.slice(0, branch.skippedCount), mainThread);
  const activePart = joinRecordsIntoMessages(branch.records.slice(branch.skippedCount), mainThread);
  const allMessages = [...skippedPart.messages, ...activePart.messages];
  const messages = options.history === 'all' ? allMessages : activePart.messages;
  const usedRecords = new Set([...skippedPart.used, ...activePart.used]);
  return {
    id: findSessionId(branch, source, input),
    format: 'claude-code',
    title: findTitle(records) ?? makeConversationTitle(allMessages),
    messages,
    notes: [
      ...notes,
      ...(messages === allMessages || skippedPart.messages.length === 0
        ? []
        : [describeOmittedMessages(skippedPart.messages.length, 'before the last compaction')]),
      ...describeAbandonedBranches(mainThread, usedRecords),
      ...describeMissingRoot(branch),
      ...describeFork(records, source),
      ...describePrintedLog(records),
      ...describeRecordsNotSentToModel(records),
      ...describeUnansweredCalls(messages),
    ],
    sidechains: sideThreads.flatMap((thread, index) => toSidechain(thread, index)),
    ...findParentSession(branch),
    ...findWorkspace(records),
    ...selectRecordedRequests(
      options.history,
      readRecordedRequests(requests, branch, allMessages, skippedPart.messages.length),
      allMessages.length,
    ),
  };
}

function findTitle(records: readonly ClaudeCodeRecord[]): string | undefined {
  const uuids = new Set(records.map(({ uuid }) => uuid));
  // Older versions also store titles of other sessions in a file.
  const isTitleOfBranch = ({ leaf }: ClaudeCodeRecord): boolean => leaf === undefined || uuids.has(leaf);
  const findLastTitle = (type: string): string | undefined =>
    records
      .map((one) => (one.type === type && isTitleOfBranch(one) ? normalizeTitle(one.title) : undefined))
      .findLast(Boolean);
  return findLastTitle('custom-title') ?? findLastTitle('ai-title') ?? findLastTitle('summary');
}

interface ConversationThreads {
  readonly main: readonly ClaudeCodeRecord[];
  readonly side: readonly (readonly ClaudeCodeRecord[])[];
}

function splitMainAndSideThreads(records: readonly ClaudeCodeRecord[]): ConversationThreads {
  const mainRecords = records.filter(({ isSidechain }) => !isSidechain);
  const sideThreads = [
    ...Map.groupBy(
      records.filter(({ isSidechain }) => isSidechain),
      createSideThreadKey(records),
    ).values(),
  ];
  if (mainRecords.some(({ message }) => message) || sideThreads.length === 0)
    return { main: mainRecords, side: sideThreads };
  const [firstThread = [], ...otherThreads] = sideThreads;
  return { main: firstThread, side: otherThreads };
}

/** Older records of subagents have no `agentId` and only share a root. */
function createSideThreadKey(records: readonly ClaudeCodeRecord[]): (record: ClaudeCodeRecord) => string {
  const byUuid = new Map(records.map((record) => [record.uuid, record]));
  const rootByRecord = new Map<ClaudeCodeRecord, string>();
  return (record) => {
    if (record.agentId !== undefined) return `agent ${record.agentId}`;
    const recordsOnPath: ClaudeCodeRecord[] = [];
    const seenRecords = new Set<ClaudeCodeRecord>();
    let current: ClaudeCodeRecord | undefined = record;
    let root: string | undefined;
    while (current?.isSidechain && !seenRecords.has(current)) {
      seenRecords.add(current);
      recordsOnPath.push(current);
      root = rootByRecord.get(current) ?? `root ${current.uuid ?? current.line}`;
      if (rootByRecord.has(current)) break;
      current = current.parent === undefined ? undefined : byUuid.get(current.parent);
    }
    for (const recordOnPath of recordsOnPath) rootByRecord.set(recordOnPath, root ?? '');
    return root ?? '';
  };
}

function toSidechain(thread: readonly ClaudeCodeRecord[], index: number): readonly Sidechain[] {
  const { records, skippedCount } = findActiveBranch(thread);
  const { messages } = joinRecordsIntoMessages(records.slice(skippedCount), thread);
  if (messages.length === 0) return [];
  return [{ id: thread[0]?.agentId ?? `side-${index + 1}`, title: makeConversationTitle(messages), messages }];
}

function findParentSession({ records }: ActiveBranch): { parent?: string } {
  const lastRecord = records.findLast(({ sessionId }) => sessionId !== undefined);
  return lastRecord?.sessionId !== undefined && lastRecord.isSidechain
    ? { parent: `claude-code:${lastRecord.sessionId}` }
    : {};
}

function findWorkspace(records: readonly ClaudeCodeRecord[]): { workspace?: string } {
  const cwd = records.find((record) => record.cwd !== undefined)?.cwd;
  return cwd === undefined ? {} : { workspace: cwd };
}

function findSessionId({ records }: ActiveBranch, source: InputSource, input: string | Uint8Array): string {
  // Older versions copied a resumed session's records, so the newest record has the right id.
  const newestRecord = records.findLast(({ sessionId }) => sessionId !== undefined);
  if (newestRecord?.sessionId === undefined) return makeSourceId(source, input);
  const agentSuffix = newestRecord.isSidechain && newestRecord.agentId !== undefined ? `:${newestRecord.agentId}` : '';
  return `claude-code:${newestRecord.sessionId}${agentSuffix}`;
}

function describeAbandonedBranches(
  mainRecords: readonly ClaudeCodeRecord[],
  usedRecords: ReadonlySet<ClaudeCodeRecord>,
): readonly string[] {
  const usedIds = new Set([...usedRecords].map(({ uuid }) => uuid));
  const abandonedRecords = mainRecords.filter(
    (record) => record.message && !record.isApiError && !usedRecords.has(record) && !usedIds.has(record.uuid),
  );
  return abandonedRecords.length === 0
    ? []
    : [
        `Left out: ${formatPlural(abandonedRecords.length, 'record')} that are not on the newest branch (rewound or replaced).`,
      ];
}

/**
 * A subagent can begin with its session's conversation, which its file only refers to (2.1.332,
 * `fork-context-ref`).
 */
function describeFork(records: readonly ClaudeCodeRecord[], source: InputSource): readonly string[] {
  const parentSession = records.find(({ forkOf }) => forkOf !== undefined)?.forkOf;
  if (parentSession === undefined) return [];
  // The path is projects/<folder>/<session>/subagents/agent-….jsonl.
  const sessionFile =
    'path' in source ? join(dirname(source.path), '..', '..', `${parentSession}.jsonl`) : `${parentSession}.jsonl`;
  return [`This subagent began with the conversation of its session, which is not in this file: ${sessionFile}`];
}

function describePrintedLog(records: readonly ClaudeCodeRecord[]): readonly string[] {
  const isPrintedLog = records.some(({ isLogged: isPrinted }) => isPrinted);
  const isComplete = records.some(
    ({ message, isSidechain }) => message?.role === 'user' && !isSidechain && !getBlocks(message).some(isToolResult),
  );
  return isPrintedLog && !isComplete ? ['This is a printed log (stream-json): what the user typed is not in it.'] : [];
}

function describeMissingRoot({ orphan }: ActiveBranch): readonly string[] {
  return orphan
    ? [`Line ${orphan.line} continues a message that isn’t in the file; the conversation is read from there.`]
    : [];
}

function createMissingMessagesError(
  records: readonly ClaudeCodeRecord[],
  source: string,
  notes: readonly ConversationNote[],
): ConversationReadError {
  const countByType = new Map<string, number>();
  for (const { type } of records) countByType.set(type, (countByType.get(type) ?? 0) + 1);
  return createNoMessagesError(
    source,
    'a Claude Code transcript with "user" and "assistant" records',
    countByType,
    notes,
  );
}
