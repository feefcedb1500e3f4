/**
 * A ledger's folder has `ledger.jsonl` (entries, append-only), `originals.jsonl` (strings that
 * edits changed, written before their entries) and `about.json`. A crash never leaves part of an
 * entry. Several processes may append concurrently.
 */
import { collectReferences } from '../core/condense/edits/references';
import { buildLedger, type Condensation, type Ledger, type LedgerEntry } from '../core/condense/ledger/ledger';
import type { ReferenceId } from '../core/messages/markers';
import {
  restoreLedgerFolder,
  listLedgerFolders,
  makePathsInLedgerFolder,
  makeLedgerPathsForId,
  readLedgerConversation,
  removeLedgerFolder,
  readLedgerFolderUse,
  addDefaultStorageOptions,
  type LedgerConversation,
  type LedgerFolderUse,
  type StorageOptions,
} from './folders';
import { Journal, type JournalRecord } from './journal';
import { parseLedgerEntry } from './ledgerEntry';
import { convertFileErrors } from './storageError';
import { StoredLedger, type LedgerFile } from './storedLedger';

export type { LedgerConversation, StorageOptions } from './folders';
export { collectOriginals } from './originals';
export { isStorageError, StorageError } from './storageError';
export type { LedgerFile } from './storedLedger';

export interface ListedLedger extends LedgerFolderUse {
  readonly about: LedgerConversation;
}

/**
 * Opens a ledger. A missing one is empty, and created with its first entry.
 * @throws StorageError
 */
export async function openLedger(
  root: string,
  { id, title, format, path }: LedgerConversation,
  options: Partial<StorageOptions> = {},
): Promise<LedgerFile> {
  const ledgerConversation: LedgerConversation = {
    id,
    ...(title !== undefined && { title }),
    ...(format !== undefined && { format }),
    ...(path !== undefined && { path }),
  };
  const ledger = new StoredLedger(
    root,
    makeLedgerPathsForId(root, id),
    ledgerConversation,
    addDefaultStorageOptions(options),
  );
  await ledger.open();
  return ledger;
}

export async function listLedgers(root: string, options: Partial<StorageOptions> = {}): Promise<ListedLedger[]> {
  const { files } = addDefaultStorageOptions(options);
  return convertFileErrors(root, 'The ledgers were not listed.', async () => {
    const ledgers: ListedLedger[] = [];
    for (const folder of await listLedgerFolders(files, root)) {
      const folderUse = await readLedgerFolderUse(files, folder);
      const about =
        folderUse && (await readLedgerConversation(files, makePathsInLedgerFolder(folder)).catch(() => undefined));
      if (about) ledgers.push({ ...folderUse, about });
    }
    return ledgers.sort((a, b) => b.lastUsed - a.lastUsed);
  });
}

/** Finds the ledger with a view; if several have it, the most recently used one. */
export const findLedgerByView = (
  root: string,
  viewHash: string,
  options: Partial<StorageOptions> = {},
): Promise<LedgerFile | undefined> =>
  findFirstLedger(root, options, JSON.stringify(viewHash), (condensation) => condensation.viewHash === viewHash);

/**
 * Finds a ledger with a reference, without the conversation's file. If several have it, their
 * content is the same.
 */
export const findLedgerByReference = (
  root: string,
  reference: ReferenceId,
  options: Partial<StorageOptions> = {},
): Promise<LedgerFile | undefined> =>
  findFirstLedger(root, options, JSON.stringify(reference), ({ edits }) => collectReferences(edits).has(reference));

/**
 * @param text text that occurs in the line of every wanted condensation, so that other lines need
 * not be parsed
 */
async function findFirstLedger(
  root: string,
  options: Partial<StorageOptions>,
  text: string,
  isWanted: (condensation: Pick<Condensation, 'edits'> & Partial<Pick<Condensation, 'viewHash'>>) => boolean,
): Promise<LedgerFile | undefined> {
  const { files } = addDefaultStorageOptions(options);
  for (const { folder, about } of await listLedgers(root, options)) {
    const { ledger } = makePathsInLedgerFolder(folder);
    const state = { isFound: false };
    const searchRecord = ({ json }: JournalRecord): undefined => {
      if (state.isFound || !json.includes(text)) return;
      const entry = parseLedgerEntry(json.toString('utf8'));
      if (entry === 'newer') return;
      state.isFound =
        (entry?.type === 'condensed' && isWanted(entry.condensation)) || (entry?.type === 'arrived' && isWanted(entry));
    };
    const journal = new Journal(files, ledger, { take: searchRecord, reset: () => undefined });
    await convertFileErrors(ledger, 'The ledger was not searched.', () => journal.readNewRecords());
    if (state.isFound) return openLedger(root, about, { ...options, files });
  }
  return undefined;
}

/** Reads a ledger without marking it as used, so that reading doesn't postpone its removal. */
export async function readLedger(folder: string, options: Partial<StorageOptions> = {}): Promise<Ledger> {
  const entries: LedgerEntry[] = [];
  const addEntry = ({ json }: JournalRecord): undefined => {
    const entry = parseLedgerEntry(json.toString('utf8'));
    if (entry && entry !== 'newer') entries.push(entry);
  };
  const reset = (): undefined => void (entries.length = 0);
  const { ledger } = makePathsInLedgerFolder(folder);
  const journal = new Journal(addDefaultStorageOptions(options).files, ledger, { take: addEntry, reset });
  await convertFileErrors(ledger, 'The ledger was not read.', () => journal.readNewRecords());
  return buildLedger(entries);
}

/**
 * Removes a ledger, which can't be restored afterwards.
 * @returns false if there was none
 */
export const removeLedger = (root: string, id: string, options: Partial<StorageOptions> = {}): Promise<boolean> =>
  restoreAndRemoveLedger(makeLedgerPathsForId(root, id).folder, addDefaultStorageOptions(options));

async function restoreAndRemoveLedger(folder: string, options: StorageOptions): Promise<boolean> {
  await restoreLedgerFolder(options.files, folder);
  return removeLedgerFolder(folder, options, () => Promise.resolve(true));
}
