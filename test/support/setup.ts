import fc from 'fast-check';
import { vi } from 'vitest';

/**
 * Every property has this many cases, from this seed, so that a failure in CI says something about the change and not about luck.
 * FC_RUNS and FC_SEED set others: `npm run test:all` runs 200 cases, `npm run test:long` starts from more seeds.
 */
const { FC_RUNS: cases = '30', FC_SEED: seed = '1' } = process.env;
fc.configureGlobal({ numRuns: Number(cases), seed: Number(seed) });

/** What a test waits for may come late on a busy machine; vitest's own second is over by then. What never comes, this long says as well. */
const LONGEST_WAIT_MS = 120_000;
const { waitFor, waitUntil } = vi;
vi.waitFor = (condition, options) =>
  waitFor(condition, { ...(typeof options === 'object' && options), timeout: LONGEST_WAIT_MS });
vi.waitUntil = (condition, options) =>
  waitUntil(condition, { ...(typeof options === 'object' && options), timeout: LONGEST_WAIT_MS });
