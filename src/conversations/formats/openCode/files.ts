/**
 * The files of OpenCode before 1.2: `storage/session/<project>/<session>.json`, the messages in `storage/message/<session>/`,
 * their parts in `storage/part/<message>/`. Runs in a worker: the calls block.
 */
import { lstatSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isRecord } from '../../../core/messages/blocks';
import type { OpenCodeDocument } from './openCode';
import { type Fields, stringIn } from '../../text/values';

/**
 * @param file the session's file
 * @param info what is in it
 */
export function readSessionFiles(file: string, info: Fields): OpenCodeDocument {
  const storage = dirname(dirname(dirname(file)));
  // Ids ascend with time.
  const { records, unreadable } = recordsIn(join(storage, 'message', safeName(stringIn(info, 'id'))));
  const messages = records.map((message) => ({
    info: message,
    parts: recordsIn(join(storage, 'part', safeName(stringIn(message, 'id')))),
  }));
  return {
    info,
    messages: messages.map(({ info: message, parts }) => ({ info: message, parts: parts.records })),
    unreadable: messages.reduce((sum, { parts }) => sum + parts.unreadable, unreadable),
  };
}

/** An id that is more than a name leads nowhere. */
const safeName = (id: string | undefined): string => (id !== undefined && /^\w+$/.test(id) ? id : 'unnamed');

/** A file that is missing, half written or of another kind is counted: the rest of the session can still be read. */
function recordsIn(folder: string): { readonly records: readonly Fields[]; readonly unreadable: number } {
  const names = namesIn(folder).filter((name) => name.endsWith('.json'));
  const records = names.toSorted().flatMap((name) => {
    try {
      const value: unknown = JSON.parse(textOf(join(folder, name)));
      return isRecord(value) ? [value] : [];
    } catch {
      return [];
    }
  });
  return { records, unreadable: names.length - records.length };
}

/** Far above any message or part that the agent wrote. */
const MAX_BYTES = 256 * 1024 ** 2;

/** @throws for what is no file of the store's own: a link may lead out of it, a pipe would be waited for without end */
function textOf(path: string): string {
  const stats = lstatSync(path);
  if (!stats.isFile() || stats.size > MAX_BYTES) throw new Error('not a file of the store');
  return readFileSync(path, 'utf8');
}

function namesIn(folder: string): string[] {
  try {
    return lstatSync(folder).isDirectory() ? readdirSync(folder) : [];
  } catch {
    return [];
  }
}
