import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Runs an action in a temporary folder. */
export async function inTemporaryFolder<T>(action: (folder: string) => T | Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'condenser-'));
  try {
    return await action(folder);
  } finally {
    // Removing is retried, because engines may still be writing the originals of new results.
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
  }
}
