import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Runs an action in a temporary folder. */
export async function inTemporaryFolder<T>(action: (folder: string) => T | Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'condenser-'));
  try {
    return await action(folder);
  } finally {
    // Engines may still be writing originals of new results.
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
  }
}
