/**
 * Compares recorded tokens and cost with replayed ones, on real sessions; skipped if there are
 * none.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { computeMedian } from '../../src/core/account/replay';
import { benchReplay } from '../bench/accountBench';

const CORPUS = join(import.meta.dirname, '../../../shared/corpus-wide');
const present = existsSync(CORPUS);
if (!present) console.warn(`NOT TESTED: the real sessions are not at ${CORPUS}`);

it.skipIf(!present)(
  'a calibration on the first half of a session predicts the second half',
  async () => {
    const sessions = await benchReplay([CORPUS]);
    expect(new Set(sessions.map(({ agent }) => agent)).size).toBeGreaterThanOrEqual(4);
    expect(computeMedian(sessions.map(({ tokenError }) => Math.abs(tokenError)))).toBeLessThan(0.03);
    // A transcript doesn't show when a cache missed at random, so single sessions deviate more, in
    // both directions.
    expect(Math.abs(computeMedian(sessions.flatMap(({ costError }) => costError ?? [])))).toBeLessThan(0.05);
  },
  120_000,
);
