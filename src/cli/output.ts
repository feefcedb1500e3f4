import type { Stats } from 'node:fs';
import { readlink, realpath, stat } from 'node:fs/promises';
import { dirname, resolve, sep } from 'node:path';
import { splitLocation } from '../conversations/location';
import { getErrorCode } from '../core/errors';
import { getDefaultStore, type HomeEnvironment } from '../storage/home';
import { nodeFiles } from '../storage/nodeFiles';
import { rejectForeignFile, replaceFileAtomically, type OwnFileKind } from '../storage/ownFiles';
import { claimOwnFolder, isFileOfStore, rejectForeignFolder } from '../storage/ownFolder';
import { removeLeftRunFolders } from '../storage/runFolders';
import { toStorageError, isStorageError } from '../storage/storageError';
import { UsageError } from './args';

/**
 * Refuses a file that must not be replaced: the conversation itself, agents' sessions, files in our
 * stores, targets of links, and anything but regular files.
 * @throws UsageError
 */
export async function checkOutputFile(
  outputFile: string,
  home: HomeEnvironment,
  input?: string,
  option = '--out',
): Promise<string> {
  const absolutePath = resolve(outputFile);
  const folder = dirname(absolutePath);
  if (!(await readFileStatus(folder))?.isDirectory())
    throw new UsageError(`${option}: there is no folder ${folder}. Nothing was done.`);
  const linkTarget = await readlink(absolutePath).catch(() => undefined);
  const realTarget = await resolveRealPath(absolutePath);
  if (input !== undefined && (await isStoredInFile(input, realTarget)))
    throw new UsageError(`${option} names the conversation itself, which is never overwritten.`);
  const status = await readFileStatus(realTarget);
  if (status?.isDirectory())
    throw new UsageError(`${option}: ${realTarget} is a folder; name a file in it. Nothing was done.`);
  // Writing replaces the file, which would destroy a device or pipe.
  if (status?.isFile() === false) throw new UsageError(`${option}: ${realTarget} is not a file. Nothing was done.`);
  if (linkTarget !== undefined)
    throw new UsageError(
      `${option}: ${absolutePath} is a link to ${linkTarget}; name that file itself. Nothing was done.`,
    );
  if (await isFileOfStore(nodeFiles, realTarget))
    throw new UsageError(
      `${option}: ${realTarget} is where Context Condenser keeps its own files; name another place. Nothing was done.`,
    );
  if (status && (await isAgentSessionFile(realTarget, home)))
    throw new UsageError(
      `${option}: ${realTarget} is among the sessions of an agent, which are never overwritten; name another file. Nothing was done.`,
    );
  return realTarget;
}

async function isAgentSessionFile(file: string, home: HomeEnvironment): Promise<boolean> {
  // Loaded lazily, because most output files don't exist yet.
  const { listStoreFolders } = await import('../conversations/stores/find');
  const folders = await Promise.all((await listStoreFolders(home)).map(resolveRealPath));
  return folders.some((folder) => file.startsWith(folder + sep));
}

/** True if the conversation at `location` is in this file, also by way of links. */
export const isStoredInFile = async (location: string, file: string): Promise<boolean> =>
  (await resolveRealPath(splitLocation(resolve(location)).file)) === file;

/**
 * Returns the path of the store's folder, and removes leftovers of crashed runs.
 * @throws UsageError if the folder isn't ours
 */
export async function resolveStoreFolder(store: string | undefined, home: HomeEnvironment): Promise<string> {
  if (store === '') throw new UsageError('--store is empty: name a folder, or leave it out.');
  const folder = resolve(store ?? getDefaultStore(home));
  const isFolder = await stat(folder).then(
    (status) => status.isDirectory(),
    (error: unknown) => getErrorCode(error) !== 'ENOTDIR',
  );
  if (!isFolder)
    throw new UsageError(`The store ${folder} is not a folder. Nothing was done; name another with --store.`);
  await rethrowAsUsageError('--store', () => rejectForeignFolder(nodeFiles, folder, 'Nothing was done.'));
  await removeLeftRunFolders(nodeFiles, folder);
  return folder;
}

/**
 * Creates the ledger folder if necessary.
 * @throws UsageError, StorageError
 */
export async function checkStoreFolder(store: string | undefined, home: HomeEnvironment): Promise<string> {
  const folder = await resolveStoreFolder(store, home);
  await rethrowAsUsageError('--store', () => claimOwnFolder(nodeFiles, folder, 'Nothing was done.'));
  return folder;
}

/** @throws UsageError if another program's file is there */
export async function checkWritableOwnFile(option: string, file: string, kind: OwnFileKind): Promise<string> {
  const absolutePath = resolve(file);
  await rethrowAsUsageError(option, () => rejectForeignFile(nodeFiles, absolutePath, kind, 'Nothing was done.'));
  return absolutePath;
}

/**
 * Runs a check of a path that an option names. If the path belongs to something else, throws a
 * usage error.
 */
export async function rethrowAsUsageError(option: string, check: () => Promise<unknown>): Promise<void> {
  try {
    await check();
  } catch (error) {
    if (isStorageError(error) && error.kind === 'not-ours') throw new UsageError(`${option}: ${error.message}`);
    throw toStorageError(error, option, 'Nothing was done.');
  }
}

const readFileStatus = (path: string): Promise<Stats | undefined> => stat(path).catch(() => undefined);

const resolveRealPath = (path: string): Promise<string> => realpath(path).catch(() => path);

/**
 * Writes the whole file or nothing.
 * @param notDone a sentence for the error that says what was not done
 * @throws StorageError
 */
export async function writeOutputFile(
  file: string,
  text: string,
  notDone = 'The file was not written.',
): Promise<void> {
  try {
    await replaceFileAtomically(nodeFiles, file, text);
  } catch (error) {
    throw toStorageError(error, file, notDone);
  }
}
