import { appendFileSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { RunMetrics } from '../core/condense/metrics/metrics';
import { MetricsStore } from './metrics';

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'metrics-'));
  path = join(folder, 'deep', 'metrics.jsonl');
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

const run = (index: number): RunMetrics => ({
  at: new Date(index * 1_000).toISOString(),
  provider: 'native',
  outcome: 'condensed',
  fallback: false,
  tokensBefore: 10,
  tokensAfter: 5,
  timeMs: 1,
  calls: [],
});

it('keeps measures over a restart, readable by the user alone', async () => {
  const store = new MetricsStore(path);
  expect(await store.read()).toEqual([]);
  await store.add(run(1));
  await store.add(run(2));
  expect(await store.read()).toHaveLength(2);
  expect(await new MetricsStore(path).read()).toEqual([run(1), run(2)]);
  expect(statSync(path).mode & 0o077).toBe(0);
});

it('skips invalid lines', async () => {
  await new MetricsStore(path).add(run(1));
  appendFileSync(path, '{"at":"x"}\nnull\n{"torn\n');
  expect(await new MetricsStore(path).read()).toEqual([run(1)]);
});

it('is bounded: the oldest go', async () => {
  await new MetricsStore(path).add(run(0));
  appendFileSync(path, Array.from({ length: 2_499 }, (_, index) => `${JSON.stringify(run(index + 1))}\n`).join(''));
  const store = new MetricsStore(path);
  await store.add(run(2_500));
  expect(readFileSync(path, 'utf8').trimEnd().split('\n')).toHaveLength(2_000);
  expect((await store.read()).at(-1)).toEqual(run(2_500));
  await store.add(run(2_501));
  expect(await new MetricsStore(path).read()).toHaveLength(2_001);
});

it('is cleared', async () => {
  const store = new MetricsStore(path);
  await store.clear();
  await store.add(run(1));
  await store.clear();
  expect(await store.read()).toEqual([]);
  expect(await new MetricsStore(path).read()).toEqual([]);
});
