/**
 * The SQLite store of OpenCode (1.2 and later) and Kilo (7 and later): tables `session`, `message` and `part`, their fields as
 * JSON in a column `data`. Opened for reading only. Runs in a worker: the calls block. Source: OpenCode's session.sql.ts.
 */
import { existsSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import type * as sqlite from 'node:sqlite';
import { isRecord } from '../core/messages/blocks';
import type { OpenCodeDocument } from './openCode';
import { ConversationReadError } from './readError';
import { type Fields, asText, stringIn } from './values';

/** The first bytes of every SQLite file. */
const MAGIC = 'SQLite format 3\0';

export const isDatabase = (head: Uint8Array): boolean =>
  Buffer.from(head.buffer, head.byteOffset, Math.min(head.byteLength, MAGIC.length)).toString('latin1') === MAGIC;

/** A session as the store lists it. */
export interface DatabaseSession {
  readonly id: string;
  readonly title: string;
  readonly workspace: string;
  readonly parent: string | undefined;
  /** Milliseconds since the epoch. */
  readonly modified: number;
}

/** @throws {ConversationReadError} for a file that is no such store, or a host without SQLite */
export function listSessions(file: string): DatabaseSession[] {
  return withDatabase(file, (database) =>
    rows(database, 'SELECT id, title, directory, parent_id, time_updated FROM session ORDER BY time_updated DESC').map(
      (row) => ({
        id: asText(row['id']),
        title: asText(row['title']),
        workspace: asText(row['directory']),
        parent: stringIn(row, 'parent_id'),
        modified: Number(row['time_updated']),
      }),
    ),
  );
}

/**
 * @param id the session's; without one the store must hold a single session
 * @throws {ConversationReadError} where there is no such session
 */
export function readSession(file: string, id: string | undefined): OpenCodeDocument {
  return withDatabase(file, (database) => {
    const [session, other] = rows(
      database,
      `SELECT id, title, directory, parent_id, revert FROM session ${id === undefined ? 'LIMIT 2' : 'WHERE id = ?'}`,
      ...(id === undefined ? [] : [id]),
    );
    if (!session || other) throw whichSession(file, id, other !== undefined);
    const sessionId = asText(session['id']);
    const { byMessage, unreadable } = partsByMessage(database, sessionId);
    const messages = rows(
      database,
      'SELECT id, data FROM message WHERE session_id = ? ORDER BY time_created, id',
      sessionId,
    );
    const bodies = messages.map(({ data }) => fromJson(data));
    return {
      info: {
        id: sessionId,
        title: session['title'],
        directory: session['directory'],
        parentID: session['parent_id'],
        revert: fromJson(session['revert']),
      },
      messages: messages.map(({ id: message }, index) => ({
        info: { ...bodies[index], id: message },
        parts: byMessage.get(asText(message)) ?? [],
      })),
      unreadable: unreadable + bodies.filter((body) => body === undefined).length,
    };
  });
}

function partsByMessage(
  database: sqlite.DatabaseSync,
  session: string,
): { readonly byMessage: ReadonlyMap<string, Fields[]>; readonly unreadable: number } {
  const byMessage = new Map<string, Fields[]>();
  let unreadable = 0;
  for (const { id, message_id: message, data } of rows(
    database,
    'SELECT id, message_id, data FROM part WHERE session_id = ? ORDER BY id',
    session,
  )) {
    const fields = fromJson(data);
    if (!fields) {
      unreadable += 1;
      continue;
    }
    const part = { ...fields, id };
    const known = byMessage.get(asText(message));
    if (known) known.push(part);
    else byMessage.set(asText(message), [part]);
  }
  return { byMessage, unreadable };
}

const rows = (database: sqlite.DatabaseSync, query: string, ...values: string[]): Fields[] =>
  database
    .prepare(query)
    .all(...values)
    .filter(isRecord);

/** None for a column of JSON that is broken: the rest of the session can still be read. */
function fromJson(text: unknown): Fields | undefined {
  if (typeof text !== 'string') return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** How long a store that is being written is waited for, in milliseconds. */
const BUSY_MS = 2_000;

function withDatabase<T>(file: string, read: (database: sqlite.DatabaseSync) => T): T {
  let database: sqlite.DatabaseSync | undefined;
  try {
    database = open(file);
    return read(database);
  } catch (error) {
    throw error instanceof ConversationReadError ? error : databaseError(file, error);
  } finally {
    database?.close();
  }
}

function open(file: string): sqlite.DatabaseSync {
  // Not every host has it: Node 20 and VS Code before 1.101 have none. It is loaded when the first store is read.
  const host: Partial<Pick<NodeJS.Process, 'getBuiltinModule'>> = process;
  const module = host.getBuiltinModule?.('node:sqlite');
  if (!module) {
    throw new ConversationReadError({
      problem: 'unsupported',
      source: file,
      found: 'a SQLite database, and a host that can not read it',
      expected: 'Node 22.13 or later, or VS Code 1.101 or later',
      advice: 'Update VS Code, or export the session ("opencode export <session>") and open that file.',
    });
  }
  // Without a log beside it nobody has the store open: read so that not even SQLite's own helper files are made.
  const url = pathToFileURL(file);
  if (!existsSync(`${file}-wal`)) url.searchParams.set('immutable', '1');
  const database = new module.DatabaseSync(url, { readOnly: true });
  database.exec(`PRAGMA busy_timeout = ${BUSY_MS}`);
  return database;
}

function whichSession(file: string, id: string | undefined, several: boolean): ConversationReadError {
  return new ConversationReadError({
    problem: 'not-found',
    source: file,
    found: id !== undefined ? `no session "${id}" in the database` : several ? 'several sessions' : 'no sessions',
    expected: 'the path of the database, "#", and the id of one of its sessions',
  });
}

function databaseError(file: string, error: unknown): ConversationReadError {
  const message = error instanceof Error ? error.message : String(error);
  const isForeign = /no such (?:table|column)/.test(message);
  const isBusy = /locked|busy/i.test(message);
  return new ConversationReadError(
    {
      problem: isForeign ? 'unknown-format' : 'io',
      source: file,
      found: isForeign ? 'a SQLite database of another kind' : `a database that can not be read (${message})`,
      expected: 'the store of OpenCode or Kilo',
      ...(isBusy && { advice: 'The agent is writing; try again.' }),
    },
    { cause: error },
  );
}
