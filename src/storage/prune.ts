/**
 * Sets aside the least recently used ledgers, and removes them a week later; opening one restores
 * it. The clock alone never decides, since it may be wrong.
 */
import { basename } from 'node:path';
import { formatPlural } from '../core/plural';
import {
  restoreLedgerFolder,
  listLedgerFolders,
  makePathsInLedgerFolder,
  makeLedgerPathsForId,
  readLedgerConversation,
  removeLedgerFolder,
  setLedgerAside,
  deleteRemovedLedgers,
  readLedgerFolderUse,
  addDefaultStorageOptions,
  type LedgerFolderUse,
  type StorageOptions,
} from './folders';
import { parseSetAsideTime } from './ledgerFolder';
import { isOwnFolder } from './ownFolder';
import { convertFileErrors, isStorageError } from './storageError';

export interface PruneLimits {
  /** Maximum size in bytes of all ledgers that are not set aside. Default 500 MB. */
  readonly maxBytes?: number;
  /** Maximum number of days since a ledger's last use. Default 30. */
  readonly maxAgeDays?: number;
  readonly now: Date;
  /** IDs of conversations in use, whose ledgers stay. */
  readonly inUse?: readonly string[];
}

export interface PruneCandidate extends Omit<LedgerFolderUse, 'isHeld'> {
  readonly inUse: boolean;
}

const DEFAULT_MAX_BYTES = 500 * 1024 * 1024;
const DEFAULT_MAX_AGE_DAYS = 30;
const DAY_MS = 24 * 60 * 60 * 1000;
const DAYS_UNTIL_SET_ASIDE_REMOVED = 7;
/** One run sets aside at most this many ledgers, and removes at most this many. */
const MAX_PRUNED_PER_RUN = 20;

/**
 * Selects ledgers that are too old, and then the oldest ones until the others fit the size limit.
 * Never selects one in use.
 */
export function selectLedgersToPrune(
  ledgers: readonly PruneCandidate[],
  { maxBytes = DEFAULT_MAX_BYTES, maxAgeDays = DEFAULT_MAX_AGE_DAYS, now }: PruneLimits,
): PruneCandidate[] {
  const oldestAllowedTime = now.getTime() - maxAgeDays * DAY_MS;
  let bytes = ledgers.reduce((sum, ledger) => sum + ledger.bytes, 0);
  return ledgers
    .toSorted((a, b) => a.lastUsed - b.lastUsed || (a.folder < b.folder ? -1 : 1))
    .filter((ledger) => {
      if (ledger.inUse || (ledger.lastUsed >= oldestAllowedTime && bytes <= maxBytes)) return false;
      bytes -= ledger.bytes;
      return true;
    });
}

export interface PruneResult {
  readonly setAside: readonly LedgerFolderUse[];
  readonly removed: readonly LedgerFolderUse[];
  readonly bytes: number;
}

export function describePruneResult({ setAside, removed }: PruneResult): string | undefined {
  const sentences = [
    ...(setAside.length > 0
      ? [
          `${formatPlural(setAside.length, 'ledger')} not used lately ${setAside.length === 1 ? 'was' : 'were'} set aside: expanding or condensing its conversation in the next ${DAYS_UNTIL_SET_ASIDE_REMOVED} days brings it back.`,
        ]
      : []),
    ...(removed.length > 0
      ? [
          `${formatPlural(removed.length, 'ledger')} set aside ${DAYS_UNTIL_SET_ASIDE_REMOVED} days ago or earlier ${removed.length === 1 ? 'was' : 'were'} removed.`,
        ]
      : []),
  ];
  return sentences.length > 0 ? sentences.join(' ') : undefined;
}

/**
 * Keeps ledgers that another process has used or written since. Skips folders that aren't ours.
 * @throws StorageError
 */
export async function pruneLedgers(
  root: string,
  limits: PruneLimits,
  options: Partial<StorageOptions> = {},
): Promise<PruneResult> {
  const { files, lock } = addDefaultStorageOptions(options);
  const optionsWithoutWait = { files, lock: { ...lock, wait: 0 } };
  return convertFileErrors(root, 'Old ledgers were not removed.', async () => {
    if (!(await isOwnFolder(files, root))) return { setAside: [], removed: [], bytes: 0 };
    await deleteRemovedLedgers(files, root);
    const inUse = new Set(limits.inUse?.map((id) => makeLedgerPathsForId(root, id).folder));
    const ledgers: PruneCandidate[] = [];
    const setAsideFolders: { readonly use: LedgerFolderUse; readonly since: number }[] = [];
    for (const folder of await listLedgerFolders(files, root)) {
      const folderUse = await readLedgerFolderUse(files, folder);
      const setAsideTimeOfFolder = parseSetAsideTime(basename(folder));
      if (folderUse && setAsideTimeOfFolder === undefined)
        ledgers.push({ ...folderUse, inUse: inUse.has(folder) || folderUse.isHeld });
      // Such a ledger was set aside while the clock was ahead.
      else if (folderUse && setAsideTimeOfFolder !== undefined && setAsideTimeOfFolder > limits.now.getTime() + DAY_MS)
        await restoreLedgerFolder(files, folder);
      else if (folderUse && setAsideTimeOfFolder !== undefined)
        setAsideFolders.push({ use: folderUse, since: setAsideTimeOfFolder });
    }
    const unheldFolders = [...ledgers.filter((ledger) => !ledger.inUse), ...setAsideFolders.map(({ use }) => use)];
    const lastUse = Math.max(...unheldFolders.map(({ lastUsed }) => lastUsed), 0);
    // The time is no later than the last use of any ledger, so that a clock change or a long
    // vacation removes nothing.
    const currentTime = new Date(Math.min(limits.now.getTime(), lastUse));
    const setAsideTime = Math.max(limits.now.getTime(), lastUse);
    const createUnusedCheck =
      ({ folder, lastUsed }: Pick<LedgerFolderUse, 'folder' | 'lastUsed'>) =>
      async (): Promise<boolean> => {
        // Throws if a newer version wrote the ledger, since only that version may remove it.
        await readLedgerConversation(files, makePathsInLedgerFolder(folder));
        const currentUse = await readLedgerFolderUse(files, folder);
        return currentUse?.lastUsed === lastUsed && !currentUse.isHeld;
      };
    const removedFolders: LedgerFolderUse[] = [];
    for (const { use, since: setAsideAt } of setAsideFolders) {
      if (
        removedFolders.length >= MAX_PRUNED_PER_RUN ||
        setAsideAt > currentTime.getTime() - DAYS_UNTIL_SET_ASIDE_REMOVED * DAY_MS
      )
        continue;
      if (await ignoreBusyLedger(removeLedgerFolder(use.folder, optionsWithoutWait, createUnusedCheck(use))))
        removedFolders.push(use);
    }
    const newlySetAside: LedgerFolderUse[] = [];
    for (const { folder, bytes, lastUsed } of selectLedgersToPrune(ledgers, { ...limits, now: currentTime })) {
      if (newlySetAside.length >= MAX_PRUNED_PER_RUN) break;
      if (
        await ignoreBusyLedger(
          setLedgerAside(folder, setAsideTime, optionsWithoutWait, createUnusedCheck({ folder, lastUsed })),
        )
      )
        newlySetAside.push({ folder, bytes, lastUsed, isHeld: false });
    }
    const setAsideBytes = newlySetAside.reduce((sum, { bytes }) => sum + bytes, 0);
    return {
      setAside: newlySetAside,
      removed: removedFolders,
      bytes: ledgers.reduce((sum, { bytes }) => sum + bytes, 0) - setAsideBytes,
    };
  });
}

async function ignoreBusyLedger(removal: Promise<boolean>): Promise<boolean> {
  try {
    return await removal;
  } catch (error) {
    if (isStorageError(error) && (error.kind === 'locked' || error.kind === 'newer-version')) return false;
    throw error;
  }
}
