/** SQLite databases of agents, opened for reading only. The calls block: they belong in a worker. */
import { existsSync, lstatSync, statSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import type * as sqlite from 'node:sqlite';
import { errorMessage } from '../core/errors';
import { unsupportedDatabase } from './unsupported';
import { ConversationReadError } from './readError';

/** The first bytes of every SQLite file. */
const MAGIC = 'SQLite format 3\0';

/** How many bytes of a file tell whether it is a database. */
export const MAGIC_BYTES = MAGIC.length;

/** @param head a file's first bytes, at least {@link MAGIC_BYTES} where it has them */
export const isDatabase = (head: Uint8Array): boolean =>
  Buffer.from(head.buffer, head.byteOffset, Math.min(head.byteLength, MAGIC_BYTES)).toString('latin1') === MAGIC;

interface OpenDatabase {
  readonly database: sqlite.DatabaseSync;
  /** The file's when it was opened: {@link stateOf}. */
  readonly state: string;
}

/**
 * Databases that stay open while many sessions are read of them: opened for each, SQLite would read its first pages and the
 * roots of its indexes each time.
 */
export class OpenDatabases {
  private readonly byFile = new Map<string, OpenDatabase>();

  /** @throws {ConversationReadError} for a file that is no database of an agent, and a host without SQLite */
  read<T>(file: string, read: (database: sqlite.DatabaseSync) => T): T {
    try {
      return read(this.open(file));
    } catch (error) {
      this.closeFile(file);
      throw error instanceof ConversationReadError ? error : databaseError(file, error);
    }
  }

  /** Whether it stays open: then it needs no look at its first bytes. */
  has(file: string): boolean {
    return this.byFile.has(file);
  }

  close(): void {
    for (const file of [...this.byFile.keys()]) this.closeFile(file);
  }

  private open(file: string): sqlite.DatabaseSync {
    const state = stateOf(file);
    const known = this.byFile.get(file);
    if (known?.state === state) return known.database;
    this.closeFile(file);
    const database = open(file);
    this.byFile.set(file, { database, state });
    return database;
  }

  private closeFile(file: string): void {
    this.byFile.get(file)?.database.close();
    this.byFile.delete(file);
  }
}

/** A database that is read as immutable must be opened anew once its agent writes. */
function stateOf(file: string): string {
  const { mtimeMs, size } = statSync(file);
  return `${mtimeMs} ${size} ${existsSync(logOf(file))}`;
}

const logOf = (file: string): string => `${file}-wal`;

/**
 * Reads of a database once, or of one that stays open.
 * @throws {ConversationReadError} see {@link OpenDatabases.read}
 */
export function withDatabase<T>(
  file: string,
  databases: OpenDatabases | undefined,
  read: (database: sqlite.DatabaseSync) => T,
): T {
  if (databases) return databases.read(file, read);
  const once = new OpenDatabases();
  try {
    return once.read(file, read);
  } finally {
    once.close();
  }
}

/** How long a store that is being written is waited for, in milliseconds. */
const BUSY_MS = 2_000;

function open(file: string): sqlite.DatabaseSync {
  // Loaded when the first store is read.
  const { DatabaseSync } = process.getBuiltinModule('node:sqlite');
  checkCompanions(file);
  // Without a log beside it nobody has the store open: read so that not even SQLite's own helper files are made.
  const url = pathToFileURL(file);
  if (!existsSync(logOf(file))) url.searchParams.set('immutable', '1');
  const database = new DatabaseSync(url, { readOnly: true });
  // Expressions stored in a file that is not ours may call no function that does more than calculate.
  database.exec(`PRAGMA busy_timeout = ${BUSY_MS}; PRAGMA trusted_schema = OFF`);
  return database;
}

/** Files that SQLite opens beside a database: a pipe in the place of one would be waited for without end. */
function checkCompanions(file: string): void {
  for (const path of [logOf(file), `${file}-shm`, `${file}-journal`]) {
    const stats = lstatSync(path, { throwIfNoEntry: false });
    if (!stats || stats.isFile()) continue;
    throw new ConversationReadError({
      problem: 'not-a-file',
      source: path,
      found: 'a link, folder, device or pipe next to a database',
      expected: 'a SQLite file, or none',
    });
  }
}

/** Whether a database has all of these, as tables and as nothing else. */
export const hasTables = (database: sqlite.DatabaseSync, names: readonly string[]): boolean =>
  tablesNamed(database, names) === names.length;

const tablesNamed = (database: sqlite.DatabaseSync, names: readonly string[]): number =>
  database
    .prepare(
      `SELECT name FROM sqlite_schema WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%' AND name IN (${names
        .map(() => '?')
        .join(', ')})`,
    )
    .all(...names).length;

/**
 * Makes sure that what is going to be read are tables, and none of a module's: a view may go on without end, or make of little what
 * no memory holds.
 * @throws {ConversationReadError}
 */
export function requireTables(database: sqlite.DatabaseSync, file: string, names: readonly string[]): void {
  if (hasTables(database, names)) return;
  const named = unsupportedDatabase(tablesIn(database), file);
  if (named) throw named;
  throw new ConversationReadError({
    problem: 'unknown-format',
    source: file,
    found: 'a SQLite database of another kind',
    expected: `one with the tables ${names.join(', ')}`,
  });
}

const tablesIn = (database: sqlite.DatabaseSync): ReadonlySet<string> =>
  new Set(
    database
      .prepare("SELECT name FROM sqlite_schema WHERE type = 'table'")
      .all()
      .map(({ name }) => String(name)),
  );

function databaseError(file: string, error: unknown): ConversationReadError {
  const message = errorMessage(error);
  const isForeign = /no such (?:table|column)/.test(message);
  const isBusy = /locked|busy/i.test(message);
  return new ConversationReadError(
    {
      problem: isForeign ? 'unknown-format' : 'io',
      source: file,
      found: isForeign ? 'a SQLite database of another kind' : `a database that can't be read (${message})`,
      expected: 'the store of OpenCode or Kilo',
      ...(isBusy && { advice: 'The agent is writing; try again.' }),
    },
    { cause: error },
  );
}
