import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { onTestFinished, vi } from 'vitest';

/** The system's refusal where all watches are in use (libuv's words for inotify's ENOSPC). */
const NO_WATCHES = "ENOSPC: System limit for number of file watchers reached, watch '/somewhere'";

/** Until the test that runs ends, no folder can be watched. */
export function withoutWatches(): void {
  const watch = vi.spyOn(fs, 'watch').mockImplementation(() => {
    throw Object.assign(new Error(NO_WATCHES), { code: 'ENOSPC' });
  });
  syncBuiltinESMExports();
  onTestFinished(() => {
    watch.mockRestore();
    syncBuiltinESMExports();
  });
}
