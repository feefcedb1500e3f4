/**
 * The files of OpenCode before 1.2: `storage/session/<project>/<session>.json`, the messages in `storage/message/<session>/`,
 * their parts in `storage/part/<message>/`. Runs in a worker: the calls block.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isRecord } from '../core/messages/blocks';
import type { OpenCodeDocument } from './openCode';
import { type Fields, stringIn } from './values';

/**
 * @param file the session's file
 * @param info what is in it
 */
export function readSessionFiles(file: string, info: Fields): OpenCodeDocument {
  const storage = dirname(dirname(dirname(file)));
  // Ids ascend with time.
  const messages = recordsIn(join(storage, 'message', safeName(stringIn(info, 'id'))));
  return {
    info,
    messages: messages.map((message) => ({
      info: message,
      parts: recordsIn(join(storage, 'part', safeName(stringIn(message, 'id')))),
    })),
  };
}

/** An id that is more than a name leads nowhere. */
const safeName = (id: string | undefined): string => (id !== undefined && /^\w+$/.test(id) ? id : 'unnamed');

/** A file that is missing, half written or of another kind is left out: the rest of the session can still be read. */
function recordsIn(folder: string): Fields[] {
  return namesIn(folder)
    .filter((name) => name.endsWith('.json'))
    .toSorted()
    .flatMap((name) => {
      try {
        const value: unknown = JSON.parse(readFileSync(join(folder, name), 'utf8'));
        return isRecord(value) ? [value] : [];
      } catch {
        return [];
      }
    });
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
