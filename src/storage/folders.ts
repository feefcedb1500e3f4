/** Each conversation has a ledger folder, named by the hash of its ID. */
import { Buffer } from 'node:buffer';
import { randomBytes } from 'node:crypto';
import { basename, dirname, isAbsolute, join, relative } from 'node:path';
import { getErrorCode } from '../core/errors';
import { ignoreMissingFile, readTextIfPresent, readStatusIfPresent, writeFileAtomically } from './fileTools';
import type { Files } from './files';
import { isLedgerInUse } from './holds';
import {
  containsOnlyLedger,
  isLedgerFolder,
  isLedgerFolderName,
  isRemovedFolderName,
  isSetAsideFolderName,
  makeLedgerFolderName,
  getOriginalFolderName,
  removeLedgerFiles,
  parseSetAsideTime,
  makeSetAsidePath,
} from './ledgerFolder';
import { LOCK_TIMING, withFileLock, type LockTiming } from './lock';
import { nodeFiles } from './nodeFiles';
import { claimOwnFolder } from './ownFolder';
import { convertFileErrors, StorageError, createNewerVersionError } from './storageError';

export interface LedgerConversation {
  readonly id: string;
  readonly title?: string;
  readonly format?: string;
  readonly path?: string;
}

export interface StorageOptions {
  readonly files: Files;
  readonly lock: LockTiming;
}

export const addDefaultStorageOptions = (options: Partial<StorageOptions>): StorageOptions => ({
  files: options.files ?? nodeFiles,
  lock: options.lock ?? LOCK_TIMING,
});

export interface LedgerPaths {
  readonly folder: string;
  readonly about: string;
  readonly ledger: string;
  readonly originals: string;
  readonly lock: string;
}

export const makePathsInLedgerFolder = (folder: string): LedgerPaths => ({
  folder,
  about: join(folder, 'about.json'),
  ledger: join(folder, 'ledger.jsonl'),
  originals: join(folder, 'originals.jsonl'),
  lock: join(folder, 'lock'),
});

export const makeLedgerPathsForId = (root: string, id: string): LedgerPaths =>
  makePathsInLedgerFolder(join(root, makeLedgerFolderName(id)));

/** Lists the folders of ledgers, also those set aside. Checks only names, not content. */
export async function listLedgerFolders(files: Files, root: string): Promise<string[]> {
  const names = (await ignoreMissingFile(files.list(root))) ?? [];
  return names.filter((name) => isLedgerFolderName(name) || isSetAsideFolderName(name)).map((name) => join(root, name));
}

const STORE_VERSION = 1;

/**
 * Resolves to undefined if about.json is missing or invalid; code that opens the ledger knows the
 * conversation anyway.
 */
export async function readLedgerConversation(
  files: Files,
  paths: LedgerPaths,
): Promise<LedgerConversation | undefined> {
  const text = await readTextIfPresent(files, paths.about);
  const stored = text === undefined ? undefined : parseObject(text);
  if (stored === undefined) return undefined;
  if (typeof stored['version'] === 'number' && stored['version'] > STORE_VERSION) {
    throw createNewerVersionError(paths.about, 'It was not read.');
  }
  const { id, title, format, path } = stored;
  if (typeof id !== 'string' || getOriginalFolderName(paths.folder) !== makeLedgerFolderName(id)) return undefined;
  return {
    id,
    ...(typeof title === 'string' && { title }),
    ...(typeof format === 'string' && { format }),
    ...(typeof path === 'string' && { path }),
  };
}

function parseObject(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value = JSON.parse(text) as unknown;
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

/** Writes about.json atomically, keeping unknown fields. */
export async function writeLedgerConversation(
  files: Files,
  paths: LedgerPaths,
  about: LedgerConversation,
): Promise<void> {
  const stored = parseObject((await readTextIfPresent(files, paths.about)) ?? '');
  const content = { ...(stored?.['id'] === about.id && stored), version: STORE_VERSION, ...about };
  // The lock keeps other processes from writing the same temporary file.
  const temporary = `${paths.about}.new`;
  await writeFileAtomically(files, paths.about, Buffer.from(`${JSON.stringify(content)}\n`), { temporary });
  await files.syncFolder(paths.folder);
}

/**
 * Creates a ledger's folder, and marks the root as ours.
 * @throws StorageError `not-ours` if the root is not ours
 */
export async function makeLedgerFolder(files: Files, root: string, folder: string): Promise<void> {
  await claimOwnFolder(files, root);
  if (await readStatusIfPresent(files, folder)) return;
  await files.makeFolder(folder);
  await files.syncFolder(root);
}

/**
 * The root itself may be a link.
 * @throws StorageError if a path under the root is a link that leaves the root or is broken
 */
export async function rejectLinksOutside(files: Files, root: string, paths: readonly string[]): Promise<void> {
  for (const path of paths) {
    const status = await readStatusIfPresent(files, path);
    if (status?.kind !== 'link') continue;
    const linkTarget = await ignoreMissingFile(files.realPath(path));
    const relativePath = linkTarget === undefined ? '..' : relative(await files.realPath(root), linkTarget);
    if (!/^\.\.(?:[\\/]|$)/.test(relativePath) && !isAbsolute(relativePath)) continue;
    throw new StorageError({
      kind: 'outside-root',
      path,
      happened: `This is a link that leads ${linkTarget === undefined ? 'nowhere' : `to ${linkTarget}`}, outside the storage folder.`,
      notDone: 'Nothing was written.',
      advice: 'Remove the link, or choose another storage folder.',
    });
  }
}

export interface LedgerFolderUse {
  readonly folder: string;
  readonly bytes: number;
  /** When the ledger was last used, in milliseconds since the epoch. */
  readonly lastUsed: number;
  readonly isHeld: boolean;
}

/** Resolves to undefined if the folder was removed or isn't a ledger. */
export async function readLedgerFolderUse(files: Files, folder: string): Promise<LedgerFolderUse | undefined> {
  if (!(await isLedgerFolder(files, folder))) return undefined;
  const names = await ignoreMissingFile(files.list(folder));
  if (!names) return undefined;
  let bytes = 0;
  let lastUsed = 0;
  for (const name of names) {
    const file = await readStatusIfPresent(files, join(folder, name));
    bytes += file?.bytes ?? 0;
    if (!name.startsWith('lock')) lastUsed = Math.max(lastUsed, file?.modified ?? 0);
  }
  return { folder, bytes, lastUsed, isHeld: await isLedgerInUse(files, folder, names) };
}

/**
 * @param newFolder path in the same parent folder
 * @param condition checked while the ledger is locked
 * @returns false if there was no ledger, or the condition doesn't hold
 */
function renameLedgerFolder(
  folder: string,
  newFolder: string,
  { files, lock }: StorageOptions,
  condition: () => Promise<boolean>,
): Promise<boolean> {
  return convertFileErrors(folder, 'The ledger was not removed.', async () => {
    if (!(await isLedgerFolder(files, folder))) return false;
    const isRenamed = await withFileLock(files, makePathsInLedgerFolder(folder).lock, lock, async (ownLock) => {
      if (!(await condition())) return false;
      await ownLock.confirm();
      await files.rename(folder, newFolder);
      await files.syncFolder(dirname(folder));
      return true;
    });
    // The lock file was moved with the folder, so it is removed there.
    if (isRenamed) await ignoreMissingFile(files.removeFile(makePathsInLedgerFolder(newFolder).lock));
    return isRenamed;
  });
}

/**
 * Keeps a folder that contains another program's file.
 * @param condition checked while the ledger is locked
 * @returns false if there was no ledger, or the condition doesn't hold
 */
export async function removeLedgerFolder(
  folder: string,
  options: StorageOptions,
  condition: () => Promise<boolean>,
): Promise<boolean> {
  const { files } = options;
  const hasOnlyLedgerFiles = (): Promise<boolean> => containsOnlyLedger(files, folder);
  const removedFolder = join(
    dirname(folder),
    `${getOriginalFolderName(folder)}.removed-${randomBytes(8).toString('hex')}`,
  );
  if (
    !(await renameLedgerFolder(folder, removedFolder, options, async () => (await hasOnlyLedgerFiles()) && condition()))
  )
    return false;
  return convertFileErrors(folder, 'The ledger was not removed.', () => removeLedgerFiles(files, removedFolder));
}

/**
 * Sets a ledger aside by renaming it; opening it restores it.
 * @param time milliseconds since the epoch
 */
export const setLedgerAside = (
  folder: string,
  time: number,
  options: StorageOptions,
  condition: () => Promise<boolean>,
): Promise<boolean> => renameLedgerFolder(folder, makeSetAsidePath(folder, time), options, condition);

export async function restoreLedgerFolder(files: Files, folder: string): Promise<string | undefined> {
  const root = dirname(folder);
  const inUseFolder = join(root, getOriginalFolderName(folder));
  if (await readStatusIfPresent(files, inUseFolder)) return undefined;
  const setAsideNames = ((await ignoreMissingFile(files.list(root))) ?? [])
    .filter((name) => parseSetAsideTime(name) !== undefined && getOriginalFolderName(name) === basename(inUseFolder))
    .toSorted((a, b) => (parseSetAsideTime(b) ?? 0) - (parseSetAsideTime(a) ?? 0))
    .map((name) => join(root, name));
  for (const candidate of setAsideNames) {
    if (!(await isLedgerFolder(files, candidate))) continue;
    try {
      await files.rename(candidate, inUseFolder);
    } catch (error) {
      // Another process has just restored the ledger.
      if (!MOVED_MEANWHILE_ERROR_CODES.includes(getErrorCode(error) ?? '')) throw error;
    }
    return inUseFolder;
  }
  return undefined;
}

const MOVED_MEANWHILE_ERROR_CODES: readonly string[] = ['ENOENT', 'ENOTEMPTY', 'EEXIST'];

/** Completes removals that a crash interrupted. */
export async function deleteRemovedLedgers(files: Files, root: string): Promise<void> {
  for (const name of (await ignoreMissingFile(files.list(root))) ?? []) {
    const folder = join(root, name);
    if (isRemovedFolderName(name) && (await readStatusIfPresent(files, folder))?.kind === 'folder')
      await removeLedgerFiles(files, folder);
  }
}
