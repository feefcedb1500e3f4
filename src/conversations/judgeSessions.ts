/** Judges ways to condense by stored sessions. Runs in a worker or a process of its own: reading is synchronous. */
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { judge, tallySession, type Judgement, type SessionTally } from '../core/condense/futureNeed/judge';
import { type JudgedWay } from '../core/condense/futureNeed/judgedWays';
import { hashText } from '../core/hash';
import { messageKey } from '../core/messages/messageKey';
import type { TokenCounter } from '../core/tokens/types';
import { isConversationReadError } from './readError';
import { readConversationFile } from './readFile';
import type { Conversation } from './types';

export interface JudgedSessions extends Judgement {
  /** Sessions that were read, each once: an agent that resumes a session may store its beginning again. */
  readonly read: number;
  /** Files that are no conversations. */
  readonly others: number;
}

export interface JudgeOptions {
  readonly tokens: TokenCounter;
  readonly signal?: AbortSignal | undefined;
  /** @param done of so many files. */
  readonly onProgress?: ((done: number, of: number) => void) | undefined;
}

/** A beginning by which a session is known again. */
const BEGINNING = 3;
/** Far above any session that an agent can still go on with. Bytes. */
const MAX_BYTES = 200e6;

/**
 * @param locations as `readConversationFile` takes them; the longest should come first, so that of sessions with one beginning it counts.
 * @param ways with the user's settings first.
 * @throws the signal's reason where it was aborted.
 */
export async function judgeSessions(
  locations: readonly string[],
  ways: readonly JudgedWay[],
  { tokens, signal, onProgress }: JudgeOptions,
): Promise<JudgedSessions> {
  const tallies: SessionTally[] = [];
  const found = await forEachSession(locations, { signal, onProgress }, async ({ messages }) => {
    const tally = await tallySession(messages, ways, tokens, { signal });
    if (tally) tallies.push(tally);
  });
  return { ...judge(tallies, ways), ...found };
}

/** A session as it was stored, and what tells it from others. */
export interface ReadSession extends Conversation {
  readonly location: string;
  /** Of its beginning. */
  readonly key: string;
}

/**
 * Reads sessions one by one, each once.
 * @throws the signal's reason where it was aborted.
 */
async function forEachSession(
  locations: readonly string[],
  { signal, onProgress }: Omit<JudgeOptions, 'tokens'>,
  visit: (session: ReadSession) => void | Promise<void>,
): Promise<Pick<JudgedSessions, 'read' | 'others'>> {
  const seen = new Set<string>();
  let others = 0;
  for (const [done, location] of locations.entries()) {
    onProgress?.(done, locations.length);
    signal?.throwIfAborted();
    try {
      const conversation = readConversationFile(location, { history: 'all' }, { maxBytes: MAX_BYTES });
      const key = hashText(conversation.messages.slice(0, BEGINNING).map(messageKey).join());
      if (seen.has(key)) continue;
      seen.add(key);
      await visit({ ...conversation, location, key });
    } catch (error) {
      if (!isConversationReadError(error)) throw error;
      others++;
    }
  }
  onProgress?.(locations.length, locations.length);
  return { read: seen.size, others };
}

/** The JSON files of folders, whatever is in them, the largest first. Links are not followed. @throws where one can't be listed */
export async function sessionFilesIn(folders: readonly string[]): Promise<string[]> {
  const found = await Promise.all(
    folders.map(async (folder) => {
      if ((await stat(folder)).isFile()) return [folder];
      const entries = await readdir(folder, { recursive: true, withFileTypes: true });
      return entries
        .filter((entry) => entry.isFile() && /\.jsonl?$/i.test(entry.name))
        .map((entry) => join(entry.parentPath, entry.name));
    }),
  );
  const files = [...new Set(found.flat())];
  const sizes = new Map(await Promise.all(files.map(async (file) => [file, (await stat(file)).size] as const)));
  return files.sort((a, b) => (sizes.get(b) ?? 0) - (sizes.get(a) ?? 0) || (a < b ? -1 : 1));
}
