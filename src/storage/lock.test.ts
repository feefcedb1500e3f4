import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readdir, rm, stat, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { inTemporaryFolder } from '../../test/support/inTemporaryFolder';
import { withFileLock } from './lock';
import type { Files } from './files';
import { nodeFiles, createRetryingFiles } from './nodeFiles';
import { QUICK_LOCK_TIMING, createSteppedFiles, createSystemError } from './testing';

const DEAD = spawnSync(process.execPath, ['-e', '']).pid;
const TOKEN = '0123456789abcdef';
const makeLock = (pid: number, host = hostname()): string => `${TOKEN} ${pid} ${host} 2026-01-02T03:04:05.000Z\n`;
/** This is so long that no lock expires. */
const NO_EXPIRY_TIMING = { wait: 30_000, silence: 60_000, heartbeat: 60_000 };

/**
 * Simulates Windows with a virus scanner: for two attempts, written files can't be removed and
 * removed ones can't be opened. It counts attempts instead of time, to be independent of load.
 */
function scannedFiles(files: Files, refused: (operation: 'open' | 'removeFile') => void): Files {
  const [scanned, going] = [new Map<string, number>(), new Map<string, number>()];
  const refuse = (left: Map<string, number>, path: string, operation: 'open' | 'removeFile', code: string): void => {
    const tries = left.get(path) ?? 0;
    if (tries === 0) return;
    left.set(path, tries - 1);
    refused(operation);
    throw createSystemError(code);
  };
  return {
    ...files,
    open: async (path, mode) => {
      refuse(going, path, 'open', 'EPERM');
      const file = await files.open(path, mode);
      if (mode !== 'read') scanned.set(path, 2);
      return file;
    },
    removeFile: async (path) => {
      refuse(scanned, path, 'removeFile', 'EBUSY');
      await files.removeFile(path);
      going.set(path, 2);
    },
  };
}

/** Creates a room. A visit fails if there are two visitors at the same time. */
function createRoom() {
  let inside = 0;
  let visits = 0;
  return {
    visit: async (): Promise<void> => {
      inside += 1;
      visits += 1;
      expect(inside).toBe(1);
      await delay(1);
      expect(inside).toBe(1);
      inside -= 1;
    },
    visits: () => visits,
  };
}

test('actions under a lock run one after the other', () =>
  inTemporaryFolder(async (folder) => {
    const path = join(folder, 'lock');
    const { visit, visits } = createRoom();
    await Promise.all(Array.from({ length: 20 }, () => withFileLock(nodeFiles, path, NO_EXPIRY_TIMING, visit)));
    expect(visits()).toBe(20);
    expect(await readdir(folder)).toEqual([]);
  }));

test('actions under a lock run one after the other on Windows, even if a scanner opens each file and delays deletion', () =>
  inTemporaryFolder(async (folder) => {
    const path = join(folder, 'lock');
    const { visit, visits } = createRoom();
    const refused: string[] = [];
    const files = createRetryingFiles(
      scannedFiles(nodeFiles, (operation) => refused.push(operation)),
      {
        platform: 'win32',
        waits: Array<number>(40).fill(1),
      },
    );
    await Promise.all(Array.from({ length: 10 }, () => withFileLock(files, path, NO_EXPIRY_TIMING, visit)));
    expect(visits()).toBe(10);
    expect(await readdir(folder)).toEqual([]);
    expect(new Set(refused)).toEqual(new Set(['open', 'removeFile']));
  }));

test('the lock of a dead process is removed at once by one of the waiting processes', () =>
  inTemporaryFolder(async (folder) => {
    const path = join(folder, 'lock');
    for (let round = 0; round < 10; round += 1) {
      await writeFile(path, makeLock(DEAD));
      const { visit, visits } = createRoom();
      await Promise.all(Array.from({ length: 8 }, () => withFileLock(nodeFiles, path, NO_EXPIRY_TIMING, visit)));
      expect(visits()).toBe(8);
      expect(await readdir(folder)).toEqual([]);
    }
  }));

test("a process that died while removing another's lock blocks no other process", () =>
  inTemporaryFolder(async (folder) => {
    const path = join(folder, 'lock');
    await writeFile(path, makeLock(DEAD));
    await writeFile(`${path}.${TOKEN}`, makeLock(DEAD));
    await withFileLock(nodeFiles, path, NO_EXPIRY_TIMING, () => Promise.resolve());
    expect(await readdir(folder)).toEqual([]);
  }));

test.each([
  ['a living process that has lost its thread', makeLock(process.pid)],
  ['another machine', makeLock(DEAD, 'elsewhere')],
  ['nobody: its maker died before it wrote its name', ''],
])('a lock whose owner shows no sign of life is removed: that of %s', (_, content) =>
  inTemporaryFolder(async (folder) => {
    const path = join(folder, 'lock');
    await writeFile(path, content);
    await withFileLock(nodeFiles, path, QUICK_LOCK_TIMING, () => Promise.resolve());
    expect(existsSync(path)).toBe(false);
  }),
);

test('a lock whose owner shows signs of life is respected, however long it is held', () =>
  inTemporaryFolder(async (folder) => {
    const path = join(folder, 'lock');
    const order: string[] = [];
    const timing = { ...QUICK_LOCK_TIMING, silence: 500 };
    let second: Promise<void> | undefined;
    await withFileLock(nodeFiles, path, timing, async () => {
      second = withFileLock(nodeFiles, path, timing, () => Promise.resolve(void order.push('second')));
      await delay(2 * timing.silence);
      order.push('first');
    });
    await second;
    expect(order).toEqual(['first', 'second']);
  }));

test.each([
  [makeLock(process.pid), `Another process (${process.pid} on ${hostname()}) is writing to this ledger.`],
  ['', 'Another process is writing to this ledger.'],
])('waiting for a lock is limited, and the error names the owner', (content, words) =>
  inTemporaryFolder(async (folder) => {
    const path = join(folder, 'lock');
    await writeFile(path, content);
    const action = withFileLock(nodeFiles, path, { ...NO_EXPIRY_TIMING, wait: 30 }, () => Promise.resolve());
    await expect(action).rejects.toMatchObject({ kind: 'locked', path, data: { happened: words } });
    expect(existsSync(path)).toBe(true);
  }),
);

test('the owner of a lock notices that its lock was removed, and leaves the new one alone', () =>
  inTemporaryFolder(async (folder) => {
    const path = join(folder, 'lock');
    const action = withFileLock(nodeFiles, path, NO_EXPIRY_TIMING, async ({ confirm }) => {
      await confirm();
      await writeFile(path, makeLock(process.pid));
      await confirm();
    });
    await expect(action).rejects.toMatchObject({ kind: 'locked' });
    expect((await stat(path)).size).toBeGreaterThan(0);
  }));

test('taking a lock recreates a folder that was removed meanwhile', () =>
  inTemporaryFolder(async (folder) => {
    await rm(folder, { recursive: true });
    await withFileLock(nodeFiles, join(folder, 'lock'), NO_EXPIRY_TIMING, () => Promise.resolve());
    expect(await readdir(folder)).toEqual([]);
  }));

test('a lock that cannot be written leaves no file behind', () =>
  inTemporaryFolder(async (folder) => {
    const files = createSteppedFiles(({ operation }) => {
      if (operation === 'write') throw createSystemError('ENOSPC');
    });
    await expect(withFileLock(files, join(folder, 'lock'), NO_EXPIRY_TIMING, () => Promise.resolve())).rejects.toThrow(
      'ENOSPC',
    );
    expect(await readdir(folder)).toEqual([]);
  }));

test('a lock that cannot be removed does not undo the action done under it', () =>
  inTemporaryFolder(async (folder) => {
    const files = createSteppedFiles(({ operation }) => {
      if (operation === 'removeFile') throw createSystemError('EACCES');
    });
    expect(await withFileLock(files, join(folder, 'lock'), NO_EXPIRY_TIMING, () => Promise.resolve('done'))).toBe(
      'done',
    );
  }));
