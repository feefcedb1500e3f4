/** Replaces one file of another program, only where it is the one that is meant. */
import { basename, dirname, join } from 'node:path';
import type { Files } from '../storage/files';
import { ifThere, statusIfThere } from '../storage/fileTools';
import { hashOf, readBytes, writeNew } from './fileBytes';
import { changedError, GiveBackError } from './giveBackError';

/** A condition that must hold while files are written; throws once it doesn't. */
export type Guard = () => void;

export const NO_GUARD: Guard = () => undefined;

/** The treatment of a file that somebody wrote to since: it is left, or the replacement is refused. */
export type WhenChanged = 'leave' | 'refuse';

/** A file, and what is to take its place. */
export interface FileReplacement {
  readonly path: string;
  /** Hash of what is replaced; null: no file. Anything else was written by somebody since. */
  readonly from: string | null;
  /** The kept bytes that take its place; undefined: the file goes. */
  readonly to: string | undefined;
  /** Hash of what stands there once it is done. */
  readonly isThere: string | null;
  readonly whenChanged: WhenChanged;
  /** Path beside it, for the new bytes until they take their place. */
  readonly temporary: string;
}

/**
 * Replaces files in order, each where it is as it was meant; where one is replaced already, nothing is done. The new bytes of all of them
 * are on the disk before the first takes its place: a disk that is full by then refuses before anything has changed.
 * @throws GiveBackError `changed` where somebody wrote to one meanwhile; what the guard throws.
 */
export async function replaceInOrder(
  files: Files,
  replacements: readonly FileReplacement[],
  guard: Guard,
): Promise<void> {
  const meant: FileReplacement[] = [];
  for (const one of replacements) if (await isMeant(files, one)) meant.push(one);
  for (const one of meant) await prepare(files, one);
  for (const one of meant) await replace(files, one, guard);
}

async function isMeant(files: Files, { path, from, isThere, whenChanged }: FileReplacement): Promise<boolean> {
  const current = (await hashOf(files, path)) ?? null;
  if (current === from && current !== isThere) return true;
  if (current !== isThere && whenChanged === 'refuse') throw changedError(path, 'It was left as it is.');
  return false;
}

async function prepare(files: Files, { path, to, temporary }: FileReplacement): Promise<void> {
  if (to === undefined) return;
  const bytes = await readBytes(files, to);
  if (!bytes) throw new Error(`${to} is missing`);
  await writeNew(files, temporary, bytes);
  // Whoever could read the agent's file still can: others may share it, or back it up.
  const replaced = await statusIfThere(files, path);
  if (replaced) await files.setPermissions(temporary, replaced.permissions);
}

async function replace(files: Files, { path, from, to, temporary }: FileReplacement, guard: Guard): Promise<void> {
  guard();
  // Once more, as late as it can be: what was written meanwhile must not be lost.
  if (((await hashOf(files, path)) ?? null) !== from) {
    await ifThere(files.removeFile(temporary));
    throw changedError(path, 'It was left as it is.');
  }
  if (to === undefined) await ifThere(files.removeFile(path));
  else await files.rename(temporary, path);
  await files.syncFolder(dirname(path));
}

/** Beside its target, for a rename doesn't cross disks; named after the replacement, so that it is found again. */
export const temporaryOf = (folder: string, path: string): string =>
  join(dirname(path), `.${basename(path)}.${basename(folder).slice(-8)}.condenser`);

/** A link could lead anywhere: what is replaced is the file itself. */
export async function refuseLink(files: Files, path: string): Promise<void> {
  const status = await statusIfThere(files, path);
  if (!status || status.kind === 'file') return;
  throw new GiveBackError({
    trouble: 'outside-folder',
    path,
    happened: status.kind === 'link' ? 'This is a link.' : 'This is not a file.',
    notDone: 'Nothing was written.',
    advice: 'Give the path of the file itself.',
  });
}
