/**
 * A transcript (`~/.claude/projects/<folder>/<session>.jsonl`) has one record per line and only
 * grows. `toolUseResult` repeats the result's text.
 */
import type { ConversationNote } from '../../types';
import { isRecord } from '../../../core/messages/blocks';
import type { ApiMessage } from '../../../core/messages/types';
import { type JsonRecord, readJsonLineRecords } from '../../text/jsonLines';
import type { Line } from '../../text/lines';
import { MessageShapeError, assertMessage } from '../messageShape';
import { ToolDenialReader } from './denial';
import { ConversationReadError, describeValue } from '../../readError';
import { readNumber } from '../../text/values';
import { type Attachment, parseAttachment } from './attachments';
import { ClaudeRequests } from './usage';

export interface ClaudeCodeRecord {
  readonly line: number;
  /** Line number of the nearest damaged line before this one. */
  readonly gap?: number;
  readonly type: string;
  readonly subtype?: string;
  readonly uuid?: string | undefined;
  readonly parent?: string;
  readonly logicalParent?: string;
  readonly sessionId?: string;
  readonly agentId?: string;
  readonly cwd?: string;
  readonly title?: string;
  /** UUID of the last record of the branch that the title belongs to. */
  readonly leaf?: string;
  /** ISO 8601. */
  readonly timestamp?: string;
  readonly isSidechain: boolean;
  readonly isLogged?: boolean;
  /** True for a record that only displays an error; Claude Code never sends it. */
  readonly isApiError: boolean;
  readonly version?: string;
  readonly message?: ApiMessage;
  readonly attachment?: Attachment;
  /** Set if a prompt was put into a running turn's queue or taken out. */
  readonly queue?: QueueOperation;
  /** ID of the session whose conversation this subagent began with. */
  readonly forkOf?: string;
  /** Text that the model gets instead of results, by call id. */
  readonly replacements?: ReadonlyMap<string, string>;
  readonly preserved?: PreservedMessages;
  readonly tokensBefore?: number;
}

export interface QueueOperation {
  readonly operation: string;
  readonly content?: string;
}

export interface PreservedMessages {
  /** UUID of the record that the messages follow: the summary or the boundary. */
  readonly anchor: string;
  /** Oldest first; empty if only head and tail are known. */
  readonly uuids: readonly string[];
  readonly head?: string;
  readonly tail?: string;
}

export interface ClaudeCodeRecords {
  readonly records: readonly ClaudeCodeRecord[];
  readonly notes: readonly ConversationNote[];
  readonly requests: ClaudeRequests;
}

/** @throws {ConversationReadError} if no line can be read */
export function parseRecords(lines: Iterable<Line>, source: string): ClaudeCodeRecords {
  const records: ClaudeCodeRecord[] = [];
  const notes: ConversationNote[] = [];
  const denials = new ToolDenialReader();
  const requests = new ClaudeRequests();
  readJsonLineRecords(lines, source, notes, ({ line, value, gap }) => {
    records.push(parseClaudeRecord({ value, line, ...(gap !== undefined && { gap }) }, source, denials));
    requests.takeRecord(value);
  });
  return { records, notes, requests };
}

function parseClaudeRecord(
  { value, line, gap }: JsonRecord,
  source: string,
  denials: ToolDenialReader,
): ClaudeCodeRecord {
  const throwShapeError = (found: string, expected: string): never => {
    throw new ConversationReadError({ problem: 'wrong-shape', source, line, found, expected });
  };
  const recordType = value['type'];
  if (typeof recordType !== 'string')
    return throwShapeError(`${describeValue(recordType)} in "type"`, 'the kind of the record, a string');
  const { message } = readMessage(value, recordType, throwShapeError);
  return {
    line,
    type: recordType,
    ...(gap !== undefined && { gap }),
    isSidechain: value['isSidechain'] === true || typeof value['parent_tool_use_id'] === 'string',
    isApiError: value['isApiErrorMessage'] === true,
    ...readStringFields(value),
    ...(isPrintedLogRecord(value) && readPrintedLogFields(value)),
    ...readTitle(value, recordType),
    ...(message && { message: denials.markDenials(message, value) }),
    ...readAttachment(value, recordType),
    ...readCompaction(value['compactMetadata']),
  };
}

/**
 * True for records of `claude -p --output-format stream-json`. Source: message types of the Agent
 * SDK, logs of claude-code-action.
 */
export const isPrintedLogRecord = (value: Readonly<Record<string, unknown>>): boolean =>
  typeof value['session_id'] === 'string' && !('sessionId' in value) && !('parentUuid' in value);

/** A log names no parents because its records are in order. */
function readPrintedLogFields(value: Readonly<Record<string, unknown>>): Partial<ClaudeCodeRecord> {
  const { session_id: session, parent_tool_use_id: call } = value;
  return {
    isLogged: true,
    uuid: undefined,
    ...(typeof session === 'string' && { sessionId: session }),
    ...(typeof call === 'string' && { agentId: call }),
  };
}

const STRING_FIELDS = [
  ['subtype', 'subtype'],
  ['uuid', 'uuid'],
  ['parent', 'parentUuid'],
  ['logicalParent', 'logicalParentUuid'],
  ['sessionId', 'sessionId'],
  ['agentId', 'agentId'],
  ['cwd', 'cwd'],
  ['timestamp', 'timestamp'],
] as const;

function readStringFields(
  value: Readonly<Record<string, unknown>>,
): Partial<Record<(typeof STRING_FIELDS)[number][0], string>> {
  const stringFields: Partial<Record<(typeof STRING_FIELDS)[number][0], string>> = {};
  for (const [field, name] of STRING_FIELDS) {
    const text = value[name];
    if (typeof text === 'string') stringFields[field] = text;
  }
  return stringFields;
}

const TITLE_FIELDS: Readonly<Record<string, string>> = {
  'custom-title': 'customTitle',
  'ai-title': 'aiTitle',
  summary: 'summary',
};

function readTitle(value: Readonly<Record<string, unknown>>, type: string): Pick<ClaudeCodeRecord, 'title' | 'leaf'> {
  const text = value[TITLE_FIELDS[type] ?? ''];
  const leaf = value['leafUuid'];
  return typeof text === 'string' ? { title: text, ...(typeof leaf === 'string' && { leaf }) } : {};
}

function readAttachment(
  value: Readonly<Record<string, unknown>>,
  type: string,
): Pick<ClaudeCodeRecord, 'attachment' | 'version' | 'queue' | 'replacements' | 'forkOf'> {
  switch (type) {
    case 'attachment': {
      const attachment = parseAttachment(value);
      const version = value['version'];
      return attachment ? { attachment, ...(typeof version === 'string' && { version }) } : {};
    }
    case 'queue-operation': {
      const { operation, content } = value;
      return typeof operation === 'string'
        ? { queue: { operation, ...(typeof content === 'string' && { content }) } }
        : {};
    }
    case 'fork-context-ref': {
      const parentSession = value['parentSessionId'];
      return typeof parentSession === 'string' ? { forkOf: parentSession } : {};
    }
    case 'content-replacement':
      return { replacements: readTextReplacements(value['replacements']) };
    default:
      return {};
  }
}

function readTextReplacements(list: unknown): ReadonlyMap<string, string> {
  const replacements = new Map<string, string>();
  for (const entry of Array.isArray(list) ? list : []) {
    if (!isRecord(entry)) continue;
    const { toolUseId, replacement } = entry;
    if (typeof toolUseId === 'string' && typeof replacement === 'string') replacements.set(toolUseId, replacement);
  }
  return replacements;
}

/**
 * The message keeps fields that say who wrote it: `isMeta` (added for the model),
 * `isCompactSummary`, and `addedByAgent` (other sessions, channels and plugins).
 */
function readMessage(
  value: Readonly<Record<string, unknown>>,
  type: string,
  throwShapeError: (found: string, expected: string) => never,
): { message?: ApiMessage } {
  if (type === 'system' && value['subtype'] === 'local_command' && typeof value['content'] === 'string') {
    // Claude Code sends local command output so that the model can refer to it.
    return { message: { role: 'user', content: value['content'], isMeta: true } };
  }
  if (type !== 'user' && type !== 'assistant') return {};
  // Claude Code only displays these rows (2.1.332: `isVirtual`, `queueTranscriptOnly`).
  if (value['isVirtual'] === true || value['queueTranscriptOnly'] === true) return {};
  const rawMessage = value['message'];
  try {
    assertMessage(rawMessage, 'message');
  } catch (error) {
    if (error instanceof MessageShapeError) return throwShapeError(`${error.found} in "${error.path}"`, error.expected);
    throw error;
  }
  return {
    message: {
      ...rawMessage,
      ...((value['isMeta'] === true || value['isSynthetic'] === true) && { isMeta: true }),
      ...(value['isCompactSummary'] === true && { isCompactSummary: true }),
      ...(isFromProgram(value['origin']) && { addedByAgent: true }),
    },
  };
}

/** Task reports are excluded: an XML element marks them in every agent. */
const isFromProgram = (origin: unknown): boolean =>
  isRecord(origin) && typeof origin['kind'] === 'string' && PROGRAM_ORIGINS.includes(origin['kind']);

/** Origins of records in the user's role that a program wrote (2.1.332, `SL`, `tte`). */
const PROGRAM_ORIGINS: readonly string[] = [
  'auto-continuation',
  'channel',
  'coordinator',
  'observer',
  'observer-activity',
  'peer',
  'plugin',
  'slack-ping',
];

/** Older versions store only head and tail of the kept messages, newer ones all UUIDs. */
function readCompaction(metadata: unknown): Pick<ClaudeCodeRecord, 'preserved' | 'tokensBefore'> {
  if (!isRecord(metadata)) return {};
  const segment = isRecord(metadata['preservedSegment']) ? metadata['preservedSegment'] : {};
  const preservedMessages = isRecord(metadata['preservedMessages']) ? metadata['preservedMessages'] : {};
  const tokensBefore = readNumber(metadata, 'preTokens');
  const tokensField = tokensBefore === undefined ? {} : { tokensBefore };
  const anchorUuid = preservedMessages['anchorUuid'] ?? segment['anchorUuid'];
  if (typeof anchorUuid !== 'string') return tokensField;
  const listedUuids = preservedMessages['allUuids'] ?? preservedMessages['uuids'];
  const uuids = Array.isArray(listedUuids)
    ? listedUuids.filter((uuid): uuid is string => typeof uuid === 'string')
    : [];
  const { headUuid, tailUuid } = segment;
  return {
    ...tokensField,
    preserved: {
      anchor: anchorUuid,
      uuids,
      ...(typeof headUuid === 'string' && { head: headUuid }),
      ...(typeof tailUuid === 'string' && { tail: tailUuid }),
    },
  };
}
