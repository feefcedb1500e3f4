/**
 * The lines of a Claude Code transcript (`~/.claude/projects/<folder>/<session>.jsonl`): one record per line, append-only.
 * Only what the reader needs of a record is kept; `toolUseResult`, which repeats the result's text, is not.
 */
import { isRecord } from '../../../core/messages/blocks';
import type { ApiMessage } from '../../../core/messages/types';
import { type JsonRecord, jsonRecords } from '../../text/jsonLines';
import type { Line } from '../../text/lines';
import { ShapeError, checkMessage } from '../messageShape';
import { Denials } from './denial';
import { ConversationReadError, describe } from '../../readError';
import { numberIn } from '../../text/values';
import type { ReadOptions } from '../../types';

export interface ClaudeCodeRecord {
  readonly line: number;
  readonly type: string;
  readonly subtype?: string;
  readonly uuid?: string;
  readonly parent?: string;
  readonly logicalParent?: string;
  readonly sessionId?: string;
  readonly agentId?: string;
  readonly cwd?: string;
  /** What a record that names the session calls it. */
  readonly title?: string;
  /** Of such a record: the last record of the branch that it names. */
  readonly leaf?: string;
  /** ISO 8601 time. */
  readonly timestamp?: string;
  readonly isSidechain: boolean;
  /** An assistant record that Claude Code made itself to show an error; it never sends it. */
  readonly isApiError: boolean;
  /** Only on what can be part of the conversation. */
  readonly message?: ApiMessage;
  /** At a compact boundary: messages that stay as they are beside the summary. */
  readonly preserved?: Preserved;
  /** At a compact boundary: tokens of the context before. */
  readonly tokensBefore?: number;
}

export interface Preserved {
  /** The record that they stand behind: the summary, or the boundary itself. */
  readonly anchor: string;
  /** Oldest first; empty where only head and tail are known. */
  readonly uuids: readonly string[];
  readonly head?: string;
  readonly tail?: string;
}

export interface ClaudeCodeRecords {
  readonly records: readonly ClaudeCodeRecord[];
  readonly notes: readonly string[];
}

/** @throws {ConversationReadError} for a line that isn't JSON, or whose message has the wrong shape */
export function parseRecords(lines: Iterable<Line>, source: string, options: ReadOptions): ClaudeCodeRecords {
  const records: ClaudeCodeRecord[] = [];
  const notes: string[] = [];
  const denials = new Denials();
  for (const { line, value } of jsonRecords(lines, source, options, notes)) {
    const record = recordOf(value, line, source);
    records.push(record.message ? { ...record, message: denials.mark(record.message, value) } : record);
  }
  return { records, notes };
}

function recordOf(value: JsonRecord['value'], line: number, source: string): ClaudeCodeRecord {
  const wrong = (found: string, expected: string): never => {
    throw new ConversationReadError({ problem: 'wrong-shape', source, line, found, expected });
  };
  const type = value['type'];
  if (typeof type !== 'string') return wrong(`${describe(type)} in "type"`, 'the kind of the record, a string');
  return {
    line,
    type,
    isSidechain: value['isSidechain'] === true,
    isApiError: value['isApiErrorMessage'] === true,
    ...strings(value, {
      subtype: 'subtype',
      uuid: 'uuid',
      parent: 'parentUuid',
      logicalParent: 'logicalParentUuid',
      sessionId: 'sessionId',
      agentId: 'agentId',
      cwd: 'cwd',
      timestamp: 'timestamp',
    }),
    ...title(value, type),
    ...message(value, type, wrong),
    ...compaction(value['compactMetadata']),
  };
}

type StringField = 'subtype' | 'uuid' | 'parent' | 'logicalParent' | 'sessionId' | 'agentId' | 'cwd' | 'timestamp';

function strings(value: Readonly<Record<string, unknown>>, names: Readonly<Record<StringField, string>>) {
  const found: Partial<Record<StringField, string>> = {};
  for (const [field, name] of Object.entries(names) as [StringField, string][]) {
    const text = value[name];
    if (typeof text === 'string') found[field] = text;
  }
  return found;
}

/** Where the records that name a session have its name: its user's by `/rename`, and those of Claude Code, today's and earlier ones. */
const TITLES: Readonly<Record<string, string>> = {
  'custom-title': 'customTitle',
  'ai-title': 'aiTitle',
  summary: 'summary',
};

function title(value: Readonly<Record<string, unknown>>, type: string): Pick<ClaudeCodeRecord, 'title' | 'leaf'> {
  const text = value[TITLES[type] ?? ''];
  const leaf = value['leafUuid'];
  return typeof text === 'string' ? { title: text, ...(typeof leaf === 'string' && { leaf }) } : {};
}

/**
 * Of the record's own fields only the two that say who wrote a message go with it: `isMeta` (text that Claude Code adds
 * for the model and hides from the person, such as a skill's content) and `isCompactSummary`.
 */
function message(
  value: Readonly<Record<string, unknown>>,
  type: string,
  wrong: (found: string, expected: string) => never,
): { message?: ApiMessage } {
  if (type === 'system' && value['subtype'] === 'local_command' && typeof value['content'] === 'string') {
    // The output of a local command is sent as a user's message, so that the model can refer to it.
    return { message: { role: 'user', content: value['content'], isMeta: true } };
  }
  if (type !== 'user' && type !== 'assistant') return {};
  const raw = value['message'];
  try {
    checkMessage(raw, 'message');
  } catch (error) {
    if (error instanceof ShapeError) return wrong(`${error.found} in "${error.path}"`, error.expected);
    throw error;
  }
  return {
    message: {
      ...raw,
      ...(value['isMeta'] === true && { isMeta: true }),
      ...(value['isCompactSummary'] === true && { isCompactSummary: true }),
    },
  };
}

/** Two generations of the same fact: head and tail of a segment, later also all uuids by name. */
function compaction(metadata: unknown): Pick<ClaudeCodeRecord, 'preserved' | 'tokensBefore'> {
  if (!isRecord(metadata)) return {};
  const segment = isRecord(metadata['preservedSegment']) ? metadata['preservedSegment'] : {};
  const messages = isRecord(metadata['preservedMessages']) ? metadata['preservedMessages'] : {};
  const tokensBefore = numberIn(metadata, 'preTokens');
  const tokens = tokensBefore === undefined ? {} : { tokensBefore };
  const anchor = messages['anchorUuid'] ?? segment['anchorUuid'];
  if (typeof anchor !== 'string') return tokens;
  const listed = messages['allUuids'] ?? messages['uuids'];
  const uuids = Array.isArray(listed) ? listed.filter((uuid): uuid is string => typeof uuid === 'string') : [];
  const { headUuid, tailUuid } = segment;
  return {
    ...tokens,
    preserved: {
      anchor,
      uuids,
      ...(typeof headUuid === 'string' && { head: headUuid }),
      ...(typeof tailUuid === 'string' && { tail: tailUuid }),
    },
  };
}
