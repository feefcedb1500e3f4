/** Opens agents' SQLite databases read-only. All calls block, so run them in a worker. */
import { existsSync, lstatSync, statSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import type * as sqlite from 'node:sqlite';
import { getErrorMessage } from '../core/errors';
import { checkUnsupportedDatabase } from './unsupported';
import { ConversationReadError } from './readError';

const SQLITE_MAGIC = 'SQLite format 3\0';

export const SQLITE_MAGIC_BYTES = SQLITE_MAGIC.length;

export const isSqliteDatabase = (head: Uint8Array): boolean =>
  Buffer.from(head.buffer, head.byteOffset, Math.min(head.byteLength, SQLITE_MAGIC_BYTES)).toString('latin1') ===
  SQLITE_MAGIC;

interface OpenDatabase {
  readonly database: sqlite.DatabaseSync;
  readonly state: string;
}

/**
 * Keeps databases open, because reopening one makes SQLite read its first pages and index roots
 * again.
 */
export class OpenDatabases {
  private readonly databaseByFile = new Map<string, OpenDatabase>();

  /**
   * @throws {ConversationReadError} if the file is not an agent's database or the host has no
   * SQLite
   */
  readDatabase<T>(file: string, read: (database: sqlite.DatabaseSync) => T): T {
    try {
      return read(this.openReadOnly(file));
    } catch (error) {
      this.closeFile(file);
      throw error instanceof ConversationReadError ? error : createDatabaseError(file, error);
    }
  }

  hasOpenDatabase(file: string): boolean {
    return this.databaseByFile.has(file);
  }

  closeAll(): void {
    for (const file of [...this.databaseByFile.keys()]) this.closeFile(file);
  }

  private openReadOnly(file: string): sqlite.DatabaseSync {
    const state = readFileState(file);
    const cachedEntry = this.databaseByFile.get(file);
    if (cachedEntry?.state === state) return cachedEntry.database;
    this.closeFile(file);
    const database = openDatabase(file);
    this.databaseByFile.set(file, { database, state });
    return database;
  }

  private closeFile(file: string): void {
    this.databaseByFile.get(file)?.database.close();
    this.databaseByFile.delete(file);
  }
}

/** A database opened as immutable must be reopened after its agent has written to it. */
function readFileState(file: string): string {
  const { mtimeMs, size } = statSync(file);
  return `${mtimeMs} ${size} ${existsSync(getWriteAheadLogPath(file))}`;
}

const getWriteAheadLogPath = (file: string): string => `${file}-wal`;

/** @throws {ConversationReadError} as {@link OpenDatabases.read} */
export function withDatabase<T>(
  file: string,
  databases: OpenDatabases | undefined,
  readDatabase: (database: sqlite.DatabaseSync) => T,
): T {
  if (databases) return databases.readDatabase(file, readDatabase);
  const temporaryDatabases = new OpenDatabases();
  try {
    return temporaryDatabases.readDatabase(file, readDatabase);
  } finally {
    temporaryDatabases.closeAll();
  }
}

const BUSY_TIMEOUT_MS = 2_000;

function openDatabase(file: string): sqlite.DatabaseSync {
  const { DatabaseSync } = process.getBuiltinModule('node:sqlite');
  checkCompanionFiles(file);
  // Without a write-ahead log next to the file, no process has it open; `immutable` keeps SQLite
  // from creating files.
  const url = pathToFileURL(file);
  if (!existsSync(getWriteAheadLogPath(file))) url.searchParams.set('immutable', '1');
  const database = new DatabaseSync(url, { readOnly: true });
  // SQL in an untrusted file must not call functions with side effects.
  database.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}; PRAGMA trusted_schema = OFF`);
  return database;
}

/** SQLite would block forever if one of its files next to the database were a pipe. */
function checkCompanionFiles(file: string): void {
  for (const companionPath of [getWriteAheadLogPath(file), `${file}-shm`, `${file}-journal`]) {
    const stats = lstatSync(companionPath, { throwIfNoEntry: false });
    if (!stats || stats.isFile()) continue;
    throw new ConversationReadError({
      problem: 'not-a-file',
      source: companionPath,
      found: 'a link, folder, device or pipe next to a database',
      expected: 'a SQLite file, or none',
    });
  }
}

export const hasTables = (database: sqlite.DatabaseSync, names: readonly string[]): boolean =>
  countTables(database, names) === names.length;

const countTables = (database: sqlite.DatabaseSync, names: readonly string[]): number =>
  database
    .prepare(
      `SELECT name FROM sqlite_schema WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%' AND name IN (${names
        .map(() => '?')
        .join(', ')})`,
    )
    .all(...names).length;

/**
 * Requires real tables, because a view or virtual table in an untrusted file can produce endless
 * rows.
 * @throws {ConversationReadError}
 */
export function requireTables(database: sqlite.DatabaseSync, file: string, names: readonly string[]): void {
  if (hasTables(database, names)) return;
  const problem = checkUnsupportedDatabase(listTables(database), file);
  if (problem) throw problem;
  throw new ConversationReadError({
    problem: 'unknown-format',
    source: file,
    found: 'a SQLite database of another kind',
    expected: `one with the tables ${names.join(', ')}`,
  });
}

const listTables = (database: sqlite.DatabaseSync): ReadonlySet<string> =>
  new Set(
    database
      .prepare("SELECT name FROM sqlite_schema WHERE type = 'table'")
      .all()
      .map(({ name }) => String(name)),
  );

function createDatabaseError(file: string, error: unknown): ConversationReadError {
  const message = getErrorMessage(error);
  const isOtherDatabase = /no such (?:table|column)/.test(message);
  const isBusy = /locked|busy/i.test(message);
  return new ConversationReadError(
    {
      problem: isOtherDatabase ? 'unknown-format' : 'io',
      source: file,
      found: isOtherDatabase ? 'a SQLite database of another kind' : `a database that can’t be read (${message})`,
      expected: 'the store of OpenCode or Kilo',
      ...(isBusy && { advice: 'The agent is writing; try again.' }),
    },
    { cause: error },
  );
}
