/**
 * The lines of a Claude Code transcript (`~/.claude/projects/<folder>/<session>.jsonl`): one record per line, append-only.
 * Only what the reader needs of a record is kept; `toolUseResult`, which repeats the result's text, is not.
 */
import { isRecord } from '../core/messages/blocks';
import type { ApiMessage } from '../core/messages/types';
import { parseJsonValues } from './json';
import type { Line } from './lines';
import { ShapeError, checkMessage } from './messageShape';
import { ConversationReadError, describe } from './readError';
import type { ReadOptions } from './types';

export interface ClaudeCodeRecord {
  readonly line: number;
  readonly type: string;
  readonly subtype?: string;
  readonly uuid?: string;
  readonly parent?: string;
  readonly logicalParent?: string;
  readonly sessionId?: string;
  readonly agentId?: string;
  readonly isSidechain: boolean;
  /** An assistant record that Claude Code made itself to show an error; it never sends it. */
  readonly isApiError: boolean;
  /** Only on what can be part of the conversation. */
  readonly message?: ApiMessage;
  /** At a compact boundary: messages that stay as they are beside the summary. */
  readonly preserved?: Preserved;
}

export interface Preserved {
  /** What they stand behind: the summary, or the boundary itself. */
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

const ADVICE_BROKEN = 'Restore the file from a backup, or repair or remove this line.';

/** @throws {ConversationReadError} for a line that isn't JSON, or whose message has the wrong shape */
export function parseRecords(lines: Iterable<Line>, source: string, options: ReadOptions): ClaudeCodeRecords {
  const records: ClaudeCodeRecord[] = [];
  const notes: string[] = [];
  for (const line of lines) {
    const { values, torn } = valuesOf(line, source, options);
    for (const value of values) records.push(recordOf(value, line.number, source));
    if (values.length > 1) notes.push(`Line ${line.number} holds ${values.length} records; all were read.`);
    if (torn) notes.push(`Line ${line.number}, the last one, is cut off and was dropped.`);
  }
  return { records, notes };
}

function valuesOf(line: Line, source: string, options: ReadOptions): { values: readonly unknown[]; torn: boolean } {
  try {
    // The common case, one record per line, at the speed of JSON.parse.
    const values = [JSON.parse(line.text) as unknown];
    if (line.valid) return { values, torn: false };
  } catch {
    // Two records were seen on one line (Claude Code 2.1, written without a newline between them).
    const { values, problem } = parseJsonValues(line.text);
    if (!problem && line.valid) return { values, torn: false };
    if (problem) {
      if (line.last && problem.truncated) return tornTail(line, values, source, options);
      throw new ConversationReadError({
        problem: 'broken-line',
        source,
        line: line.number,
        found: `a line that breaks at column ${problem.offset + 1}`,
        expected: `${problem.expected} there: one JSON record per line`,
        advice: ADVICE_BROKEN,
      });
    }
  }
  throw new ConversationReadError({
    problem: 'encoding',
    source,
    line: line.number,
    found: 'bytes that are no UTF-8',
    expected: 'UTF-8 text',
    advice: ADVICE_BROKEN,
  });
}

/** A crash or a write in progress leaves half a record at the end; what stands before it is whole. */
function tornTail(
  line: Line,
  values: readonly unknown[],
  source: string,
  options: ReadOptions,
): { values: readonly unknown[]; torn: boolean } {
  if (options.tornTail === 'drop') return { values, torn: true };
  throw new ConversationReadError({
    problem: 'torn-tail',
    source,
    line: line.number,
    found: 'a last line that is cut off',
    expected: 'a complete JSON record',
    advice: 'The agent may still be writing; try again, or read the conversation without its last line.',
  });
}

function recordOf(value: unknown, line: number, source: string): ClaudeCodeRecord {
  const wrong = (found: string, expected: string): never => {
    throw new ConversationReadError({ problem: 'wrong-shape', source, line, found, expected });
  };
  if (!isRecord(value)) return wrong(describe(value), 'a record: a JSON object with "type"');
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
    }),
    ...message(value, type, wrong),
    ...preserved(value['compactMetadata']),
  };
}

type StringField = 'subtype' | 'uuid' | 'parent' | 'logicalParent' | 'sessionId' | 'agentId';

function strings(value: Readonly<Record<string, unknown>>, names: Readonly<Record<StringField, string>>) {
  const found: Partial<Record<StringField, string>> = {};
  for (const [field, name] of Object.entries(names) as [StringField, string][]) {
    const text = value[name];
    if (typeof text === 'string') found[field] = text;
  }
  return found;
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
    // What a local command printed is sent as a user's message, so that the model can refer to it.
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
function preserved(metadata: unknown): { preserved?: Preserved } {
  if (!isRecord(metadata)) return {};
  const segment = isRecord(metadata['preservedSegment']) ? metadata['preservedSegment'] : {};
  const messages = isRecord(metadata['preservedMessages']) ? metadata['preservedMessages'] : {};
  const anchor = messages['anchorUuid'] ?? segment['anchorUuid'];
  if (typeof anchor !== 'string') return {};
  const listed = messages['allUuids'] ?? messages['uuids'];
  const uuids = Array.isArray(listed) ? listed.filter((uuid): uuid is string => typeof uuid === 'string') : [];
  const { headUuid, tailUuid } = segment;
  return {
    preserved: {
      anchor,
      uuids,
      ...(typeof headUuid === 'string' && { head: headUuid }),
      ...(typeof tailUuid === 'string' && { tail: tailUuid }),
    },
  };
}
