/** The folder of all replacements: which can be undone, which a dead process left half done, which are too old. */
import { join } from 'node:path';
import { errorMessage } from '../core/errors';
import type { Files } from '../storage/files';
import { ifThere, readText, statusIfThere } from '../storage/fileTools';
import { LOCK_TIMING, withLock, type LockTiming } from '../storage/lock';
import { writeNew } from './fileBytes';
import { recoverReplacement, undoReplacement } from './replacement';
import { isReplacementName, readRecord, removeReplacement, stateOf } from './replacementRecord';

/** As long as ledgers are kept. */
const MAX_AGE_MS = 30 * 24 * 60 * 60 * 1000;

const DAY_MS = 24 * 60 * 60 * 1000;

const LOCK = 'lock';

/**
 * Does something while no other window replaces, undoes or recovers: recovering takes a replacement that somebody is at
 * for one that a dead process left.
 * @throws StorageError `locked`
 */
export async function withReplacements<T>(
  files: Files,
  root: string,
  action: () => Promise<T>,
  timing: LockTiming = LOCK_TIMING,
): Promise<T> {
  await files.makeFolder(root);
  return withLock(files, join(root, LOCK), timing, action);
}

/** Folders of replacements, oldest first: their names begin with the time. */
async function foldersIn(files: Files, root: string): Promise<string[]> {
  const names = (await ifThere(files.list(root))) ?? [];
  return names
    .filter(isReplacementName)
    .toSorted()
    .map((name) => join(root, name));
}

/** Replacements that can be undone, by conversation: the last of each. */
async function lastDone(files: Files, root: string): Promise<ReadonlyMap<string, string>> {
  const last = new Map<string, string>();
  for (const folder of await foldersIn(files, root)) {
    if ((await stateOf(files, folder)) !== 'done') continue;
    // One that a newer version wrote is that version's to undo.
    const record = await readRecord(files, folder).catch(() => undefined);
    if (record) last.set(record.conversation, folder);
  }
  return last;
}

/** Ids of the conversations whose giving back can be undone. */
export const givenBack = async (files: Files, root: string): Promise<string[]> => [
  ...(await lastDone(files, root)).keys(),
];

/**
 * Undoes the last giving back of a conversation.
 * @returns false where there is none.
 * @throws GiveBackError `changed` where the agent went on since: nothing is undone then.
 */
export async function undoLast(files: Files, root: string, conversation: string): Promise<boolean> {
  const folder = (await lastDone(files, root)).get(conversation);
  if (folder === undefined) return false;
  await undoReplacement(files, folder);
  return true;
}

export interface Recovery {
  /** How many were finished or taken back. */
  readonly recovered: number;
  readonly problems: readonly string[];
}

/** Finishes what a dead process had begun, and removes what is too old to be undone. One that fails stops no other. */
export async function recoverAll(files: Files, root: string, now: Date): Promise<Recovery> {
  let recovered = 0;
  const problems: string[] = [];
  for (const folder of await foldersIn(files, root)) {
    try {
      const before = await stateOf(files, folder);
      const after = await recoverReplacement(files, folder);
      if (before !== after) recovered += 1;
      const status = await statusIfThere(files, folder);
      if (after && status && (await isExpired(files, folder, now.getTime() - status.modified, now)))
        await removeReplacement(files, folder);
    } catch (error) {
      problems.push(errorMessage(error));
    }
  }
  return { recovered, problems };
}

/** Whether it was too old at two looks a day apart: at a single one the clock may be wrong. */
async function isExpired(files: Files, folder: string, age: number, now: Date): Promise<boolean> {
  const path = join(folder, 'expired');
  const since = Number((await readText(files, path)) ?? Number.NaN);
  const isOld = age > MAX_AGE_MS && !(since > now.getTime());
  if (isOld && now.getTime() - since > DAY_MS) return true;
  if (isOld === Number.isFinite(since)) return false;
  const { modified } = await files.status(folder);
  if (isOld) await writeNew(files, path, new TextEncoder().encode(String(now.getTime())));
  else await ifThere(files.removeFile(path));
  // Its age is that of the folder.
  await files.touch(folder, modified);
  return false;
}
