/**
 * Says which ledgers running processes hold: an empty file `held-<pid>@<host>` in the ledger's folder. A time would not say it: a clock
 * that jumps makes everything old, also what another window shows just now.
 */
import { hostname } from 'node:os';
import { join } from 'node:path';
import { errorCode } from '../core/errors';
import { ifThere, statusIfThere, withFile } from './fileTools';
import type { Files } from './files';

const NAME = /^held-(\d+)@(.+)$/;
const here = (): string => hostname().replace(/[^\w.-]/g, '_');

/** Whether a process of this machine is known to be gone; of another machine nobody knows. */
export function isGone(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return errorCode(error) === 'ESRCH';
  }
}

/** Whether one of the names in a ledger's folder says that a running process of this machine holds it. */
export const isHeld = (names: readonly string[]): boolean =>
  names.some((name) => {
    const [, pid, host] = NAME.exec(name) ?? [];
    return host === here() && !isGone(Number(pid));
  });

/** Holds a ledger until this process ends; marks of processes that are gone are cleared. It is not worth an error. */
export async function hold(files: Files, folder: string): Promise<void> {
  try {
    if (!(await statusIfThere(files, folder))) return;
    for (const name of (await ifThere(files.list(folder))) ?? []) {
      const [, pid, host] = NAME.exec(name) ?? [];
      if (host === here() && isGone(Number(pid))) await ifThere(files.removeFile(join(folder, name)));
    }
    await withFile(files, join(folder, `held-${process.pid}@${here()}`), 'append', () => Promise.resolve());
  } catch {
    // Then its last use has to say it.
  }
}
