import fc from 'fast-check';
import { vi } from 'vitest';

/**
 * Number of cases and seed for every property, so that CI failures are reproducible. FC_RUNS and
 * FC_SEED override them: `npm run test:all` runs 200 cases, `npm run test:long` uses more seeds.
 */
const { FC_RUNS: cases = '30', FC_SEED: seed = '1' } = process.env;
fc.configureGlobal({ numRuns: Number(cases), seed: Number(seed) });

/** A generous timeout for busy machines, beyond vitest's one second. */
const LONGEST_WAIT_MS = 120_000;
const { waitFor, waitUntil } = vi;
vi.waitFor = (condition, options) =>
  waitFor(condition, { ...(typeof options === 'object' && options), timeout: LONGEST_WAIT_MS });
vi.waitUntil = (condition, options) =>
  waitUntil(condition, { ...(typeof options === 'object' && options), timeout: LONGEST_WAIT_MS });
