import fc from 'fast-check';
import { vi } from 'vitest';

/**
 * Every property runs the same number of cases with the same seed, so that failures in CI are
 * reproducible. FC_RUNS and FC_SEED override them: `npm run test:all` runs 200 cases, and `npm run
 * test:long` uses more seeds.
 */
const { FC_RUNS: cases = '30', FC_SEED: seed = '1' } = process.env;
fc.configureGlobal({ numRuns: Number(cases), seed: Number(seed) });

/** This is far more than vitest's one second, because machines can be busy. */
const LONGEST_WAIT_MS = 120_000;
const { waitFor, waitUntil } = vi;
vi.waitFor = (condition, options) =>
  waitFor(condition, { ...(typeof options === 'object' && options), timeout: LONGEST_WAIT_MS });
vi.waitUntil = (condition, options) =>
  waitUntil(condition, { ...(typeof options === 'object' && options), timeout: LONGEST_WAIT_MS });
