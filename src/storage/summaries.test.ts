import { mkdir, readdir, readFile, stat, truncate, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { inTemporaryFolder } from '../../test/support/inTemporaryFolder';
import { createSmartProvider } from '../core/condense';
import { createTestSummarizer } from '../core/condense/summary/testing';
import { hashText, type Hash } from '../core/hash';
import { makeToolExchange, makeLines, user } from '../core/testing';
import { createCounter } from '../core/testingCounter';
import { nodeFiles } from './nodeFiles';
import { StoredSummaries } from './summaries';
import { createSteppedFiles, createSystemError } from './testing';

const key = (name: string): Hash => hashText(name);
const DAY = 24 * 60 * 60 * 1000;

it('stored summaries survive a restart, work for other windows, and are readable only by the user', () =>
  inTemporaryFolder(async (folder) => {
    const path = join(folder, 'summaries');
    const [one, other] = [new StoredSummaries(path), new StoredSummaries(path)];
    expect(await one.get(key('a'))).toBeUndefined();
    await fc.assert(
      fc.asyncProperty(fc.string(), fc.string({ unit: 'binary' }), async (name, summary) => {
        await one.set(key(name), summary);
        expect(await other.get(key(name))).toBe(summary);
      }),
    );
    const [name = ''] = await readdir(path);
    expect((await stat(path)).mode & 0o077).toBe(0);
    expect((await stat(join(path, name))).mode & 0o077).toBe(0);
  }));

it('a stored summary that is truncated, changed or foreign counts as absent, and is rewritten', () =>
  inTemporaryFolder(async (folder) => {
    const store = new StoredSummaries(folder);
    const path = join(folder, `${key('a')}.json`);
    for (const spoil of [
      () => truncate(path, 20),
      () => truncate(path, 0),
      () => writeFile(path, JSON.stringify({ check: key('good'), summary: 'forged' })),
      () => writeFile(path, 'null'),
    ]) {
      await store.set(key('a'), 'good');
      expect(await store.get(key('a'))).toBe('good');
      await spoil();
      expect(await store.get(key('a'))).toBeUndefined();
    }
    await mkdir(join(folder, `${key('folder')}.json`));
    expect(await store.get(key('folder'))).toBeUndefined();
  }));

it('a process that dies while it stores a summary leaves no half-written summary', () =>
  inTemporaryFolder(async (folder) => {
    for (let death = 0; death < 12; death++) {
      let step = 0;
      const files = createSteppedFiles(() => {
        if (step++ >= death) throw new Error('died');
      });
      const name = `at step ${death}`;
      await new StoredSummaries(folder, { files }).set(key(name), 'whole');
      expect([undefined, 'whole']).toContain(await new StoredSummaries(folder).get(key(name)));
    }
  }));

it('summaries that can’t be stored are reported once and still used', () =>
  inTemporaryFolder(async (folder) => {
    const reported: string[] = [];
    const full = createSystemError('ENOSPC');
    const files = { ...nodeFiles, makeFolder: () => Promise.reject(full) };
    const store = new StoredSummaries(folder, { files, onError: (words) => reported.push(words) });
    await store.set(key('a'), 'x');
    await store.set(key('b'), 'x');
    expect(reported).toEqual([
      expect.stringMatching(/full\. A summary was not kept for the next time\. Free some space/),
    ]);
  }));

it('stored summaries are limited by age and size, and the most recently used stay', () =>
  inTemporaryFolder(async (folder) => {
    const now = (): number => 100 * DAY;
    const used = async (name: string, day: number): Promise<void> => {
      await utimes(join(folder, name), day * 24 * 3600, day * 24 * 3600);
    };
    const store = new StoredSummaries(folder, { now });
    for (const name of ['old', 'early', 'late', 'read']) await store.set(key(name), 'x'.repeat(1_000));
    await writeFile(join(folder, `${key('dead')}.0123456789abcdef.new`), '{"check":"0a');
    await writeFile(join(folder, `${key('foreign')}.json`), 'not ours, but named alike');
    await writeFile(join(folder, 'notes.txt'), 'not ours');
    await used(`${key('old')}.json`, 60);
    await used(`${key('early')}.json`, 80);
    await used(`${key('read')}.json`, 80);
    await used(`${key('late')}.json`, 90);
    await used(`${key('dead')}.0123456789abcdef.new`, 60);
    await used('notes.txt', 1);
    await used(`${key('foreign')}.json`, 1);
    expect(await store.get(key('read'))).toBeDefined();
    const limits = { maxBytes: 3_500, maxAgeDays: 30 };
    await new StoredSummaries(folder, { now, limits }).set(key('new'), 'x'.repeat(1_000));
    const left = await readdir(folder);
    expect(left.toSorted()).toEqual(
      [...['late', 'read', 'new', 'foreign'].map((name) => `${key(name)}.json`), 'notes.txt'].toSorted(),
    );
  }));

it('stored summaries unused for longer than their maximum age are dropped, however small', () =>
  inTemporaryFolder(async (folder) => {
    const options = { now: () => 100 * DAY, limits: { maxBytes: 1_000_000, maxAgeDays: 30 } };
    await new StoredSummaries(folder, options).set(key('old'), 'x');
    await utimes(join(folder, `${key('old')}.json`), 69 * 24 * 3600, 69 * 24 * 3600);
    await new StoredSummaries(folder, options).set(key('new'), 'x');
    expect(await readdir(folder)).toEqual([`${key('new')}.json`]);
  }));

it('the size of stored summaries is checked again after many writes', () =>
  inTemporaryFolder(async (folder) => {
    const store = new StoredSummaries(folder, { limits: { maxBytes: 5_000, maxAgeDays: 30 } });
    for (let index = 0; index < 201; index++) await store.set(key(`${index}`), 'short');
    expect((await readdir(folder)).length).toBeLessThan(60);
    await store.clear();
    expect(await readdir(folder).catch(() => [])).toEqual([]);
    await store.clear();
  }));

it('another window does not pay again for a stored summary, and its estimate says so', () =>
  inTemporaryFolder(async (folder) => {
    const messages = [
      user('Fix the tests.'),
      ...Array.from({ length: 5 }, (_, index) =>
        makeToolExchange(`${index}`, 'Bash', { command: `run ${index}` }, makeLines(`r${index}`, 40)),
      ).flat(),
    ];
    const condense = async (replies: readonly string[]) => {
      const summarizer = createTestSummarizer(replies);
      const select = () => ({ summarizer, chosen: 'condensing-profile' }) as const;
      const provider = createSmartProvider({ select, memo: new StoredSummaries(folder) });
      const checked = provider.validateConfig({
        passes: [
          {
            id: 'a',
            name: 'A',
            mode: 'individual',
            selection: { type: 'preserve_recent', count: 0 },
            individualConfig: { defaults: { toolResults: { operation: 'summarize', maxTokens: 40 } } },
          },
        ],
      });
      if (!checked.valid) throw new Error(JSON.stringify(checked.problems));
      const context = { messages, edits: [], counter: createCounter() };
      const { costRange } = await provider.estimate(context, checked.config, {});
      const { edits, cost } = await provider.condense(context, checked.config, {});
      return { edits, cost, costRange, calls: summarizer.requests.length };
    };
    const first = await condense(['All is well.']);
    expect(first.calls).toBe(5);
    expect(first.costRange?.most).toBeGreaterThan(0);
    expect((await readdir(folder)).length).toBe(5);
    const second = await condense([]);
    expect(second).toEqual({ ...first, calls: 0, cost: 0, costRange: undefined });
    for (const name of await readdir(folder)) {
      expect(Object.keys(JSON.parse(await readFile(join(folder, name), 'utf8')) as object)).toEqual([
        'check',
        'summary',
      ]);
    }
  }));
