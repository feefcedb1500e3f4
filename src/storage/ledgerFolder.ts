import { createHash } from 'node:crypto';
import { basename, join } from 'node:path';
import { ignoreMissingFile, readFileSlice, readTextIfPresent, readStatusIfPresent, withOpenFile } from './fileTools';
import type { Files } from './files';

export const makeLedgerFolderName = (id: string): string =>
  createHash('sha256').update(id, 'utf8').digest('hex').slice(0, 32);

const LEDGER_FOLDER_NAME = /^[0-9a-f]{32}$/;
const SET_ASIDE_FOLDER_NAME = /^([0-9a-f]{32})\.aside-(\d+)$/;
const REMOVED_FOLDER_NAME = /^[0-9a-f]{32}\.removed-[0-9a-f]{16}$/;

export const isLedgerFolderName = (name: string): boolean => LEDGER_FOLDER_NAME.test(name);
export const isSetAsideFolderName = (name: string): boolean => SET_ASIDE_FOLDER_NAME.test(name);
export const isRemovedFolderName = (name: string): boolean => REMOVED_FOLDER_NAME.test(name);

/** @param time milliseconds since the epoch */
export const makeSetAsidePath = (folder: string, time: number): string => `${folder}.aside-${Math.floor(time)}`;

/**
 * Returns milliseconds since the epoch; undefined if the folder's name says that the ledger wasn't
 * set aside.
 */
export function parseSetAsideTime(name: string): number | undefined {
  const [, , time] = SET_ASIDE_FOLDER_NAME.exec(name) ?? [];
  return time === undefined ? undefined : Number(time);
}

export const getOriginalFolderName = (folder: string): string => basename(folder).slice(0, 32);

const HEADER_FILE_NAME = 'about.json';
/** Names of files of ledgers, locks and marks, and of those that file managers create. */
const OWN_FILE_NAME =
  /^(?:about\.json(?:\.new)?|ledger\.jsonl|originals\.jsonl|lock(?:\.[\w-]+)*|held-.+@.+|\.DS_Store)$/;

/**
 * True if about.json identifies a ledger or, if that file is damaged, if the journal's lines do.
 */
export async function isLedgerFolder(files: Files, folder: string): Promise<boolean> {
  if ((await readStatusIfPresent(files, folder))?.kind !== 'folder') return false;
  if ((await readLedgerId(files, folder)) !== undefined) return true;
  const ledger = join(folder, 'ledger.jsonl');
  if ((await readStatusIfPresent(files, ledger))?.kind !== 'file') return false;
  const firstText = await withOpenFile(files, ledger, 'read', async (file) =>
    (await readFileSlice(file, 0, 80)).toString('latin1'),
  );
  return /^\{"bytes":"\d{10}","crc32":"[0-9a-f]{8}","value":\{"type":"/.test(firstText);
}

async function readLedgerId(files: Files, folder: string): Promise<string | undefined> {
  const path = join(folder, HEADER_FILE_NAME);
  if ((await readStatusIfPresent(files, path))?.kind !== 'file') return undefined;
  const [, id] = /"id":("(?:[^"\\]|\\.)*")/.exec((await readTextIfPresent(files, path)) ?? '') ?? [];
  return id !== undefined && makeLedgerFolderName(JSON.parse(id) as string) === getOriginalFolderName(folder)
    ? id
    : undefined;
}

export async function containsOnlyLedger(files: Files, folder: string): Promise<boolean> {
  for (const name of await files.list(folder)) {
    if (!OWN_FILE_NAME.test(name) || (await readStatusIfPresent(files, join(folder, name)))?.kind !== 'file')
      return false;
  }
  return true;
}

/**
 * Files with our header are removed last, so that the remaining files are recognized after a crash.
 * @returns false if the folder contains other files; then nothing is removed
 */
export async function removeLedgerFiles(files: Files, folder: string): Promise<boolean> {
  const names = await files.list(folder);
  const isLedger =
    names.length === 0 ||
    (names.length === 1 && names[0] === HEADER_FILE_NAME) ||
    (await isLedgerFolder(files, folder));
  if (!isLedger || !(await containsOnlyLedger(files, folder))) return false;
  const getDeletionOrder = (name: string): number => (name === HEADER_FILE_NAME ? 1 : 0);
  for (const name of names.toSorted((a, b) => getDeletionOrder(a) - getDeletionOrder(b)))
    await ignoreMissingFile(files.removeFile(join(folder, name)));
  await files.removeEmptyFolder(folder);
  return true;
}
