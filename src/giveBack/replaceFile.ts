import { basename, dirname, join } from 'node:path';
import type { Files } from '../storage/files';
import { ignoreMissingFile, readStatusIfPresent, writeNewFile } from '../storage/fileTools';
import { hashFileIfPresent, readFileBytesIfPresent } from './fileBytes';
import { createFileChangedError, GiveBackError } from './giveBackError';

/** Throws if files may no longer be written. */
export type WriteGuard = () => void;

export const NO_WRITE_GUARD: WriteGuard = () => undefined;

export type FileChangedAction = 'leave' | 'refuse';

export interface FileReplacement {
  readonly path: string;
  /** Hash of the content to replace; null for no file. */
  readonly hashBefore: string | null;
  /** Path of the stored copy that replaces the file; undefined if the file is to be removed. */
  readonly keptFile: string | undefined;
  /** Hash of the content afterwards. */
  readonly hashAfter: string | null;
  readonly whenChanged: FileChangedAction;
  readonly temporary: string;
}

/**
 * All new bytes are on disk before the first file changes, so a full disk changes nothing.
 * @throws GiveBackError `changed` if a file has changed meanwhile; the guard's errors
 */
export async function replaceFilesInOrder(
  files: Files,
  replacements: readonly FileReplacement[],
  guard: WriteGuard,
): Promise<void> {
  const pendingReplacements: FileReplacement[] = [];
  for (const replacement of replacements)
    if (await matchesExpectedHash(files, replacement)) pendingReplacements.push(replacement);
  for (const replacement of pendingReplacements) await writeTemporaryFile(files, replacement);
  for (const replacement of pendingReplacements) await replaceFile(files, replacement, guard);
}

async function matchesExpectedHash(
  files: Files,
  { path, hashBefore, hashAfter, whenChanged }: FileReplacement,
): Promise<boolean> {
  const currentHash = (await hashFileIfPresent(files, path)) ?? null;
  if (currentHash === hashBefore && currentHash !== hashAfter) return true;
  if (currentHash !== hashAfter && whenChanged === 'refuse')
    throw createFileChangedError(path, 'It was left as it is.');
  return false;
}

async function writeTemporaryFile(files: Files, { path, keptFile, temporary }: FileReplacement): Promise<void> {
  if (keptFile === undefined) return;
  const bytes = await readFileBytesIfPresent(files, keptFile);
  if (!bytes) throw new Error(`${keptFile} is missing`);
  await writeNewFile(files, temporary, bytes);
  // The agent's file may be shared, so it keeps its permissions.
  const replacedStatus = await readStatusIfPresent(files, path);
  if (replacedStatus) await files.setPermissions(temporary, replacedStatus.permissions);
}

async function replaceFile(
  files: Files,
  { path, hashBefore, keptFile, temporary }: FileReplacement,
  guard: WriteGuard,
): Promise<void> {
  guard();
  // Checks as late as possible, so that a change in the meantime is not overwritten.
  if (((await hashFileIfPresent(files, path)) ?? null) !== hashBefore) {
    await ignoreMissingFile(files.removeFile(temporary));
    throw createFileChangedError(path, 'It was left as it is.');
  }
  if (keptFile === undefined) await ignoreMissingFile(files.removeFile(path));
  else await files.rename(temporary, path);
  await files.syncFolder(dirname(path));
}

/**
 * Renames don't cross disks, so the path is in the target's folder. The replacement's name lets
 * recovery find it.
 */
export const getTemporaryPath = (folder: string, path: string): string =>
  join(dirname(path), `.${basename(path)}.${basename(folder).slice(-8)}.condenser`);

export async function rejectSymbolicLink(files: Files, path: string): Promise<void> {
  const status = await readStatusIfPresent(files, path);
  if (!status || status.kind === 'file') return;
  throw new GiveBackError({
    kind: 'outside-folder',
    path,
    happened: status.kind === 'link' ? 'This is a link.' : 'This is not a file.',
    notDone: 'Nothing was written.',
    advice: 'Give the path of the file itself.',
  });
}
