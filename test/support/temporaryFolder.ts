import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** An empty folder for the test that runs. It is removed when the test ends, behind what `afterEach` does. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'condenser-'));
  onTestFinished(() => {
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
  });
  return folder;
}
