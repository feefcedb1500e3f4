/** Reading sessions blocks, so run this in a worker or a separate process. */
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import {
  compareChoices,
  tallyNeededLinesOfSession,
  type ChoiceComparison,
  type SessionTally,
} from '../core/condense/futureNeed/judge';
import { type JudgedChoice } from '../core/condense/futureNeed/judgedChoices';
import { hashText } from '../core/hash';
import { makeMessageKey } from '../core/messages/messageKey';
import type { TokenCounter } from '../core/tokens/types';
import { isConversationReadError } from './readError';
import { readConversationFile } from './readFile';
import type { Conversation } from './types';

export interface JudgedSessions extends ChoiceComparison {
  /**
   * Number of sessions read. A session that an agent stored again when it was resumed counts once.
   */
  readonly read: number;
  readonly others: number;
}

export interface JudgeOptions {
  readonly tokens: TokenCounter;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((done: number, of: number) => void) | undefined;
}

/** Sessions count as one if their first messages, up to this number, are the same. */
const MESSAGES_COMPARED_FOR_COPIES = 3;
/** Agents cannot continue sessions this large. */
const MAX_SESSION_BYTES = 200e6;

/**
 * @param locations longest session first; of sessions with the same beginning, the first counts
 * @param choices the user's settings first
 * @throws the signal's reason
 */
export async function judgeSessions(
  locations: readonly string[],
  choices: readonly JudgedChoice[],
  { tokens, signal, onProgress }: JudgeOptions,
): Promise<JudgedSessions> {
  const tallies: SessionTally[] = [];
  const sessionCounts = await forEachSession(locations, { signal, onProgress }, async ({ messages }) => {
    const tally = await tallyNeededLinesOfSession(messages, choices, tokens, { signal });
    if (tally) tallies.push(tally);
  });
  return { ...compareChoices(tallies, choices), ...sessionCounts };
}

async function forEachSession(
  locations: readonly string[],
  { signal, onProgress }: Omit<JudgeOptions, 'tokens'>,
  visitSession: (session: Conversation) => void | Promise<void>,
): Promise<Pick<JudgedSessions, 'read' | 'others'>> {
  const seenKeys = new Set<string>();
  let unreadableCount = 0;
  for (const [done, location] of locations.entries()) {
    onProgress?.(done, locations.length);
    signal?.throwIfAborted();
    try {
      const conversation = readConversationFile(location, { history: 'all' }, { maxBytes: MAX_SESSION_BYTES });
      const key = hashText(conversation.messages.slice(0, MESSAGES_COMPARED_FOR_COPIES).map(makeMessageKey).join());
      if (seenKeys.has(key)) continue;
      seenKeys.add(key);
      await visitSession(conversation);
    } catch (error) {
      if (!isConversationReadError(error)) throw error;
      unreadableCount++;
    }
  }
  onProgress?.(locations.length, locations.length);
  return { read: seenKeys.size, others: unreadableCount };
}

/**
 * Lists JSON files, largest first, without following links.
 * @throws if a folder can't be listed
 */
export async function listSessionFiles(folders: readonly string[]): Promise<string[]> {
  const filesByFolder = await Promise.all(
    folders.map(async (folder) => {
      if ((await stat(folder)).isFile()) return [folder];
      const entries = await readdir(folder, { recursive: true, withFileTypes: true });
      return entries
        .filter((entry) => entry.isFile() && /\.jsonl?$/i.test(entry.name))
        .map((entry) => join(entry.parentPath, entry.name));
    }),
  );
  const files = [...new Set(filesByFolder.flat())];
  const sizes = new Map(await Promise.all(files.map(async (file) => [file, (await stat(file)).size] as const)));
  return files.sort((a, b) => (sizes.get(b) ?? 0) - (sizes.get(a) ?? 0) || (a < b ? -1 : 1));
}
