import fc from 'fast-check';
import { spawnSync } from 'node:child_process';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { basename, join } from 'node:path';
import { expect, test } from 'vitest';
import { inTemporaryFolder } from '../../test/support/inTemporaryFolder';
import { listLedgers, openLedger } from './ledgerStore';
import { nodeFiles } from './nodeFiles';
import { formatOwner, getThisProcess } from './owner';
import { FOLDER_MARKER_FILE_NAME } from './ownFolder';
import { selectLedgersToPrune, describePruneResult, pruneLedgers, type PruneCandidate } from './prune';
import { makeCondensedEntry, makeOriginals, QUICK_LOCK_TIMING, createSteppedFiles, createSystemError } from './testing';

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

test('pruning old ledgers removes those that are too old, then the oldest until the rest fits, but none in use', () => {
  const ledgers = [
    candidate('a', 31, 1),
    candidate('b', 29, 300),
    candidate('c', 20, 300),
    candidate('d', 1, 300),
    candidate('e', 90, 1, true),
  ];
  expect(names(selectLedgersToPrune(ledgers, { now }))).toEqual(['a', 'b', 'c']);
  expect(names(selectLedgersToPrune(ledgers, { now, maxBytes: 10_000 * MB }))).toEqual(['a']);
  expect(names(selectLedgersToPrune(ledgers, { now, maxBytes: 10_000 * MB, maxAgeDays: 19 }))).toEqual(['a', 'b', 'c']);
  expect(names(selectLedgersToPrune(ledgers, { now, maxBytes: 0 }))).toEqual(['a', 'b', 'c', 'd']);
  expect(names(selectLedgersToPrune([candidate('z', 1, 400), candidate('y', 1, 400)], { now }))).toEqual(['y']);
});

test('pruning old ledgers keeps what fits or is in use, and removes the oldest first', () => {
  const ledger = fc
    .tuple(fc.nat(60), fc.nat(400), fc.boolean())
    .map(([days, megabytes, inUse]) => ({ days, megabytes, inUse }));
  fc.assert(
    fc.property(fc.array(ledger), (list) => {
      const ledgers = list.map(({ days, megabytes, inUse }, index) => candidate(`${index}`, days, megabytes, inUse));
      const pruned = new Set(selectLedgersToPrune(ledgers, { now }));
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
  await append(makeCondensedEntry('c1', [id]), makeOriginals([id]));
  for (const name of await readdir(folder)) await nodeFiles.touch(join(folder, name), now.getTime() - days * DAY);
  return folder;
}
const bound = (ledger: Awaited<ReturnType<typeof openLedger>>) => ({
  append: ledger.append.bind(ledger),
  folder: ledger.folder,
});
const idsIn = async (root: string): Promise<string[]> => (await listLedgers(root)).map(({ about }) => about.id);

const later = (days: number): Date => new Date(now.getTime() + days * DAY);
const setAsideIn = async (root: string): Promise<string[]> =>
  (await readdir(root)).filter((name) => name.includes('.aside-'));

test('old ledgers are set aside, and removed a week later, except those in use by any process', () =>
  inTemporaryFolder(async (root) => {
    await makeLedger(root, 'new', 0);
    const old = await makeLedger(root, 'old', 40);
    await makeLedger(root, 'in use', 50);
    const locked = await makeLedger(root, 'locked', 60);
    await writeFile(join(locked, 'lock'), `0123456789abcdef ${process.pid} ${hostname()} now\n`);
    await mkdir(join(root, `${'0'.repeat(32)}.removed-0123456789abcdef`));
    const inUse = ['in use'];
    const pruned = await pruneLedgers(root, { now, inUse });
    expect(pruned).toMatchObject({ setAside: [{ folder: old, lastUsed: now.getTime() - 40 * DAY }], removed: [] });
    expect(describePruneResult(pruned)).toBe(
      '1 ledger not used lately was set aside: expanding or condensing its conversation in the next 7 days brings it back.',
    );
    expect((await readdir(root)).filter((name) => name !== FOLDER_MARKER_FILE_NAME).map((name) => name.length)).toEqual(
      expect.arrayContaining([32, 32, 32]),
    );
    expect(await setAsideIn(root)).toHaveLength(1);
    expect(pruned.bytes).toBeGreaterThan(0);
    expect((await idsIn(root)).toSorted()).toEqual(['in use', 'locked', 'new', 'old']);
    await makeLedger(root, 'new', -8);
    const removed = await pruneLedgers(root, { now: later(8), inUse: [...inUse, 'new'] });
    expect(removed.removed).toEqual([]);
    expect(await pruneLedgers(root, { now: later(8), inUse })).toMatchObject({ setAside: [], removed: [{}] });
    expect(await setAsideIn(root)).toEqual([]);
    expect(await pruneLedgers(root, { now: later(8), inUse, maxBytes: 0 })).toMatchObject({ setAside: [{}] });
  }));

test('a ledger that was set aside returns when opened by its conversation or a reference', () =>
  inTemporaryFolder(async (root) => {
    await makeLedger(root, 'new', 0);
    const folder = await makeLedger(root, 'old', 40);
    await pruneLedgers(root, { now });
    expect(await setAsideIn(root)).toHaveLength(1);
    expect((await openLedger(root, { id: 'old' })).ledger.condensations).toHaveLength(1);
    expect(await setAsideIn(root)).toEqual([]);
    expect(await readdir(folder)).not.toContain('lock');
    await pruneLedgers(root, { now: later(1) });
    expect(await setAsideIn(root)).toEqual([]);
  }));

test('a wrong clock removes no ledger, and ledgers set aside return', () =>
  inTemporaryFolder(async (root) => {
    for (let count = 0; count < 30; count++) await makeLedger(root, `conversation ${count}`, count % 10);
    const before = await idsIn(root);
    for (const days of [365, 3_650, -3_650, 0]) {
      expect(await pruneLedgers(root, { now: later(days) })).toMatchObject({ setAside: [], removed: [] });
    }
    // After the ledgers were used while the clock was wrong, the next start sets a few of them
    // aside and removes none.
    await makeLedger(root, 'a year ahead', -365);
    for (let start = 0; start < 5; start++) {
      const { setAside, removed } = await pruneLedgers(root, { now: later(365) });
      expect(setAside.length).toBeLessThanOrEqual(20);
      expect(removed).toEqual([]);
    }
    expect(await setAsideIn(root)).toHaveLength(30);
    await pruneLedgers(root, { now: later(1) });
    expect(await setAsideIn(root)).toEqual([]);
    expect((await idsIn(root)).toSorted()).toEqual([...before, 'a year ahead'].toSorted());
  }));

test('a clock that jumps 40 days ahead sets aside only ledgers that no running process holds', () =>
  inTemporaryFolder(async (root) => {
    const mark = (folder: string, name: string): Promise<void> => writeFile(join(folder, name), '');
    await makeLedger(root, 'nobody', 0);
    await makeLedger(root, 'later', -40);
    const own = await openLedger(root, { id: 'own' });
    await own.append(makeCondensedEntry('c1', ['own']), makeOriginals(['own']));
    await own.holdFolder();
    const { stdout } = spawnSync(process.execPath, ['-e', 'process.stdout.write(String(process.pid))'], {
      encoding: 'utf8',
    });
    const me = getThisProcess();
    const another = await makeLedger(root, 'another window', 0);
    await mark(another, `held-${formatOwner({ ...me, pid: process.ppid, started: '0' })}`);
    const earlier = await makeLedger(root, 'a window of version 1.0', 0);
    await mark(earlier, `held-${process.ppid}@${me.host}`);
    const ended = await makeLedger(root, 'ended', 0);
    await mark(ended, `held-${formatOwner({ ...me, pid: Number(stdout) })}`);
    const reused = await makeLedger(root, 'another process has its number', 0);
    await mark(reused, `held-${formatOwner({ ...me, pid: process.ppid, started: '1' })}`);
    const container = await makeLedger(root, 'another container', 0);
    await mark(container, `held-${formatOwner({ ...me, space: '0-0-1' })}`);
    const forgotten = await makeLedger(root, 'a container long ago', 0);
    await mark(forgotten, `held-${formatOwner({ ...me, space: '0-0-1' })}`);
    for (const folder of [own.folder, another, earlier, ended, reused, container, forgotten]) {
      for (const name of await readdir(folder)) {
        if (folder !== container || !name.startsWith('held-')) await nodeFiles.touch(join(folder, name), now.getTime());
      }
    }
    // The mark of a process that can't be seen from here is valid while it is fresh.
    const held = join(container, (await readdir(container)).find((name) => name.startsWith('held-')) ?? '');
    expect(Date.now() - (await nodeFiles.status(held)).modified).toBeLessThan(DAY);
    const { setAside } = await pruneLedgers(root, { now: later(40) });
    const gone = setAside.map(({ folder }) => folder).toSorted();
    const left = process.platform === 'linux' ? [ended, reused, forgotten] : [ended];
    expect(gone).toEqual(expect.arrayContaining(left));
    for (const folder of [own.folder, another, earlier, container]) expect(gone).not.toContain(folder);
    // The next process that marks the ledger as in use removes stale marks.
    await mark(own.folder, `held-${formatOwner({ ...me, pid: Number(stdout) })}`);
    await own.holdFolder();
    expect((await readdir(own.folder)).filter((name) => name.startsWith('held-'))).toEqual([`held-${formatOwner(me)}`]);
  }));

test('a ledger that is opened while old ledgers are being removed is kept', () =>
  inTemporaryFolder(async (root) => {
    const folder = await makeLedger(root, 'old', 40);
    const files = {
      ...nodeFiles,
      // The ledger is opened between inspection and removal.
      open: async (...[path, mode]: Parameters<typeof nodeFiles.open>) => {
        if (path.endsWith('lock') && mode === 'create')
          await nodeFiles.touch(join(folder, 'about.json'), now.getTime());
        return nodeFiles.open(path, mode);
      },
    };
    await makeLedger(root, 'new', 0);
    expect((await pruneLedgers(root, { now }, { files })).setAside).toEqual([]);
  }));

test('removing old ledgers leaves each ledger whole or gone if it is killed or fails at any step', () =>
  inTemporaryFolder(async (root) => {
    for (let failing = 0; ; failing += 1) {
      await makeLedger(root, 'old', 60);
      await makeLedger(root, 'new', 0);
      // This ledger was set aside earlier and is due for removal.
      await makeLedger(root, 'older', 90);
      await pruneLedgers(root, { now: later(-40) }, { lock: QUICK_LOCK_TIMING });
      let count = 0;
      const files = createSteppedFiles(() => {
        if (count++ >= failing) throw createSystemError('EIO');
      });
      const failed = await pruneLedgers(root, { now }, { files, lock: QUICK_LOCK_TIMING }).then(
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
        ).toEqual(makeOriginals(['old']));
      for (const folder of await readdir(root)) await nodeFiles.removeFolder(join(root, folder));
      if (!failed) break;
    }
  }));

test('removing old ledgers does nothing if there is no store', () =>
  inTemporaryFolder(async (folder) => {
    expect(await pruneLedgers(join(folder, 'nowhere'), { now })).toEqual({ setAside: [], removed: [], bytes: 0 });
  }));

test('removing old ledgers never removes a ledger of a newer version', () =>
  inTemporaryFolder(async (root) => {
    const folder = await makeLedger(root, 'newer', 90);
    await makeLedger(root, 'older', 80);
    await writeFile(join(folder, 'about.json'), JSON.stringify({ version: 2, id: 'newer' }));
    await nodeFiles.touch(join(folder, 'about.json'), now.getTime() - 90 * DAY);
    await makeLedger(root, 'new', 0);
    const { setAside } = await pruneLedgers(root, { now });
    expect(setAside).toHaveLength(1);
    expect(await readdir(root)).toContain(basename(folder));
  }));
