import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Does something in an empty folder of its own, which is removed behind it. */
export async function inTemporaryFolder<T>(action: (folder: string) => T | Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'condenser-'));
  try {
    return await action(folder);
  } finally {
    // What engines left out of new results may still be on its way to the disk.
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
  }
}
