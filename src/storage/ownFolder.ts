/**
 * A folder becomes ours when we make it, when it is empty, or when a version without markers has kept its files there: then it gets a
 * marker. Any other folder is somebody else's, and nothing is written to it.
 */
import { basename, dirname, join } from 'node:path';
import { ifThere, statusIfThere } from './fileTools';
import type { Files } from './files';
import { holdsOnlyLedger, isLedgerFolder, isLedgerName, isRemovedName, isSetAsideName } from './ledgerFolder';
import { headerLine, isTemporary, OWN, replaceWhole, standingAt, type OwnKind } from './ownFiles';
import { StorageError } from './storageError';

/** The file that makes a folder ours. */
export const MARKER = '.context-condenser';

/** What a folder is to us. `earlier`: a version without markers has kept its files in it. */
export type FolderState = 'missing' | 'empty' | 'marked' | 'earlier' | { readonly foreign: string };

/** Looks whose a folder is; the folder itself may be reached through a link, for its user has chosen it. */
export async function folderState(files: Files, folder: string): Promise<FolderState> {
  if ((await standingAt(files, join(folder, MARKER), OWN.store)) === 'ours') return 'marked';
  const names = await ifThere(files.list(folder));
  if (names === undefined) return 'missing';
  const others = names.filter((name) => !LITTER.has(name) && !isTemporary(name));
  if (others.length === 0) return 'empty';
  const foreign: string[] = [];
  for (const name of others) {
    const kind = await earlierKind(files, folder, name);
    if (kind === 'ours') return 'earlier';
    if (kind === 'foreign') foreign.push(name);
  }
  const [first] = foreign;
  return first === undefined ? 'earlier' : { foreign: first };
}

/** What systems put into any folder that a person looks at. */
const LITTER: ReadonlySet<string> = new Set(['.DS_Store', 'Thumbs.db', 'desktop.ini']);

const FILES: Readonly<Record<string, OwnKind>> = {
  'account.json': OWN.account,
  'whatIf.json': OWN.whatIf,
  'spending.jsonl': OWN.spending,
};

/** `ours`: by its content. `likely`: nothing in it speaks against it. */
async function earlierKind(files: Files, folder: string, name: string): Promise<'ours' | 'likely' | 'foreign'> {
  const path = join(folder, name);
  const kind = /^\d+(?:-[0-9a-f]{8})?\.json$/.test(name) ? OWN.gateway : FILES[name];
  if (kind) return (await standingAt(files, path, kind)) === 'ours' ? 'ours' : 'foreign';
  if (isLedgerName(name) || isSetAsideName(name) || isRemovedName(name)) {
    if (await isLedgerFolder(files, path)) return 'ours';
    // A process that was killed may have left it before there was anything in it.
    const isFolder = (await statusIfThere(files, path))?.kind === 'folder';
    return isFolder && (await holdsOnlyLedger(files, path)) ? 'likely' : 'foreign';
  }
  if (name === 'runs') return (await hasOnlyRuns(files, path)) ? 'likely' : 'foreign';
  if (name === 'spending.jsonl.lock')
    return (await standingAt(files, path, OWN.lock)) === 'ours' ? 'likely' : 'foreign';
  return 'foreign';
}

/** The names that version 1.0 gave to the folders of its runs. */
export const EARLIER_RUN = /^run-(\d+)-\w{6}$/;

async function hasOnlyRuns(files: Files, path: string): Promise<boolean> {
  if ((await statusIfThere(files, path))?.kind !== 'folder') return false;
  return (await files.list(path)).every((name) => EARLIER_RUN.test(name) || /^run-\d+-[0-9a-f]{8}$/.test(name));
}

/** @throws StorageError `not-ours` where the folder is somebody else's. */
export async function refuseForeignFolder(files: Files, folder: string, notDone: string): Promise<FolderState> {
  const state = await folderState(files, folder);
  if (typeof state !== 'object') return state;
  throw new StorageError({
    trouble: 'not-ours',
    path: folder,
    happened: `This folder contains something that Context Condenser has not put there (${state.foreign}).`,
    notDone,
    advice: 'Name a folder that is empty or does not exist yet.',
  });
}

/**
 * Makes a folder ours, where it is nobody else's.
 * @throws StorageError `not-ours` where it is; the system's error
 */
export async function claimFolder(files: Files, folder: string, notDone = 'Nothing was written.'): Promise<void> {
  const state = await refuseForeignFolder(files, folder, notDone);
  if (state === 'marked') return;
  if (state === 'missing') await files.makeFolder(folder);
  await replaceWhole(files, join(folder, MARKER), `${headerLine('store')}\n`);
  await files.syncFolder(folder);
  if (state === 'missing') await files.syncFolder(dirname(folder));
}

/** Whether what lies in a folder is ours to tidy up; a folder of a version without markers is marked for it. */
export async function isOurs(files: Files, folder: string): Promise<boolean> {
  const state = await folderState(files, folder);
  if (state === 'earlier') await claimFolder(files, folder);
  return state === 'earlier' || state === 'marked';
}

/** Whether a file is, or would be, one that we keep in a folder of ours: a result must not take its place. */
export async function isKeptFile(files: Files, path: string): Promise<boolean> {
  for (let at = path; dirname(at) !== at; at = dirname(at)) {
    const [folder, name] = [dirname(at), basename(at)];
    if (!isKeptName(name)) continue;
    if (await isLedgerFolder(files, at)) return true;
    if ((await standingAt(files, join(folder, MARKER), OWN.store)) === 'ours') return true;
  }
  return false;
}

const isKeptName = (name: string): boolean =>
  name === MARKER ||
  name === 'runs' ||
  isLedgerName(name) ||
  isSetAsideName(name) ||
  isRemovedName(name) ||
  Object.hasOwn(FILES, name.replace(/\.lock$/, ''));
