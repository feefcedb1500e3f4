import fc from 'fast-check';
import { spawnSync } from 'node:child_process';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { basename, join } from 'node:path';
import { expect, test } from 'vitest';
import { inTemporaryFolder } from '../../test/support/inTemporaryFolder';
import { listLedgers, openLedger } from './ledgerStore';
import { nodeFiles } from './nodeFiles';
import { ledgersToPrune, pruneLedgers, type PruneCandidate } from './prune';
import { condensed, originalsIn, QUICK_LOCK, steppedFiles, systemError } from './testing';

const DAY = 24 * 60 * 60 * 1000;
const now = new Date(100 * DAY);
const MB = 1024 * 1024;
const candidate = (folder: string, days: number, megabytes: number, inUse = false): PruneCandidate => ({
  folder,
  bytes: megabytes * MB,
  lastUsed: now.getTime() - days * DAY,
  inUse,
});
const names = (candidates: readonly PruneCandidate[]): string[] => candidates.map(({ folder }) => folder);

test('the too old go, then the oldest until the rest fits; what is in use stays', () => {
  const ledgers = [
    candidate('a', 31, 1),
    candidate('b', 29, 300),
    candidate('c', 20, 300),
    candidate('d', 1, 300),
    candidate('e', 90, 1, true),
  ];
  expect(names(ledgersToPrune(ledgers, { now }))).toEqual(['a', 'b', 'c']);
  expect(names(ledgersToPrune(ledgers, { now, maxBytes: 10_000 * MB }))).toEqual(['a']);
  expect(names(ledgersToPrune(ledgers, { now, maxBytes: 10_000 * MB, maxAgeDays: 19 }))).toEqual(['a', 'b', 'c']);
  expect(names(ledgersToPrune(ledgers, { now, maxBytes: 0 }))).toEqual(['a', 'b', 'c', 'd']);
  expect(names(ledgersToPrune([candidate('z', 1, 400), candidate('y', 1, 400)], { now }))).toEqual(['y']);
});

test('what is kept fits or is in use; nothing younger goes while something older stays', () => {
  const ledger = fc
    .tuple(fc.nat(60), fc.nat(400), fc.boolean())
    .map(([days, megabytes, inUse]) => ({ days, megabytes, inUse }));
  fc.assert(
    fc.property(fc.array(ledger), (list) => {
      const ledgers = list.map(({ days, megabytes, inUse }, index) => candidate(`${index}`, days, megabytes, inUse));
      const pruned = new Set(ledgersToPrune(ledgers, { now }));
      const kept = ledgers.filter((one) => !pruned.has(one));
      const free = kept.filter(({ inUse }) => !inUse);
      expect([...pruned].some(({ inUse }) => inUse)).toBe(false);
      expect(free.every(({ lastUsed }) => lastUsed >= now.getTime() - 30 * DAY)).toBe(true);
      const bytes = kept.reduce((sum, one) => sum + one.bytes, 0);
      expect(bytes <= 500 * MB || free.length === 0 || bytes === 0).toBe(true);
      for (const one of pruned) expect(free.every(({ lastUsed }) => lastUsed >= one.lastUsed)).toBe(true);
    }),
  );
});

async function makeLedger(root: string, id: string, days: number): Promise<string> {
  const { append, folder } = bound(await openLedger(root, { id }));
  await append(condensed('c1', [id]), originalsIn([id]));
  for (const name of await readdir(folder)) await nodeFiles.touch(join(folder, name), now.getTime() - days * DAY);
  return folder;
}
const bound = (ledger: Awaited<ReturnType<typeof openLedger>>) => ({
  append: ledger.append.bind(ledger),
  folder: ledger.folder,
});
const idsIn = async (root: string): Promise<string[]> => (await listLedgers(root)).map(({ about }) => about.id);

test('old ledgers are removed from the disk; those in use, here or by another process, stay', () =>
  inTemporaryFolder(async (root) => {
    await makeLedger(root, 'new', 1);
    const old = await makeLedger(root, 'old', 40);
    await makeLedger(root, 'in use', 50);
    const locked = await makeLedger(root, 'locked', 60);
    await writeFile(join(locked, 'lock'), `0123456789abcdef ${process.pid} ${hostname()} now\n`);
    await mkdir(join(root, `${'0'.repeat(32)}.removed-0123456789abcdef`));
    const pruned = await pruneLedgers(root, { now, inUse: ['in use'] });
    expect(pruned.removed).toMatchObject([{ folder: old, lastUsed: now.getTime() - 40 * DAY }]);
    expect(await idsIn(root)).toEqual(['new', 'in use', 'locked']);
    expect(await readdir(root)).toHaveLength(3);
    expect(pruned.bytes).toBeGreaterThan(0);
    expect(await pruneLedgers(root, { now, inUse: ['in use'], maxBytes: 0 })).toMatchObject({ removed: [{}] });
    expect(await idsIn(root)).toEqual(['in use', 'locked']);
  }));

test('a clock that jumps 40 days forward takes nothing that a running process holds; what a dead one held goes', () =>
  inTemporaryFolder(async (root) => {
    const jumped = new Date(now.getTime() + 40 * DAY);
    const mark = (folder: string, name: string): Promise<void> => writeFile(join(folder, name), '');
    await makeLedger(root, 'nobody', 0);
    const own = await openLedger(root, { id: 'own' });
    await own.append(condensed('c1', ['own']), originalsIn(['own']));
    await own.hold();
    const { stdout } = spawnSync(process.execPath, ['-e', 'process.stdout.write(String(process.pid))'], {
      encoding: 'utf8',
    });
    const host = hostname().replace(/[^\w.-]/g, '_');
    const another = await makeLedger(root, 'another window', 0);
    await mark(another, `held-${process.ppid}@${host}`);
    const ended = await makeLedger(root, 'ended', 0);
    await mark(ended, `held-${stdout}@${host}`);
    const far = await makeLedger(root, 'another machine', 0);
    await mark(far, `held-${process.ppid}@not-${host}`);
    for (const folder of [own.folder, another, ended, far]) {
      for (const name of await readdir(folder)) await nodeFiles.touch(join(folder, name), now.getTime());
    }
    await pruneLedgers(root, { now: jumped });
    expect((await idsIn(root)).toSorted()).toEqual(['another window', 'own']);
    // Who holds it next clears the marks of those that are gone.
    await mark(own.folder, `held-${stdout}@${host}`);
    await own.hold();
    expect((await readdir(own.folder)).filter((name) => name.startsWith('held-'))).toEqual([
      `held-${process.pid}@${host}`,
    ]);
  }));

test('one that is used while the others are looked at stays', () =>
  inTemporaryFolder(async (root) => {
    const folder = await makeLedger(root, 'old', 40);
    const files = {
      ...nodeFiles,
      // Between the look at the ledger and its removal, somebody opens it.
      open: async (...[path, mode]: Parameters<typeof nodeFiles.open>) => {
        if (path.endsWith('lock') && mode === 'create')
          await nodeFiles.touch(join(folder, 'about.json'), now.getTime());
        return nodeFiles.open(path, mode);
      },
    };
    expect((await pruneLedgers(root, { now }, { files })).removed).toEqual([]);
    expect(await idsIn(root)).toEqual(['old']);
  }));

test('killed or failing at any step, a ledger is there whole or gone', () =>
  inTemporaryFolder(async (root) => {
    for (let failing = 0; ; failing += 1) {
      await makeLedger(root, 'old', 40);
      let count = 0;
      const files = steppedFiles(() => {
        if (count++ >= failing) throw systemError('EIO');
      });
      const failed = await pruneLedgers(root, { now }, { files, lock: QUICK_LOCK }).then(
        () => false,
        () => true,
      );
      const { ledger } = await openLedger(root, { id: 'old' });
      expect([0, 1]).toContain(ledger.condensations.length);
      if (ledger.condensations.length === 1)
        expect(
          await (
            await openLedger(root, { id: 'old' })
          ).originals(ledger.condensations[0]!.edits.map(({ before }) => before)),
        ).toEqual(originalsIn(['old']));
      await pruneLedgers(root, { now, maxBytes: -1 }, { lock: QUICK_LOCK });
      for (const folder of await readdir(root)) await nodeFiles.removeFolder(join(root, folder));
      if (!failed) break;
    }
  }));

test('nothing to prune where there is nothing', () =>
  inTemporaryFolder(async (folder) => {
    expect(await pruneLedgers(join(folder, 'nowhere'), { now })).toEqual({ removed: [], bytes: 0 });
  }));

test('what a newer version wrote is not removed, however old it is', () =>
  inTemporaryFolder(async (root) => {
    const folder = await makeLedger(root, 'newer', 90);
    await makeLedger(root, 'older', 80);
    await writeFile(join(folder, 'about.json'), JSON.stringify({ version: 2, id: 'newer' }));
    await nodeFiles.touch(join(folder, 'about.json'), now.getTime() - 90 * DAY);
    const { removed } = await pruneLedgers(root, { now });
    expect(removed).toHaveLength(1);
    expect(await readdir(root)).toEqual([basename(folder)]);
  }));
