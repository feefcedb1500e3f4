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

it('metrics survive a restart and are readable only by the user', async () => {
  const store = new MetricsStore(path);
  expect(await store.readRuns()).toEqual([]);
  await store.addRun(run(1));
  await store.addRun(run(2));
  expect(await store.readRuns()).toHaveLength(2);
  expect(await new MetricsStore(path).readRuns()).toEqual([run(1), run(2)]);
  expect(statSync(path).mode & 0o077).toBe(0);
});

it('invalid lines of metrics are skipped', async () => {
  await new MetricsStore(path).addRun(run(1));
  appendFileSync(path, '{"at":"x"}\nnull\n{"torn\n');
  expect(await new MetricsStore(path).readRuns()).toEqual([run(1)]);
});

it('metrics are limited in number, and the oldest are dropped', async () => {
  await new MetricsStore(path).addRun(run(0));
  appendFileSync(path, Array.from({ length: 2_499 }, (_, index) => `${JSON.stringify(run(index + 1))}\n`).join(''));
  const store = new MetricsStore(path);
  await store.addRun(run(2_500));
  expect(readFileSync(path, 'utf8').trimEnd().split('\n')).toHaveLength(2_000);
  expect((await store.readRuns()).at(-1)).toEqual(run(2_500));
  await store.addRun(run(2_501));
  expect(await new MetricsStore(path).readRuns()).toHaveLength(2_001);
});

it("trimming stored metrics keeps the file's newest lines, even those of a newer version or another window", async () => {
  await new MetricsStore(path).addRun(run(0));
  const newer =
    '{"at":"2030-01-01T00:00:00.000Z","provider":"native","calls":{"of":"version 9"},"n":12345678901234567890}';
  const more = Array.from({ length: 2_498 }, (_, index) => `${JSON.stringify(run(index + 1))}\n`).join('');
  appendFileSync(path, `${more}${newer}\n`);
  const store = new MetricsStore(path);
  expect(await store.readRuns()).toHaveLength(2_499);
  appendFileSync(path, `${JSON.stringify(run(3_000))}\n`);
  await store.addRun(run(3_001));
  const lines = readFileSync(path, 'utf8').trimEnd().split('\n');
  expect(lines).toHaveLength(2_000);
  expect(lines.slice(-3)).toEqual([newer, JSON.stringify(run(3_000)), JSON.stringify(run(3_001))]);
  expect(await store.readRuns()).toEqual(await new MetricsStore(path).readRuns());
});

it('metrics are appended on a new line after one that a crash cut off', async () => {
  await new MetricsStore(path).addRun(run(1));
  appendFileSync(path, '{"torn');
  await new MetricsStore(path).addRun(run(2));
  expect(await new MetricsStore(path).readRuns()).toEqual([run(1), run(2)]);
});

it('metrics can be cleared', async () => {
  const store = new MetricsStore(path);
  await store.removeAllRuns();
  await store.addRun(run(1));
  await store.removeAllRuns();
  expect(await store.readRuns()).toEqual([]);
  expect(await new MetricsStore(path).readRuns()).toEqual([]);
});
