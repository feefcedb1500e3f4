import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { onTestFinished, vi } from 'vitest';

/** The system's error when all watches are in use (libuv's message for inotify's ENOSPC). */
const NO_WATCHES = "ENOSPC: System limit for number of file watchers reached, watch '/somewhere'";

/** Makes watching folders fail until the test ends. */
export function makeWatchesFail(): void {
  const watch = vi.spyOn(fs, 'watch').mockImplementation(() => {
    throw Object.assign(new Error(NO_WATCHES), { code: 'ENOSPC' });
  });
  syncBuiltinESMExports();
  onTestFinished(() => {
    watch.mockRestore();
    syncBuiltinESMExports();
  });
}
