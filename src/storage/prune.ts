/** Keeps the storage bounded: ledgers that were used longest ago go first. */
import {
  ledgerFolders,
  pathsIn,
  pathsOf,
  readAbout,
  removeLedgerFolder,
  sweepRemoved,
  useOf,
  withDefaults,
  type LedgerUse,
  type StorageOptions,
} from './folders';
import { guarded, isStorageError } from './storageError';

export interface PruneLimits {
  /** Of all ledgers together. Default 500 MB. */
  readonly maxBytes?: number;
  /** Since the last use. Default 30. */
  readonly maxAgeDays?: number;
  readonly now: Date;
  /** Ids of conversations whose ledgers stay, as they are in use; those that other processes hold stay, too. */
  readonly inUse?: readonly string[];
}

export interface PruneCandidate extends Omit<LedgerUse, 'isHeld'> {
  readonly inUse: boolean;
}

const DEFAULT_BYTES = 500 * 1024 * 1024;
const DEFAULT_DAYS = 30;
const DAY = 24 * 60 * 60 * 1000;

/** The ledgers to remove: those too old, then the oldest until the rest fits. One that is in use stays, whatever it takes. */
export function ledgersToPrune(
  ledgers: readonly PruneCandidate[],
  { maxBytes = DEFAULT_BYTES, maxAgeDays = DEFAULT_DAYS, now }: PruneLimits,
): PruneCandidate[] {
  const oldest = now.getTime() - maxAgeDays * DAY;
  let bytes = ledgers.reduce((sum, ledger) => sum + ledger.bytes, 0);
  return ledgers
    .toSorted((a, b) => a.lastUsed - b.lastUsed || (a.folder < b.folder ? -1 : 1))
    .filter((ledger) => {
      if (ledger.inUse || (ledger.lastUsed >= oldest && bytes <= maxBytes)) return false;
      bytes -= ledger.bytes;
      return true;
    });
}

export interface Pruned {
  readonly removed: readonly LedgerUse[];
  /** Bytes of what is left. */
  readonly bytes: number;
}

/**
 * Removes ledgers beyond the limits. One that another process writes to, or has used since, stays.
 * @throws StorageError
 */
export async function pruneLedgers(
  root: string,
  limits: PruneLimits,
  options: Partial<StorageOptions> = {},
): Promise<Pruned> {
  const { files, lock } = withDefaults(options);
  return guarded(root, 'Old ledgers were not removed.', async () => {
    await sweepRemoved(files, root);
    const inUse = new Set(limits.inUse?.map((id) => pathsOf(root, id).folder));
    const ledgers: PruneCandidate[] = [];
    for (const folder of await ledgerFolders(files, root)) {
      const use = await useOf(files, folder);
      if (use) ledgers.push({ ...use, inUse: inUse.has(folder) || use.isHeld });
    }
    const removed: LedgerUse[] = [];
    for (const { folder, bytes, lastUsed } of ledgersToPrune(ledgers, limits)) {
      const unused = async (): Promise<boolean> => {
        // One that a newer version wrote is that version's to remove.
        await readAbout(files, pathsIn(folder));
        const use = await useOf(files, folder);
        return use?.lastUsed === lastUsed && !use.isHeld;
      };
      if (await removeIfFree(removeLedgerFolder(root, folder, { files, lock: { ...lock, wait: 0 } }, unused))) {
        removed.push({ folder, bytes, lastUsed, isHeld: false });
      }
    }
    const gone = removed.reduce((sum, { bytes }) => sum + bytes, 0);
    return { removed, bytes: ledgers.reduce((sum, { bytes }) => sum + bytes, 0) - gone };
  });
}

async function removeIfFree(removal: Promise<boolean>): Promise<boolean> {
  try {
    return await removal;
  } catch (error) {
    if (isStorageError(error) && (error.trouble === 'locked' || error.trouble === 'newer-version')) return false;
    throw error;
  }
}
