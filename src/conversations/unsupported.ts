/**
 * Recognizes conversations of unsupported agents, to reject them by name. Sources: the agents' own
 * code, files in public repositories.
 */
import { isRecord } from '../core/messages/blocks';
import { EXPECTED_FORMATS_TEXT } from './detect';
import { isIflowRecord } from './formats/claudeCode/claudeCode';
import { ConversationReadError } from './readError';
import { type Fields, readRecord, readString } from './text/values';

interface InputSample {
  /** First records, if the file consists of lines. */
  readonly values: readonly unknown[];
  /** Value of a file that is one JSON document. */
  readonly document: unknown;
  /** Beginning of a file that is not JSON. */
  readonly text: string | undefined;
}

type RecordTest = (record: Fields) => boolean;

const createTypeTest =
  (...types: readonly string[]): RecordTest =>
  ({ type }) =>
    types.includes(typeof type === 'string' ? type : '');

const RECORD_TESTS: Readonly<Record<string, RecordTest>> = {
  'Kimi Code': (record) =>
    (record['type'] === 'metadata' && 'protocol_version' in record) ||
    createTypeTest('context.append_message', 'context.append_loop_event', 'turn.prompt')(record) ||
    ['_checkpoint', '_usage', '_system_prompt'].includes(readString(record, 'role') ?? ''),
  goose: (record) => 'working_dir' in record && ('description' in record || 'message_count' in record),
  'Antigravity CLI': (record) => 'step_index' in record && 'source' in record && 'status' in record,
  'Factory Droid': createTypeTest('session_start'),
  iFlow: isIflowRecord,
};

const DOCUMENT_TESTS: Readonly<Record<string, RecordTest>> = {
  Amp: (value) =>
    readString(value, 'id')?.startsWith('T-') === true && 'v' in value && Array.isArray(value['messages']),
  Zed: (value) => 'detailed_summary_state' in value || ('version' in value && 'initial_project_snapshot' in value),
  goose: (value) => 'working_dir' in value && Array.isArray(value['conversation']),
  'Antigravity CLI': (value) => readRecord(value, 'trajectory') !== undefined && 'cascadeId' in value,
};

const TEXT_TESTS: Readonly<Record<string, RegExp>> = {
  aider: /^\s*# aider chat started at /,
};

/** By agent: tables that no other agent's database has. */
const DATABASE_TABLES: Readonly<Record<string, readonly string[]>> = {
  goose: ['sessions', 'messages', 'schema_version'],
  Crush: ['sessions', 'messages', 'files', 'goose_db_version'],
  Zed: ['threads'],
  'Cursor (its own database)': ['ItemTable', 'cursorDiskKV'],
  'Cursor (its command line)': ['meta', 'blobs'],
  'Antigravity CLI': ['steps', 'trajectory_metadata_blob'],
};

const findNameOfFirstMatch = <T>(
  table: Readonly<Record<string, T>>,
  tells: (telling: T) => boolean,
): string | undefined => Object.entries(table).find(([, telling]) => tells(telling))?.[0];

/** @throws {ConversationReadError} naming the agent if it is not supported */
export function rejectUnsupportedFormat({ values, document, text }: InputSample, source: string): void {
  const records = values.filter(isRecord);
  const name =
    findNameOfFirstMatch(RECORD_TESTS, (tells) => records.some(tells)) ??
    (isRecord(document) ? findNameOfFirstMatch(DOCUMENT_TESTS, (tells) => tells(document)) : undefined) ??
    (text === undefined ? undefined : findNameOfFirstMatch(TEXT_TESTS, (pattern) => pattern.test(text)));
  if (name !== undefined) throw createUnsupportedError(name, source);
}

/** By agent: folders with files that only this agent can read. */
const STORE_FOLDERS: Readonly<Record<string, RegExp>> = {
  Windsurf: /[\\/]\.codeium[\\/]windsurf[\\/]/,
  'Antigravity CLI': /[\\/]\.gemini[\\/]antigravity[\w-]*[\\/]/,
};

export function checkUnsupportedBinary(source: string): ConversationReadError | undefined {
  const name = findNameOfFirstMatch(STORE_FOLDERS, (folder) => folder.test(source));
  return name === undefined ? undefined : createUnsupportedError(name, source);
}

export function checkUnsupportedDatabase(
  tables: ReadonlySet<string>,
  source: string,
): ConversationReadError | undefined {
  const name = findNameOfFirstMatch(DATABASE_TABLES, (needed) => needed.every((table) => tables.has(table)));
  return name === undefined ? undefined : createUnsupportedError(name, source);
}

const createUnsupportedError = (name: string, source: string): ConversationReadError =>
  new ConversationReadError({
    problem: 'unknown-format',
    source,
    found: `a conversation of ${name}, which is not read`,
    expected: EXPECTED_FORMATS_TEXT,
  });
