import type { Stats } from 'node:fs';
import { readlink, realpath, stat } from 'node:fs/promises';
import { dirname, resolve, sep } from 'node:path';
import { splitLocation } from '../conversations/location';
import { errorCode } from '../core/errors';
import { defaultStore, type Home } from '../storage/home';
import { nodeFiles } from '../storage/nodeFiles';
import { refuseForeign, replaceWhole, type OwnKind } from '../storage/ownFiles';
import { claimFolder, isKeptFile, refuseForeignFolder } from '../storage/ownFolder';
import { removeLeftRuns } from '../storage/runFolders';
import { asStorageError, isStorageError } from '../storage/storageError';
import { UsageError } from './args';

/**
 * Where `--out` or another option for a result leads: a file, or a place for one. A file that is there is replaced, as compilers do it; but
 * never the conversation itself, a file among the sessions of an agent or in a store of ours, what a link leads to, or what is no file.
 * @throws UsageError
 */
export async function outFile(out: string, home: Home, input?: string, option = '--out'): Promise<string> {
  const target = resolve(out);
  const folder = dirname(target);
  if (!(await readStatus(folder))?.isDirectory())
    throw new UsageError(`${option}: there is no folder ${folder}. Nothing was done.`);
  const link = await readlink(target).catch(() => undefined);
  const to = await real(target);
  if (input !== undefined && (await belongsTo(input, to)))
    throw new UsageError(`${option} names the conversation itself, which is never overwritten.`);
  const status = await readStatus(to);
  if (status?.isDirectory()) throw new UsageError(`${option}: ${to} is a folder; name a file in it. Nothing was done.`);
  // The output replaces the file at its path: of a device or a pipe nothing would be left.
  if (status?.isFile() === false) throw new UsageError(`${option}: ${to} is not a file. Nothing was done.`);
  if (link !== undefined)
    throw new UsageError(`${option}: ${target} is a link to ${link}; name that file itself. Nothing was done.`);
  if (await isKeptFile(nodeFiles, to))
    throw new UsageError(
      `${option}: ${to} is where Context Condenser keeps its own files; name another place. Nothing was done.`,
    );
  if (status && (await isAmongSessions(to, home)))
    throw new UsageError(
      `${option}: ${to} is among the sessions of an agent, which are never overwritten; name another file. Nothing was done.`,
    );
  return to;
}

async function isAmongSessions(file: string, home: Home): Promise<boolean> {
  // Loaded here: most runs write no file that is there already.
  const { storeFolders } = await import('../conversations/stores/find');
  const folders = await Promise.all((await storeFolders(home)).map(real));
  return folders.some((folder) => file.startsWith(folder + sep));
}

/** Whether a conversation lies in this file, links followed. */
export const belongsTo = async (location: string, file: string): Promise<boolean> =>
  (await real(splitLocation(resolve(location)).file)) === file;

/**
 * The folder of the ledgers, to be looked into; what killed runs left in it goes.
 * @throws UsageError where something else is in its place, or it is somebody else's
 */
export async function storeFolder(store: string | undefined, home: Home): Promise<string> {
  if (store === '') throw new UsageError('--store is empty: name a folder, or leave it out.');
  const folder = resolve(store ?? defaultStore(home));
  const isFolder = await stat(folder).then(
    (status) => status.isDirectory(),
    (error: unknown) => errorCode(error) !== 'ENOTDIR',
  );
  if (!isFolder)
    throw new UsageError(`The store ${folder} is not a folder. Nothing was done; name another with --store.`);
  await refused('--store', () => refuseForeignFolder(nodeFiles, folder, 'Nothing was done.'));
  await removeLeftRuns(nodeFiles, folder);
  return folder;
}

/** The same, to be written to: it is made ours. @throws UsageError, StorageError */
export async function ownStore(store: string | undefined, home: Home): Promise<string> {
  const folder = await storeFolder(store, home);
  await refused('--store', () => claimFolder(nodeFiles, folder, 'Nothing was done.'));
  return folder;
}

/**
 * Where an option for a file of ours leads, which is written on and not replaced.
 * @throws UsageError where somebody else's file is there
 */
export async function ownFile(option: string, file: string, kind: OwnKind): Promise<string> {
  const path = resolve(file);
  await refused(option, () => refuseForeign(nodeFiles, path, kind, 'Nothing was done.'));
  return path;
}

/** What an option names is its user's mistake. */
export async function refused(option: string, check: () => Promise<unknown>): Promise<void> {
  try {
    await check();
  } catch (error) {
    if (isStorageError(error) && error.trouble === 'not-ours') throw new UsageError(`${option}: ${error.message}`);
    throw asStorageError(error, option, 'Nothing was done.');
  }
}

const readStatus = (path: string): Promise<Stats | undefined> => stat(path).catch(() => undefined);

const real = (path: string): Promise<string> => realpath(path).catch(() => path);

/**
 * Writes a file whole or not at all.
 * @param notDone what was therefore not done, in a sentence
 * @throws StorageError that says what was not written and why.
 */
export async function writeWhole(file: string, text: string, notDone = 'The file was not written.'): Promise<void> {
  try {
    await replaceWhole(nodeFiles, file, text);
  } catch (error) {
    throw asStorageError(error, file, notDone);
  }
}
