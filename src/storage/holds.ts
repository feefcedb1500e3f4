/**
 * A process marks a ledger that it uses with an empty file `held-<owner>`, because after a clock
 * change timestamps would look old.
 */
import { join } from 'node:path';
import { ignoreMissingFile, readStatusIfPresent, withOpenFile } from './fileTools';
import type { Files } from './files';
import {
  makeOwnerOfEarlierFormat,
  getOwnerLiveness,
  parseOwner,
  formatOwner,
  getThisProcess,
  type OwnerProcess,
} from './owner';

const IN_USE_FILE_NAME_PATTERN = /^held-(.+)$/;

/** Also reads names of version 1.0, `held-<pid>@<host>`. */
function parseOwnerInFileName(name: string): OwnerProcess | undefined {
  const [, word] = IN_USE_FILE_NAME_PATTERN.exec(name) ?? [];
  if (word === undefined) return undefined;
  const [, pid, host] = /^(\d+)@([\w.-]+)$/.exec(word) ?? [];
  return pid === undefined || host === undefined ? parseOwner(word) : makeOwnerOfEarlierFormat(Number(pid), host);
}

/** If it can't be checked whether a process still runs, its mark is valid for this long. */
const MAX_AGE_OF_IN_USE_FILE_MS = 2 * 24 * 3_600_000;

export async function isLedgerInUse(files: Files, folder: string, names: readonly string[]): Promise<boolean> {
  for (const name of names) {
    const owner = parseOwnerInFileName(name);
    const liveness = owner && getOwnerLiveness(owner);
    if (liveness === 'running') return true;
    if (liveness !== 'unknown') continue;
    const markerStatus = await readStatusIfPresent(files, join(folder, name));
    if (markerStatus && Math.abs(Date.now() - markerStatus.modified) < MAX_AGE_OF_IN_USE_FILE_MS) return true;
  }
  return false;
}

/** Marks the ledger for this process, and removes marks of ended processes. Errors are ignored. */
export async function markLedgerInUse(files: Files, folder: string): Promise<void> {
  try {
    if (!(await readStatusIfPresent(files, folder))) return;
    for (const name of (await ignoreMissingFile(files.list(folder))) ?? []) {
      const holder = parseOwnerInFileName(name);
      if (holder && getOwnerLiveness(holder) === 'gone') await ignoreMissingFile(files.removeFile(join(folder, name)));
    }
    const markerPath = join(folder, `held-${formatOwner(getThisProcess())}`);
    await withOpenFile(files, markerPath, 'append', () => Promise.resolve());
    await files.touch(markerPath, Date.now());
  } catch {
    // Without a mark, the time of last use protects the ledger.
  }
}
