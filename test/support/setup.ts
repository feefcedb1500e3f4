import { appendFileSync } from 'node:fs';
import fc, { type RunDetails } from 'fast-check';
import { vi } from 'vitest';

/** Each property appends its number of runs to this file, so that the long lane can count cases. */
const { FC_CASES: casesFile } = process.env;

/** Property tests start from one seed, so that a run in CI says something of the change and not of luck. FC_SEED sets another. */
fc.configureGlobal({
  seed: Number(process.env['FC_SEED'] ?? 1),
  ...(casesFile !== undefined && {
    plugins: [
      () => ({
        onAllRunsComplete({ numRuns }: RunDetails<unknown>) {
          appendFileSync(casesFile, `${numRuns}\n`);
        },
      }),
    ],
  }),
});

/** What a test waits for may come late on a busy machine; vitest's own second is over by then. What never comes, this long says as well. */
const LONGEST_WAIT_MS = 120_000;
const { waitFor, waitUntil } = vi;
vi.waitFor = (condition, options) =>
  waitFor(condition, { ...(typeof options === 'object' && options), timeout: LONGEST_WAIT_MS });
vi.waitUntil = (condition, options) =>
  waitUntil(condition, { ...(typeof options === 'object' && options), timeout: LONGEST_WAIT_MS });
