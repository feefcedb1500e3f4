import { dirname, join } from 'node:path';
import { getBlocks, isRecord, isToolResult } from '../../../core/messages/blocks';
import { type Fields, readList, readString } from '../../text/values';
import { type ActiveBranch, findActiveBranch } from './branch';
import { joinRecordsIntoMessages } from './join';
import { resolveRecords, addQueuedPrompts } from './resolve';
import { describeRecordsNotSentToModel } from './unsent';
import { type ClaudeCodeRecord, isPrintedLogRecord, parseRecords } from './record';
import { selectRecordedRequests } from '../../../core/account/recordedRequest';
import { readRecordedRequests } from './recorded';
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
 * `active` is what resuming would send: the newest branch after the last compact boundary; `all`
 * adds what precedes it.
 * @throws {ConversationReadError} for damaged lines, malformed messages, or no messages
 */
export function readClaudeCode(
  input: string | Uint8Array,
  source: InputSource,
  options: ReadOptions = {},
): Conversation {
  const {
    records: parsed,
    notes,
    requests,
  } = parseRecords(readLines(input, getSourceName(source)), getSourceName(source));
  const records = resolveRecords(parsed);
  const { main, side } = splitMainAndSideThreads(records);
  const branch = addQueuedPrompts(findActiveBranch(main), main);
  if (branch.records.length === 0) throw createMissingMessagesError(records, getSourceName(source), notes);

  const earlier = joinRecordsIntoMessages(branch.records.slice(0, branch.skippedCount), main);
  const active = joinRecordsIntoMessages(branch.records.slice(branch.skippedCount), main);
  const allMessages = [...earlier.messages, ...active.messages];
  const messages = options.history === 'all' ? allMessages : active.messages;
  const used = new Set([...earlier.used, ...active.used]);
  return {
    id: findSessionId(branch, source, input),
    format: 'claude-code',
    title: findTitle(records) ?? makeConversationTitle(allMessages),
    messages,
    notes: [
      ...notes,
      ...(messages === allMessages || earlier.messages.length === 0
        ? []
        : [describeOmittedMessages(earlier.messages.length, 'before the last compaction')]),
      ...noteAbandonedBranches(main, used),
      ...noteMissingRoot(branch),
      ...noteFork(records, source),
      ...notePrintedLog(records),
      ...describeRecordsNotSentToModel(records),
      ...describeUnansweredCalls(messages),
    ],
    sidechains: side.flatMap((thread, index) => toSidechain(thread, index)),
    ...findParentSession(branch),
    ...findWorkspace(records),
    ...selectRecordedRequests(
      options.history,
      readRecordedRequests(requests, branch, allMessages, earlier.messages.length),
      allMessages.length,
    ),
  };
}

function findTitle(records: readonly ClaudeCodeRecord[]): string | undefined {
  const uuids = new Set(records.map(({ uuid }) => uuid));
  // Older versions also store titles of other sessions in a file.
  const isOurs = ({ leaf }: ClaudeCodeRecord): boolean => leaf === undefined || uuids.has(leaf);
  const last = (type: string): string | undefined =>
    records.map((one) => (one.type === type && isOurs(one) ? normalizeTitle(one.title) : undefined)).findLast(Boolean);
  return last('custom-title') ?? last('ai-title') ?? last('summary');
}

interface ConversationThreads {
  readonly main: readonly ClaudeCodeRecord[];
  readonly side: readonly (readonly ClaudeCodeRecord[])[];
}

function splitMainAndSideThreads(records: readonly ClaudeCodeRecord[]): ConversationThreads {
  const main = records.filter(({ isSidechain }) => !isSidechain);
  const side = [
    ...Map.groupBy(
      records.filter(({ isSidechain }) => isSidechain),
      createSideThreadKey(records),
    ).values(),
  ];
  if (main.some(({ message }) => message) || side.length === 0) return { main, side };
  const [first = [], ...rest] = side;
  return { main: first, side: rest };
}

/** Older records of subagents have no `agentId` and only share a root. */
function createSideThreadKey(records: readonly ClaudeCodeRecord[]): (record: ClaudeCodeRecord) => string {
  const byUuid = new Map(records.map((record) => [record.uuid, record]));
  const roots = new Map<ClaudeCodeRecord, string>();
  return (record) => {
    if (record.agentId !== undefined) return `agent ${record.agentId}`;
    const path: ClaudeCodeRecord[] = [];
    const seen = new Set<ClaudeCodeRecord>();
    let at: ClaudeCodeRecord | undefined = record;
    let root: string | undefined;
    while (at?.isSidechain && !seen.has(at)) {
      seen.add(at);
      path.push(at);
      root = roots.get(at) ?? `root ${at.uuid ?? at.line}`;
      if (roots.has(at)) break;
      at = at.parent === undefined ? undefined : byUuid.get(at.parent);
    }
    for (const step of path) roots.set(step, root ?? '');
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
  const last = records.findLast(({ sessionId }) => sessionId !== undefined);
  return last?.sessionId !== undefined && last.isSidechain ? { parent: `claude-code:${last.sessionId}` } : {};
}

function findWorkspace(records: readonly ClaudeCodeRecord[]): { workspace?: string } {
  const cwd = records.find((record) => record.cwd !== undefined)?.cwd;
  return cwd === undefined ? {} : { workspace: cwd };
}

function findSessionId({ records }: ActiveBranch, source: InputSource, input: string | Uint8Array): string {
  // Older versions copied a resumed session's records, so the newest record has the right id.
  const newest = records.findLast(({ sessionId }) => sessionId !== undefined);
  if (newest?.sessionId === undefined) return makeSourceId(source, input);
  const agent = newest.isSidechain && newest.agentId !== undefined ? `:${newest.agentId}` : '';
  return `claude-code:${newest.sessionId}${agent}`;
}

function noteAbandonedBranches(
  main: readonly ClaudeCodeRecord[],
  used: ReadonlySet<ClaudeCodeRecord>,
): readonly string[] {
  const usedIds = new Set([...used].map(({ uuid }) => uuid));
  const abandoned = main.filter(
    (record) => record.message && !record.isApiError && !used.has(record) && !usedIds.has(record.uuid),
  );
  return abandoned.length === 0
    ? []
    : [
        `Left out: ${formatPlural(abandoned.length, 'record')} that are not on the newest branch (rewound or replaced).`,
      ];
}

/**
 * A subagent can begin with its session's conversation, which its file only refers to (2.1.332,
 * `fork-context-ref`).
 */
function noteFork(records: readonly ClaudeCodeRecord[], source: InputSource): readonly string[] {
  const session = records.find(({ forkOf }) => forkOf !== undefined)?.forkOf;
  if (session === undefined) return [];
  // The path is projects/<folder>/<session>/subagents/agent-….jsonl.
  const place = 'path' in source ? join(dirname(source.path), '..', '..', `${session}.jsonl`) : `${session}.jsonl`;
  return [`This subagent began with the conversation of its session, which is not in this file: ${place}`];
}

function notePrintedLog(records: readonly ClaudeCodeRecord[]): readonly string[] {
  const isLog = records.some(({ isLogged: isPrinted }) => isPrinted);
  const isComplete = records.some(
    ({ message, isSidechain }) => message?.role === 'user' && !isSidechain && !getBlocks(message).some(isToolResult),
  );
  return isLog && !isComplete ? ['This is a printed log (stream-json): what the user typed is not in it.'] : [];
}

function noteMissingRoot({ orphan }: ActiveBranch): readonly string[] {
  return orphan
    ? [`Line ${orphan.line} continues a message that isn’t in the file; the conversation is read from there.`]
    : [];
}

function createMissingMessagesError(
  records: readonly ClaudeCodeRecord[],
  source: string,
  notes: readonly ConversationNote[],
): ConversationReadError {
  const kinds = new Map<string, number>();
  for (const { type } of records) kinds.set(type, (kinds.get(type) ?? 0) + 1);
  return createNoMessagesError(source, 'a Claude Code transcript with "user" and "assistant" records', kinds, notes);
}
