import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** Creates a temporary folder that is removed after the test and its `afterEach` hooks. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'condenser-'));
  onTestFinished(() => {
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
  });
  return folder;
}
