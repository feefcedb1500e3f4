import fc from 'fast-check';
import { vi } from 'vitest';

/** Property tests start from one seed, so that a run in CI says something of the change and not of luck. FC_SEED sets another. */
fc.configureGlobal({ seed: Number(process.env['FC_SEED'] ?? 1) });

/** What a test waits for may come late on a busy machine; vitest's own second is over by then. What never comes, this long says as well. */
const LONGEST_WAIT_MS = 120_000;
const { waitFor } = vi;
vi.waitFor = (condition, options) =>
  waitFor(condition, { ...(typeof options === 'object' && options), timeout: LONGEST_WAIT_MS });
