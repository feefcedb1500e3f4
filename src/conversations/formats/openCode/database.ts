/**
 * OpenCode (since 1.2) and Kilo (since 7) have tables `session`, `message` and `part` with JSON in
 * a column `data`. Run calls in a worker. Source: OpenCode's session.sql.ts.
 */
import type * as sqlite from 'node:sqlite';
import { isRecord } from '../../../core/messages/blocks';
import { type OpenDatabases, hasTables, requireTables, withDatabase } from '../../databases';
import { convertVersion2Messages } from './secondStore';
import type { OpenCodeDocument } from './openCode';
import { ConversationReadError } from '../../readError';
import { type Fields, stringifyValue, readString } from '../../text/values';

export interface DatabaseSession {
  readonly id: string;
  readonly title: string;
  readonly workspace: string;
  readonly parent: string | undefined;
  /** Milliseconds since the epoch. */
  readonly modified: number;
}

/**
 * A manual compaction changes messages but not the session's time (1.18, POST
 * /session/:id/summarize).
 */
const LAST_UPDATE_SQL = `max(time_updated, coalesce(
  (SELECT time_updated FROM message WHERE session_id = session.id ORDER BY time_created DESC LIMIT 1), 0))`;

/**
 * @param databases keeps the store open
 * @throws {ConversationReadError} if the file is not such a store or the host has no SQLite
 */
export function listSessions(file: string, databases?: OpenDatabases): DatabaseSession[] {
  return withDatabase(file, databases, (database) => {
    const hasVersion2 = hasTables(database, TABLES_OF_VERSION_2);
    if (!hasVersion2) requireTables(database, file, ['session']);
    // A migrated store may contain a session in the tables of both versions. OpenCode 2 continues
    // the one in its own table.
    const sessions = new Map<string, DatabaseSession>();
    for (const table of [
      ...(hasVersion2 ? ['session_v2'] : []),
      ...(hasTables(database, ['session']) ? ['session'] : []),
    ]) {
      const modifiedColumn = table === 'session' && hasTables(database, ['message']) ? LAST_UPDATE_SQL : 'time_updated';
      for (const row of queryRows(
        database,
        `SELECT id, title, directory, parent_id, ${modifiedColumn} AS modified FROM ${table}`,
      )) {
        const id = stringifyValue(row['id']);
        if (sessions.has(id)) continue;
        sessions.set(id, {
          id,
          title: stringifyValue(row['title']),
          workspace: stringifyValue(row['directory']),
          parent: readString(row, 'parent_id'),
          modified: Number(row['modified']),
        });
      }
    }
    return [...sessions.values()].sort((a, b) => b.modified - a.modified);
  });
}

/**
 * @param id without it the store must contain a single session
 * @throws {ConversationReadError} if there is no such session
 */
export function readSession(file: string, id: string | undefined, databases?: OpenDatabases): OpenCodeDocument {
  return withDatabase(file, databases, (database) => {
    const version2Session = hasTables(database, TABLES_OF_VERSION_2) ? readVersion2Session(database, id) : undefined;
    // An interrupted migration created the session but did not move its messages.
    if (
      version2Session &&
      (version2Session.messages.length > 0 || !hasMessages(database, stringifyValue(version2Session.info['id'])))
    )
      return version2Session;
    if (hasTables(database, TABLES_OF_VERSION_2) && !hasTables(database, ['session', 'message', 'part'])) {
      throw createSessionError(file, id, queryRows(database, 'SELECT id FROM session_v2 LIMIT 2').length > 1);
    }
    requireTables(database, file, ['session', 'message', 'part']);
    const [sessionRow, secondRow] = queryRows(
      database,
      `SELECT id, title, directory, parent_id, revert, time_created FROM session ${id === undefined ? 'LIMIT 2' : 'WHERE id = ?'}`,
      ...(id === undefined ? [] : [id]),
    );
    if (!sessionRow || secondRow) throw createSessionError(file, id, secondRow !== undefined);
    const sessionId = stringifyValue(sessionRow['id']);
    const { byMessage, unreadable } = readPartsByMessage(database, sessionId);
    const messages = queryRows(
      database,
      'SELECT id, data FROM message WHERE session_id = ? ORDER BY time_created, id',
      sessionId,
    );
    const messageBodies = messages.map(({ data }) => parseObject(data));
    return {
      info: {
        id: sessionId,
        title: sessionRow['title'],
        directory: sessionRow['directory'],
        parentID: sessionRow['parent_id'],
        revert: parseObject(sessionRow['revert']),
        time: { created: sessionRow['time_created'] },
      },
      messages: messages.map(({ id: message }, index) => ({
        info: { ...messageBodies[index], id: message },
        parts: byMessage.get(stringifyValue(message)) ?? [],
      })),
      unreadable: unreadable + messageBodies.filter((body) => body === undefined).length,
    };
  });
}

const hasMessages = (database: sqlite.DatabaseSync, session: string): boolean =>
  hasTables(database, ['session', 'message', 'part']) &&
  queryRows(database, 'SELECT id FROM session WHERE id = ?', session).length > 0 &&
  queryRows(database, 'SELECT id FROM message WHERE session_id = ? LIMIT 1', session).length > 0;

const TABLES_OF_VERSION_2 = ['session_v2', 'session_message'];

function readVersion2Session(database: sqlite.DatabaseSync, id: string | undefined): OpenCodeDocument | undefined {
  const queryCondition = id === undefined ? 'LIMIT 2' : 'WHERE id = ?';
  const [sessionRow, secondRow] = queryRows(
    database,
    // Some versions lack the column `revert`.
    `SELECT * FROM session_v2 ${queryCondition}`,
    ...(id === undefined ? [] : [id]),
  );
  const isOnlySession =
    id !== undefined ||
    !hasTables(database, ['session']) ||
    queryRows(database, 'SELECT id FROM session LIMIT 1').length === 0;
  if (!sessionRow || secondRow || !isOnlySession) return undefined;
  const sessionId = stringifyValue(sessionRow['id']);
  const messageRows = queryRows(
    database,
    'SELECT id, type, data FROM session_message WHERE session_id = ? ORDER BY seq, time_created, id',
    sessionId,
  );
  const readableMessages = messageRows.flatMap(({ id: message, type, data }) => {
    const fields = parseObject(data);
    return fields ? [{ id: stringifyValue(message), type: stringifyValue(type), data: fields }] : [];
  });
  return {
    info: {
      id: sessionId,
      title: sessionRow['title'],
      directory: sessionRow['directory'],
      parentID: sessionRow['parent_id'],
      revert: parseObject(sessionRow['revert']),
      time: { created: sessionRow['time_created'] },
    },
    ...convertVersion2Messages(readableMessages),
    unreadable: messageRows.length - readableMessages.length,
  };
}

function readPartsByMessage(
  database: sqlite.DatabaseSync,
  session: string,
): { readonly byMessage: ReadonlyMap<string, Fields[]>; readonly unreadable: number } {
  const partsByMessage = new Map<string, Fields[]>();
  let unreadableCount = 0;
  for (const { id, message_id: message, data } of queryRows(
    database,
    'SELECT id, message_id, data FROM part WHERE session_id = ? ORDER BY id',
    session,
  )) {
    const fields = parseObject(data);
    if (!fields) {
      unreadableCount += 1;
      continue;
    }
    const part = { ...fields, id };
    const partsOfMessage = partsByMessage.get(stringifyValue(message));
    if (partsOfMessage) partsOfMessage.push(part);
    else partsByMessage.set(stringifyValue(message), [part]);
  }
  return { byMessage: partsByMessage, unreadable: unreadableCount };
}

const queryRows = (database: sqlite.DatabaseSync, query: string, ...values: string[]): Fields[] =>
  database
    .prepare(query)
    .all(...values)
    .filter(isRecord);

/** Returns undefined for broken JSON, so that the rest of the session can be read. */
function parseObject(text: unknown): Fields | undefined {
  if (typeof text !== 'string') return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function createSessionError(file: string, id: string | undefined, hasSeveralSessions: boolean): ConversationReadError {
  return new ConversationReadError({
    problem: 'not-found',
    source: file,
    found:
      id !== undefined ? `no session "${id}" in the database` : hasSeveralSessions ? 'several sessions' : 'no sessions',
    expected: 'the path of the database, "#", and the id of one of its sessions',
  });
}
