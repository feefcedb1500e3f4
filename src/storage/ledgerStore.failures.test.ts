import { mkdir, readdir, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { inTemporaryFolder } from '../../test/support/inTemporaryFolder';
import { buildLedger } from '../core/condense/ledger/ledger';
import { nodeFiles } from './nodeFiles';
import { isStorageError, listLedgers, openLedger, removeLedger } from './ledgerStore';
import {
  makeCondensedEntry,
  makeOriginals,
  QUICK_LOCK_TIMING,
  createSteppedFiles,
  createSystemError,
  makeUndoneEntry,
} from './testing';
import { TEST_CONVERSATION_ID, NO_ORIGINALS, openTestLedger, readLedgerFiles } from './testingLedger';

test.each(['ENOSPC', 'EACCES', 'EROFS'])(
  'a %s error at any step of writing a ledger leaves the old or the new state and is reported in words',
  (code) =>
    inTemporaryFolder(async (parent) => {
      const old = makeCondensedEntry('c1', ['one']);
      const next = makeCondensedEntry('c2', ['two']);
      for (const lasting of [false, true]) {
        for (const existing of [false, true]) {
          for (let failing = 0; ; failing += 1) {
            const root = join(parent, `${lasting}-${existing}-${failing}`);
            if (existing) await (await openTestLedger(root)).append(old, makeOriginals(['one']));
            let count = 0;
            const broken = { yet: false };
            const files = createSteppedFiles(() => {
              if (count++ === failing || (lasting && broken.yet)) {
                broken.yet = true;
                throw createSystemError(code);
              }
            });
            const ledger = await openLedger(root, { id: TEST_CONVERSATION_ID }, { files, lock: QUICK_LOCK_TIMING });
            const before = ledger.ledger;
            const error = await ledger.append(next, makeOriginals(['two'])).catch((reason: unknown) => reason);
            const again = await openLedger(root, { id: TEST_CONVERSATION_ID }, { lock: QUICK_LOCK_TIMING });
            expect(again.problems).toEqual([]);
            if (error === undefined) {
              expect(again.ledger).toEqual(buildLedger(existing ? [old, next] : [next]));
            } else {
              expect(isStorageError(error) && error.message).toMatch(/not added to the ledger/);
              expect(ledger.ledger).toEqual(before);
              // If even reverting fails, the whole entry may remain, never half of it.
              const states = lasting ? [before, buildLedger(existing ? [old, next] : [next])] : [before];
              expect(states).toContainEqual(again.ledger);
            }
            await rm(join(again.folder, 'lock'), { force: true });
            await again.append(makeCondensedEntry('c3', ['three']), makeOriginals(['three']));
            const last = await openTestLedger(root);
            expect(last.problems).toEqual([]);
            expect(last.ledger).toEqual(again.ledger);
            await rm(root, { recursive: true });
            if (!broken.yet) break;
          }
        }
      }
    }),
);

test.each([
  ['ENOSPC', 'no-space'],
  ['EDQUOT', 'no-space'],
  ['EACCES', 'no-permission'],
  ['EROFS', 'read-only'],
  ['EIO', 'io'],
])('the system error %s is reported as %s, with what failed and what to do', (code, trouble) =>
  inTemporaryFolder(async (root) => {
    const files = createSteppedFiles(({ operation }) => {
      if (operation === 'sync') throw createSystemError(code);
    });
    const ledger = await openLedger(root, { id: TEST_CONVERSATION_ID }, { files });
    const error = await ledger
      .append(makeCondensedEntry('c1', ['one']), makeOriginals(['one']))
      .catch((reason: unknown) => reason);
    expect(error).toMatchObject({
      kind: trouble,
      path: ledger.folder,
      cause: { code },
      data: { advice: expect.stringMatching(/\.$/) },
    });
    expect((error as Error).message).toContain('The entry was not added to the ledger; nothing else has changed.');
  }),
);

test("a ledger reports thrown values that aren't errors", () =>
  inTemporaryFolder(async (root) => {
    const thrown: unknown = 'odd';
    // oxlint-disable-next-line typescript/prefer-promise-reject-errors
    const files = { ...nodeFiles, open: () => Promise.reject(thrown) };
    await expect(openLedger(root, { id: TEST_CONVERSATION_ID }, { files })).rejects.toMatchObject({
      kind: 'io',
      message: expect.stringContaining('odd'),
    });
  }));

test('a store that is a file instead of a folder causes one clear error', () =>
  inTemporaryFolder(async (folder) => {
    const root = join(folder, 'file');
    await writeFile(root, '');
    await expect(openTestLedger(root)).rejects.toMatchObject({
      kind: 'io',
      message: expect.stringContaining('ENOTDIR'),
    });
  }));

test.skipIf(process.platform === 'win32')("a ledger's files are readable only by the user", () =>
  inTemporaryFolder(async (folder) => {
    const root = join(folder, 'new', 'root');
    await (await openTestLedger(root)).append(makeCondensedEntry('c1', ['one']), makeOriginals(['one']));
    const files = await readLedgerFiles(root);
    const mode = async (path: string) => (await stat(path)).mode & 0o777;
    expect(await mode(root)).toBe(0o700);
    expect(await mode(files.folder)).toBe(0o700);
    for (const name of await readdir(files.folder)) expect(await mode(join(files.folder, name))).toBe(0o600);
  }),
);

test.skipIf(process.platform === 'win32')('links that lead out of the store are rejected', () =>
  inTemporaryFolder(async (folder) => {
    const root = join(folder, 'root');
    const outside = join(folder, 'outside');
    await mkdir(outside);
    const ledger = await openTestLedger(root);
    await ledger.append(makeCondensedEntry('c1', ['one']), makeOriginals(['one']));
    const refused = { kind: 'outside-root' };
    for (const name of ['ledger.jsonl', 'originals.jsonl', 'about.json']) {
      const path = join(ledger.folder, name);
      await rename(path, join(outside, name));
      await symlink(join(outside, name), path);
      await expect(ledger.append(makeUndoneEntry('c1'), NO_ORIGINALS)).rejects.toMatchObject(refused);
      await rm(path);
      await symlink(join(outside, 'nowhere'), path);
      await expect(ledger.append(makeUndoneEntry('c1'), NO_ORIGINALS)).rejects.toMatchObject(refused);
      await rm(path);
      await rename(join(outside, name), path);
    }
    expect(await readdir(outside)).toEqual([]);
    await rename(ledger.folder, join(outside, 'ledger'));
    await symlink(join(outside, 'ledger'), ledger.folder);
    await expect(ledger.append(makeUndoneEntry('c1'), NO_ORIGINALS)).rejects.toMatchObject(refused);
    await expect(openTestLedger(root)).rejects.toMatchObject(refused);
    expect(await removeLedger(root, TEST_CONVERSATION_ID)).toBe(false);
    expect(await listLedgers(root)).toEqual([]);
  }),
);

test.skipIf(process.platform === 'win32')(
  'a link within the store, and a store that is itself a link, are accepted',
  () =>
    inTemporaryFolder(async (folder) => {
      const link = join(folder, 'link');
      await mkdir(join(folder, 'root'));
      await symlink(join(folder, 'root'), link);
      const ledger = await openTestLedger(link);
      await ledger.append(makeCondensedEntry('c1', []), NO_ORIGINALS);
      await rename(ledger.folder, join(link, 'moved'));
      await symlink(join(link, 'moved'), ledger.folder);
      await ledger.append(makeCondensedEntry('c2', []), NO_ORIGINALS);
      expect((await openTestLedger(link)).ledger.condensations).toHaveLength(2);
    }),
);
