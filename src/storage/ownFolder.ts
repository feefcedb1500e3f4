/**
 * A folder is ours if we created it, if it was empty, or if a version without markers stored files
 * there. It gets a marker. We write to no other folder.
 */
import { basename, dirname, join } from 'node:path';
import { ignoreMissingFile, readStatusIfPresent } from './fileTools';
import type { Files } from './files';
import {
  containsOnlyLedger,
  isLedgerFolder,
  isLedgerFolderName,
  isRemovedFolderName,
  isSetAsideFolderName,
} from './ledgerFolder';
import {
  makeHeaderLine,
  isTemporaryFileName,
  OWN_FILE_KINDS,
  replaceFileAtomically,
  inspectOwnPath,
  type OwnFileKind,
} from './ownFiles';
import { StorageError } from './storageError';

export const FOLDER_MARKER_FILE_NAME = '.context-condenser';

/**
 * `earlier`: used by a version without markers. `foreign`: name of another program's file in the
 * folder.
 */
export type OwnFolderState = 'missing' | 'empty' | 'marked' | 'earlier' | { readonly foreign: string };

/** Says whose the folder is. The folder itself may be a link chosen by the user. */
export async function inspectOwnFolder(files: Files, folder: string): Promise<OwnFolderState> {
  if (await isMarkedFolder(files, folder)) return 'marked';
  const names = await ignoreMissingFile(files.list(folder));
  if (names === undefined) return 'missing';
  // Another window has marked the folder since the check above.
  if (names.includes(FOLDER_MARKER_FILE_NAME) && (await isMarkedFolder(files, folder))) return 'marked';
  const otherNames = names.filter((name) => !FILE_MANAGER_FILES.has(name) && !isTemporaryFileName(name));
  if (otherNames.length === 0) return 'empty';
  const foreignNames: string[] = [];
  for (const name of otherNames) {
    const kind = await classifyFileInUnmarkedFolder(files, folder, name);
    if (kind === 'ours') return 'earlier';
    if (kind === 'foreign') foreignNames.push(name);
  }
  const [firstForeign] = foreignNames;
  return firstForeign === undefined ? 'earlier' : { foreign: firstForeign };
}

const isMarkedFolder = async (files: Files, folder: string): Promise<boolean> =>
  (await inspectOwnPath(files, join(folder, FOLDER_MARKER_FILE_NAME), OWN_FILE_KINDS.store)) === 'ours';

/** Files that operating systems put into folders. */
const FILE_MANAGER_FILES: ReadonlySet<string> = new Set(['.DS_Store', 'Thumbs.db', 'desktop.ini']);

const OWN_FILES: Readonly<Record<string, OwnFileKind>> = {
  'account.json': OWN_FILE_KINDS.account,
  'whatIf.json': OWN_FILE_KINDS.whatIf,
  'spending.jsonl': OWN_FILE_KINDS.spending,
};

/** Classifies a file: `ours` if its content proves it, `likely` if nothing speaks against it. */
async function classifyFileInUnmarkedFolder(
  files: Files,
  folder: string,
  name: string,
): Promise<'ours' | 'likely' | 'foreign'> {
  const path = join(folder, name);
  const kind = /^\d+(?:-[0-9a-f]{8})?\.json$/.test(name) ? OWN_FILE_KINDS.gateway : OWN_FILES[name];
  if (kind) return (await inspectOwnPath(files, path, kind)) === 'ours' ? 'ours' : 'foreign';
  if (isLedgerFolderName(name) || isSetAsideFolderName(name) || isRemovedFolderName(name)) {
    if (await isLedgerFolder(files, path)) return 'ours';
    // An empty folder may be the leftover of a killed process.
    const isFolder = (await readStatusIfPresent(files, path))?.kind === 'folder';
    return isFolder && (await containsOnlyLedger(files, path)) ? 'likely' : 'foreign';
  }
  if (name === 'runs') return (await containsOnlyRunFolders(files, path)) ? 'likely' : 'foreign';
  if (name === 'spending.jsonl.lock')
    return (await inspectOwnPath(files, path, OWN_FILE_KINDS.lock)) === 'ours' ? 'likely' : 'foreign';
  return 'foreign';
}

export const OLD_RUN_FOLDER_NAME = /^run-(\d+)-\w{6}$/;

async function containsOnlyRunFolders(files: Files, path: string): Promise<boolean> {
  if ((await readStatusIfPresent(files, path))?.kind !== 'folder') return false;
  return (await files.list(path)).every((name) => OLD_RUN_FOLDER_NAME.test(name) || /^run-\d+-[0-9a-f]{8}$/.test(name));
}

/** @throws StorageError `not-ours` if the folder isn't ours */
export async function rejectForeignFolder(files: Files, folder: string, notDone: string): Promise<OwnFolderState> {
  const state = await inspectOwnFolder(files, folder);
  if (typeof state !== 'object') return state;
  throw new StorageError({
    kind: 'not-ours',
    path: folder,
    happened: `This folder contains something that Context Condenser has not put there (${state.foreign}).`,
    notDone,
    advice: 'Name a folder that is empty or does not exist yet.',
  });
}

/**
 * Marks the folder as ours.
 * @throws StorageError `not-ours` if the folder isn't ours; the system's error
 */
export async function claimOwnFolder(files: Files, folder: string, notDone = 'Nothing was written.'): Promise<void> {
  const state = await rejectForeignFolder(files, folder, notDone);
  if (state === 'marked') return;
  if (state === 'missing') await files.makeFolder(folder);
  await replaceFileAtomically(files, join(folder, FOLDER_MARKER_FILE_NAME), `${makeHeaderLine('store')}\n`);
  await files.syncFolder(folder);
  if (state === 'missing') await files.syncFolder(dirname(folder));
}

/** True if we may clean up the folder. Marks folders of versions without markers. */
export async function isOwnFolder(files: Files, folder: string): Promise<boolean> {
  const state = await inspectOwnFolder(files, folder);
  if (state === 'earlier') await claimOwnFolder(files, folder);
  return state === 'earlier' || state === 'marked';
}

/**
 * True if we store a file at this path, whether or not it exists yet. Output must not be written
 * over it.
 */
export async function isFileOfStore(files: Files, path: string): Promise<boolean> {
  for (let currentPath = path; dirname(currentPath) !== currentPath; currentPath = dirname(currentPath)) {
    const [folder, name] = [dirname(currentPath), basename(currentPath)];
    if (!isStoreFileName(name)) continue;
    if (await isLedgerFolder(files, currentPath)) return true;
    if (await isMarkedFolder(files, folder)) return true;
  }
  return false;
}

const isStoreFileName = (name: string): boolean =>
  name === FOLDER_MARKER_FILE_NAME ||
  name === 'runs' ||
  isLedgerFolderName(name) ||
  isSetAsideFolderName(name) ||
  isRemovedFolderName(name) ||
  Object.hasOwn(OWN_FILES, name.replace(/\.lock$/, ''));
