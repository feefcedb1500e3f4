/**
 * Tests robustness with random actions. This run is short; `MONKEY_STEPS=4000 MONKEY_SEED=7 npx
 * vitest run test/integration/monkey.system.test.ts` takes minutes.
 */
import { join } from 'node:path';
import { beforeEach, expect, inject, it } from 'vitest';
import { isLong } from '../support/long';
import { temporaryFolder } from '../support/temporaryFolder';
import { runMonkey } from '../monkey/monkey';
import { fake } from '../support/vscode';

const STEPS = Number(process.env['MONKEY_STEPS'] ?? (isLong ? 1_000 : 40));
const SEED = Number(process.env['MONKEY_SEED'] ?? (isLong ? 7 : 1));
/** Maximum number of bytes by which 500 condensations may grow the heap. */
const LEAK = 20 * 1024 * 1024;

beforeEach(() => {
  fake.reset();
});

it(
  'random actions and model failures never cause an invalid request or a leak, and condensing stays off when turned off',
  async () => {
    const report = await runMonkey({
      seed: SEED,
      steps: STEPS,
      folder: temporaryFolder(),
      bundles: inject('bundles'),
      sample: join(import.meta.dirname, '..', '..', 'sample', 'conversation.jsonl'),
    });
    process.stdout.write(`monkey, seed ${SEED}, ${STEPS} steps: ${JSON.stringify(report)}\n`);
    expect(report.invalid).toEqual([]);
    expect(report.condensations).toBeGreaterThan(0);
    expect(report.comparedOff).toBeGreaterThan(0);
    if (!inject('isCovered')) expect(report.heapGrowth).toBeLessThan(LEAK);
  },
  60_000 + STEPS * 3_000,
);
