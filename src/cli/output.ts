import type { Stats } from 'node:fs';
import { realpath, rename, rm, stat } from 'node:fs/promises';
import { open } from 'node:fs/promises';
import { dirname, join, resolve, sep } from 'node:path';
import { splitLocation } from '../conversations/location';
import { errorCode } from '../core/errors';
import { defaultStore, type Home } from '../storage/home';
import { asStorageError } from '../storage/storageError';
import { UsageError } from './args';

/**
 * Where `--out` or another option leads: a file, or a place for one; never the conversation itself, also not through a link, and no file that
 * is there among the sessions of an agent.
 * @throws UsageError
 */
export async function outFile(out: string, home: Home, input?: string, option = '--out'): Promise<string> {
  const target = resolve(out);
  const folder = dirname(target);
  if (!(await statusOf(folder))?.isDirectory())
    throw new UsageError(`${option}: there is no folder ${folder}. Nothing was done.`);
  const to = await real(target);
  if (input !== undefined && (await isFileOf(input, to)))
    throw new UsageError(`${option} names the conversation itself, which is never overwritten.`);
  const status = await statusOf(to);
  if (status?.isDirectory()) throw new UsageError(`${option}: ${to} is a folder; name a file in it. Nothing was done.`);
  // The output replaces the file at its path: of a device or a pipe nothing would be left.
  if (status?.isFile() === false) throw new UsageError(`${option}: ${to} is not a file. Nothing was done.`);
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
export const isFileOf = async (location: string, file: string): Promise<boolean> =>
  (await real(splitLocation(resolve(location)).file)) === file;

/**
 * The folder of the ledgers.
 * @throws UsageError where something else is in its place
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
  return folder;
}

const statusOf = (path: string): Promise<Stats | undefined> => stat(path).catch(() => undefined);

const real = (path: string): Promise<string> => realpath(path).catch(() => path);

/**
 * Writes a file whole or not at all.
 * @param notDone what was therefore not done, in a sentence
 * @throws StorageError that says what was not written and why.
 */
export async function writeWhole(file: string, text: string, notDone = 'The file was not written.'): Promise<void> {
  const temporary = join(dirname(file), `.${process.pid}-${Date.now()}.context-condenser.tmp`);
  try {
    const handle = await open(temporary, 'wx', 0o600);
    try {
      await handle.writeFile(text);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(temporary, file);
  } catch (error) {
    await rm(temporary, { force: true });
    throw asStorageError(error, file, notDone);
  }
}
