/**
 * Before 1.2 OpenCode stored `storage/session/<project>/<session>.json`, messages in
 * `storage/message/<session>/` and parts in `storage/part/<message>/`. Calls block, so run them in
 * a worker.
 */
import { lstatSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isRecord } from '../../../core/messages/blocks';
import type { OpenCodeDocument } from './openCode';
import { type Fields, readString } from '../../text/values';

export function readSessionFiles(file: string, info: Fields): OpenCodeDocument {
  const storage = dirname(dirname(dirname(file)));
  // Files are sorted by name, which is the id, and ids increase with time.
  const { records, unreadable } = readJsonRecords(join(storage, 'message', toSafeFileName(readString(info, 'id'))));
  const messages = records.map((message) => ({
    info: message,
    parts: readJsonRecords(join(storage, 'part', toSafeFileName(readString(message, 'id')))),
  }));
  return {
    info,
    messages: messages.map(({ info: message, parts }) => ({ info: message, parts: parts.records })),
    unreadable: messages.reduce((sum, { parts }) => sum + parts.unreadable, unreadable),
  };
}

/** An id that is not a plain name could lead out of the store. */
const toSafeFileName = (id: string | undefined): string => (id !== undefined && /^\w+$/.test(id) ? id : 'unnamed');

/** Counts unreadable files, so that the rest of the session can be read. */
function readJsonRecords(folder: string): { readonly records: readonly Fields[]; readonly unreadable: number } {
  const names = listFileNames(folder).filter((name) => name.endsWith('.json'));
  const records = names.toSorted().flatMap((name) => {
    try {
      const value: unknown = JSON.parse(readBoundedText(join(folder, name)));
      return isRecord(value) ? [value] : [];
    } catch {
      return [];
    }
  });
  return { records, unreadable: names.length - records.length };
}

const MAX_RECORD_FILE_BYTES = 256 * 1024 ** 2;

/** @throws for links, which may lead out of the store, and pipes, which would block */
function readBoundedText(path: string): string {
  const stats = lstatSync(path);
  if (!stats.isFile() || stats.size > MAX_RECORD_FILE_BYTES) throw new Error('not a file of the store');
  return readFileSync(path, 'utf8');
}

function listFileNames(folder: string): string[] {
  try {
    return lstatSync(folder).isDirectory() ? readdirSync(folder) : [];
  } catch {
    return [];
  }
}
