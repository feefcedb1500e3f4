import { join } from 'node:path';
import { getErrorMessage } from '../core/errors';
import type { Files } from '../storage/files';
import { ignoreMissingFile, readTextIfPresent, readStatusIfPresent, writeNewFile } from '../storage/fileTools';
import { LOCK_TIMING, withFileLock, type LockTiming } from '../storage/lock';
import { recoverReplacement, undoReplacement } from './replacement';
import {
  isReplacementName,
  readReplacementRecord,
  removeReplacement,
  readReplacementState,
  type ReplacementRecord,
  type ReplacementState,
} from './replacementRecord';

/** Ledgers are kept for the same time. */
const MAX_REPLACEMENT_AGE_MS = 30 * 24 * 60 * 60 * 1000;

const DAY_MS = 24 * 60 * 60 * 1000;

const LOCK_FILE_NAME = 'lock';

/**
 * Lets only one window act at a time: recovery would mistake another window's replacement in
 * progress for an abandoned one.
 * @throws StorageError `locked`
 */
export async function withReplacementsLock<T>(
  files: Files,
  root: string,
  action: () => Promise<T>,
  timing: LockTiming = LOCK_TIMING,
): Promise<T> {
  await files.makeFolder(root);
  return withFileLock(files, join(root, LOCK_FILE_NAME), timing, action);
}

/** Oldest first, since names begin with the time. */
async function listReplacementFolders(files: Files, root: string): Promise<string[]> {
  const names = (await ignoreMissingFile(files.list(root))) ?? [];
  return names
    .filter(isReplacementName)
    .toSorted()
    .map((name) => join(root, name));
}

interface FinishedReplacement {
  readonly folder: string;
  readonly record: ReplacementRecord;
}

/** Lists finished replacements, oldest first. */
async function listFinished(
  files: Files,
  root: string,
  states: readonly ReplacementState[],
): Promise<FinishedReplacement[]> {
  const finishedReplacements: FinishedReplacement[] = [];
  for (const folder of await listReplacementFolders(files, root)) {
    const state = await readReplacementState(files, folder);
    if (state === undefined || !states.includes(state)) continue;
    // Skips records that can't be read: newer versions handle their own.
    const record = await readReplacementRecord(files, folder).catch(() => undefined);
    if (record) finishedReplacements.push({ folder, record });
  }
  return finishedReplacements;
}

export interface GivenBackConversation {
  readonly conversation: string;
  /** The conversation's file, if recorded. */
  readonly source?: string;
  /** The file that the agent continues with. */
  readonly path: string;
}

/** Oldest first. A conversation that was given back several times is in the list several times. */
export const listGivenBack = async (files: Files, root: string): Promise<GivenBackConversation[]> =>
  (await listFinished(files, root, ['done'])).flatMap(toGivenBackConversations);

/** Like {@link listGivenBack}, but includes what was undone since. */
export const listAllGivenBack = async (files: Files, root: string): Promise<GivenBackConversation[]> =>
  (await listFinished(files, root, ['done', 'undone'])).flatMap(toGivenBackConversations);

function toGivenBackConversations({
  record: { conversation, source, files },
}: FinishedReplacement): GivenBackConversation[] {
  const [written] = files;
  return written ? [{ conversation, ...(source !== undefined && { source }), path: written.path }] : [];
}

/** Returns the existing files that were given back from this one, or from a copy of it, oldest first. */
async function listCopiesOf(files: Files, root: string, originalPath: string): Promise<string[]> {
  const copies = new Set<string>();
  for (const { source, path } of await listAllGivenBack(files, root)) {
    if (path !== originalPath && (source === originalPath || copies.has(source ?? ''))) copies.add(path);
  }
  const existingCopies: string[] = [];
  for (const path of copies) {
    // A copy that cannot be checked counts as existing, so that the undo isn't reported as failed.
    if (await readStatusIfPresent(files, path).catch(() => true)) existingCopies.push(path);
  }
  return existingCopies;
}

/** Selects a give-back: the last one of this conversation, or the last one that wrote this file. */
export type GivenBackName = { readonly conversation: string } | { readonly path: string };

export interface UndoneGiveBack {
  /** Files that were given back from the removed file; they stay. */
  readonly copiesLeft: readonly string[];
}

/**
 * @returns undefined if nothing was given back
 * @throws GiveBackError `changed` if the agent has continued since; nothing is undone then
 */
export async function undoLastReplacement(
  files: Files,
  root: string,
  name: GivenBackName,
): Promise<UndoneGiveBack | undefined> {
  const lastReplacement = (await listFinished(files, root, ['done'])).findLast(({ record }) =>
    'path' in name ? record.files[0]?.path === name.path : record.conversation === name.conversation,
  );
  if (!lastReplacement) return undefined;
  await undoReplacement(files, lastReplacement.folder);
  const [writtenFile] = lastReplacement.record.files;
  const wasAdded = writtenFile?.before === null;
  return { copiesLeft: wasAdded ? await listCopiesOf(files, root, writtenFile.path) : [] };
}

export interface RecoveryResult {
  readonly recovered: number;
  readonly problems: readonly string[];
}

/** If one replacement can't be recovered, the others still are. */
export async function recoverAllReplacements(files: Files, root: string, now: Date): Promise<RecoveryResult> {
  let recoveredCount = 0;
  const problems: string[] = [];
  for (const folder of await listReplacementFolders(files, root)) {
    try {
      const stateBefore = await readReplacementState(files, folder);
      const stateAfter = await recoverReplacement(files, folder);
      if (stateBefore !== stateAfter) recoveredCount += 1;
      const status = await readStatusIfPresent(files, folder);
      if (stateAfter && status && (await markAndCheckExpiry(files, folder, now.getTime() - status.modified, now)))
        await removeReplacement(files, folder);
    } catch (error) {
      problems.push(getErrorMessage(error));
    }
  }
  return { recovered: recoveredCount, problems };
}

/** The clock may be wrong once, so this takes two checks a day apart. */
async function markAndCheckExpiry(files: Files, folder: string, ageMs: number, now: Date): Promise<boolean> {
  const path = join(folder, 'expired');
  const markedAt = Number((await readTextIfPresent(files, path)) ?? Number.NaN);
  const isOld = ageMs > MAX_REPLACEMENT_AGE_MS && !(markedAt > now.getTime());
  if (isOld && now.getTime() - markedAt > DAY_MS) return true;
  if (isOld === Number.isFinite(markedAt)) return false;
  const { modified } = await files.status(folder);
  if (isOld) await writeNewFile(files, path, new TextEncoder().encode(String(now.getTime())));
  else await ignoreMissingFile(files.removeFile(path));
  // Restores the folder's time, which determines its age.
  await files.touch(folder, modified);
  return false;
}
