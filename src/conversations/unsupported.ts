/**
 * Recognizes conversations of unsupported agents, to reject them by name. Sources: the agents' own
 * code, files in public repositories.
 */
import { isRecord } from '../core/messages/blocks';
import { EXPECTED } from './detect';
import { isIflowRecord } from './formats/claudeCode/claudeCode';
import { ConversationReadError } from './readError';
import { type Fields, recordIn, stringIn } from './text/values';

interface InputSample {
  /** First records, if the file consists of lines. */
  readonly values: readonly unknown[];
  /** Value of a file that is one JSON document. */
  readonly document: unknown;
  /** Beginning of a file that is not JSON. */
  readonly text: string | undefined;
}

type RecordTest = (record: Fields) => boolean;

const typed =
  (...types: readonly string[]): RecordTest =>
  ({ type }) =>
    types.includes(typeof type === 'string' ? type : '');

const RECORDS: Readonly<Record<string, RecordTest>> = {
  'Kimi Code': (record) =>
    (record['type'] === 'metadata' && 'protocol_version' in record) ||
    typed('context.append_message', 'context.append_loop_event', 'turn.prompt')(record) ||
    ['_checkpoint', '_usage', '_system_prompt'].includes(stringIn(record, 'role') ?? ''),
  goose: (record) => 'working_dir' in record && ('description' in record || 'message_count' in record),
  'Antigravity CLI': (record) => 'step_index' in record && 'source' in record && 'status' in record,
  'Factory Droid': typed('session_start'),
  iFlow: isIflowRecord,
};

const DOCUMENTS: Readonly<Record<string, RecordTest>> = {
  Amp: (value) => stringIn(value, 'id')?.startsWith('T-') === true && 'v' in value && Array.isArray(value['messages']),
  Zed: (value) => 'detailed_summary_state' in value || ('version' in value && 'initial_project_snapshot' in value),
  goose: (value) => 'working_dir' in value && Array.isArray(value['conversation']),
  'Antigravity CLI': (value) => recordIn(value, 'trajectory') !== undefined && 'cascadeId' in value,
};

const TEXTS: Readonly<Record<string, RegExp>> = {
  aider: /^\s*# aider chat started at /,
};

/** Tables that only one agent's database has. */
const DATABASES: Readonly<Record<string, readonly string[]>> = {
  goose: ['sessions', 'messages', 'schema_version'],
  Crush: ['sessions', 'messages', 'files', 'goose_db_version'],
  Zed: ['threads'],
  'Cursor (its own database)': ['ItemTable', 'cursorDiskKV'],
  'Cursor (its command line)': ['meta', 'blobs'],
  'Antigravity CLI': ['steps', 'trajectory_metadata_blob'],
};

const firstName = <T>(table: Readonly<Record<string, T>>, tells: (telling: T) => boolean): string | undefined =>
  Object.entries(table).find(([, telling]) => tells(telling))?.[0];

/** @throws {ConversationReadError} naming the agent if it is not supported */
export function refuseUnsupported({ values, document, text }: InputSample, source: string): void {
  const records = values.filter(isRecord);
  const name =
    firstName(RECORDS, (tells) => records.some(tells)) ??
    (isRecord(document) ? firstName(DOCUMENTS, (tells) => tells(document)) : undefined) ??
    (text === undefined ? undefined : firstName(TEXTS, (pattern) => pattern.test(text)));
  if (name !== undefined) throw unsupported(name, source);
}

/** Folders of agents whose files only they can read. */
const FOLDERS: Readonly<Record<string, RegExp>> = {
  Windsurf: /[\\/]\.codeium[\\/]windsurf[\\/]/,
  'Antigravity CLI': /[\\/]\.gemini[\\/]antigravity[\w-]*[\\/]/,
};

/** The error for a known agent's binary file. */
export function unsupportedBinary(source: string): ConversationReadError | undefined {
  const name = firstName(FOLDERS, (folder) => folder.test(source));
  return name === undefined ? undefined : unsupported(name, source);
}

/** The error for a known agent's database. */
export function unsupportedDatabase(tables: ReadonlySet<string>, source: string): ConversationReadError | undefined {
  const name = firstName(DATABASES, (needed) => needed.every((table) => tables.has(table)));
  return name === undefined ? undefined : unsupported(name, source);
}

const unsupported = (name: string, source: string): ConversationReadError =>
  new ConversationReadError({
    problem: 'unknown-format',
    source,
    found: `a conversation of ${name}, which is not read`,
    expected: EXPECTED,
  });
