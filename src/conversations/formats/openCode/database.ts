/**
 * The SQLite store of OpenCode (1.2 and later) and Kilo (7 and later): tables `session`, `message` and `part`, their fields as
 * JSON in a column `data`. Runs in a worker: the calls block. Source: OpenCode's session.sql.ts.
 */
import type * as sqlite from 'node:sqlite';
import { isRecord } from '../../../core/messages/blocks';
import { type OpenDatabases, requireTables, withDatabase } from '../../databases';
import type { OpenCodeDocument } from './openCode';
import { ConversationReadError } from '../../readError';
import { type Fields, asText, stringIn } from '../../text/values';

/** A session as the store lists it. */
export interface DatabaseSession {
  readonly id: string;
  readonly title: string;
  readonly workspace: string;
  readonly parent: string | undefined;
  /** Milliseconds since the epoch. */
  readonly modified: number;
}

/**
 * @param databases opens the store and keeps it open; without them it is closed again
 * @throws {ConversationReadError} for a file that is no such store, or a host without SQLite
 */
export function listSessions(file: string, databases?: OpenDatabases): DatabaseSession[] {
  return withDatabase(file, databases, (database) => {
    requireTables(database, file, ['session']);
    const query = 'SELECT id, title, directory, parent_id, time_updated FROM session ORDER BY time_updated DESC';
    return rows(database, query).map((row) => ({
      id: asText(row['id']),
      title: asText(row['title']),
      workspace: asText(row['directory']),
      parent: stringIn(row, 'parent_id'),
      modified: Number(row['time_updated']),
    }));
  });
}

/**
 * @param id the session's; without one the store must hold a single session
 * @param databases opens the store and keeps it open; without them it is closed again
 * @throws {ConversationReadError} where there is no such session
 */
export function readSession(file: string, id: string | undefined, databases?: OpenDatabases): OpenCodeDocument {
  return withDatabase(file, databases, (database) => {
    requireTables(database, file, ['session', 'message', 'part']);
    const [session, other] = rows(
      database,
      `SELECT id, title, directory, parent_id, revert, time_created FROM session ${id === undefined ? 'LIMIT 2' : 'WHERE id = ?'}`,
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
        time: { created: session['time_created'] },
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

/** The object in a column; undefined where its JSON is broken: the rest of the session can still be read. */
function fromJson(text: unknown): Fields | undefined {
  if (typeof text !== 'string') return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function whichSession(file: string, id: string | undefined, several: boolean): ConversationReadError {
  return new ConversationReadError({
    problem: 'not-found',
    source: file,
    found: id !== undefined ? `no session "${id}" in the database` : several ? 'several sessions' : 'no sessions',
    expected: 'the path of the database, "#", and the id of one of its sessions',
  });
}
