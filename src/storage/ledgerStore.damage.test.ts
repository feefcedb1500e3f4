import fc from 'fast-check';
import { cp, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { inTemporaryFolder } from '../../test/support/inTemporaryFolder';
import { buildLedger } from '../core/condense/ledger/ledger';
import { hashText } from '../core/hash';
import { Journal } from './journal';
import { nodeFiles } from './nodeFiles';
import { isStorageError, listLedgers, openLedger } from './ledgerStore';
import { makeCondensedEntry, makeOriginals, makeUndoneEntry } from './testing';
import { TEST_CONVERSATION_ID, NO_ORIGINALS, openTestLedger, readLedgerFiles } from './testingLedger';

test('a ledger file cut off anywhere has an earlier state with all its originals, and can continue', () =>
  inTemporaryFolder(async (root) => {
    const source = join(root, 'source');
    const steps = [
      { entry: makeCondensedEntry('c1', ['one', '\ud83d']), texts: ['one', '\ud83d'] },
      { entry: makeCondensedEntry('c2', ['two']), texts: ['two'] },
      { entry: makeUndoneEntry('c2'), texts: [] },
    ];
    const states = [buildLedger([])];
    const writer = await openTestLedger(source);
    for (const { entry, texts } of steps) {
      await writer.append(entry, makeOriginals(texts));
      states.push(writer.ledger);
    }
    const { size } = await stat(join(writer.folder, 'ledger.jsonl'));
    await fc.assert(
      fc.asyncProperty(fc.nat(size), async (length) => {
        const copy = join(root, 'copy');
        await cp(source, copy, { recursive: true });
        await truncate((await readLedgerFiles(copy)).entries, length);
        const ledger = await openTestLedger(copy);
        expect(states).toContainEqual(ledger.ledger);
        await ledger.append(makeCondensedEntry('c3', ['three']), makeOriginals(['three']));
        const again = await openTestLedger(copy);
        expect(again.problems).toEqual([]);
        expect(again.ledger).toEqual(ledger.ledger);
        const edits = again.ledger.condensations.flatMap((one) => one.edits);
        expect((await again.originals(edits.map(({ before }) => before))).size).toBe(edits.length);
        await rm(copy, { recursive: true });
      }),
    );
  }));

test("a changed byte in a ledger's entries or originals is reported, and no wrong text is ever returned", () =>
  inTemporaryFolder(async (root) => {
    const texts = ['first original', 'zweites Original €'];
    await (await openTestLedger(root)).append(makeCondensedEntry('c1', texts), makeOriginals(texts));
    const { entries, originals } = await readLedgerFiles(root);
    for (const path of [entries, originals]) {
      const whole = await readFile(path);
      await fc.assert(
        fc.asyncProperty(fc.nat(whole.length - 1), fc.integer({ min: 1, max: 255 }), async (at, change) => {
          const damaged = Buffer.from(whole);
          damaged[at] = (damaged[at] ?? 0) ^ change;
          await writeFile(path, damaged);
          const ledger = await openTestLedger(root);
          expect(ledger.problems.length).toBeGreaterThan(0);
          for (const text of texts) {
            const read = await ledger.original(hashText(text)).catch((error: unknown) => error);
            expect(read === text || isStorageError(read)).toBe(true);
          }
        }),
      );
      await writeFile(path, whole);
    }
  }));

test('an original that was damaged after the ledger was opened is not returned', () =>
  inTemporaryFolder(async (root) => {
    const ledger = await openTestLedger(root);
    await ledger.append(makeCondensedEntry('c1', ['secret', 'plan']), makeOriginals(['secret', 'plan']));
    const { originals } = await readLedgerFiles(root);
    const content = await readFile(originals, 'utf8');
    await writeFile(originals, content.replace('secret', 'public'));
    await expect(ledger.original(hashText('secret'))).rejects.toMatchObject({
      kind: 'damaged-original',
      path: originals,
    });
    expect(await ledger.original(hashText('plan'))).toBe('plan');
    await writeFile(originals, content.replace('"secret"', '"secret '));
    await expect(ledger.original(hashText('secret'))).rejects.toMatchObject({ kind: 'damaged-original' });
    await writeFile(originals, content.replace('"text":"secret"', '"test":"secret"'));
    await expect(ledger.original(hashText('secret'))).rejects.toMatchObject({ kind: 'damaged-original' });
    await rm(originals);
    await expect(ledger.original(hashText('secret'))).rejects.toMatchObject({ kind: 'missing-original' });
    await expect(ledger.original(hashText('never kept'))).rejects.toMatchObject({ kind: 'missing-original' });
    expect(await ledger.originals([])).toEqual(new Map());
  }));

test('a damaged original is rewritten when it is stored again', () =>
  inTemporaryFolder(async (root) => {
    await (await openTestLedger(root)).append(makeCondensedEntry('c1', ['one']), makeOriginals(['one']));
    const { originals } = await readLedgerFiles(root);
    await writeFile(originals, (await readFile(originals, 'utf8')).replace('one', 'two'));
    const ledger = await openTestLedger(root);
    expect(ledger.problems).toMatchObject([{ file: originals, line: 1 }]);
    await ledger.append(makeCondensedEntry('c2', ['one']), makeOriginals(['one']));
    expect(await ledger.original(hashText('one'))).toBe('one');
  }));

test.each(['', '{', 'null', '3', '{"version":1}', '{"version":1,"id":"of another"}'])(
  'a ledger with a damaged about.json (%s) loses nothing',
  (content) =>
    inTemporaryFolder(async (root) => {
      await (await openTestLedger(root)).append(makeCondensedEntry('c1', ['one']), makeOriginals(['one']));
      const { about } = await readLedgerFiles(root);
      await writeFile(about, content);
      expect(await listLedgers(root)).toEqual([]);
      const ledger = await openTestLedger(root);
      expect(ledger.ledger.condensations).toHaveLength(1);
      await ledger.append(makeUndoneEntry('c1'), NO_ORIGINALS);
      expect(await listLedgers(root)).toMatchObject([{ about: { id: TEST_CONVERSATION_ID } }]);
    }),
);

test("a newer version's ledger is left unchanged", () =>
  inTemporaryFolder(async (root) => {
    const ledger = await openTestLedger(root);
    await ledger.append(makeUndoneEntry('c1'), NO_ORIGINALS);
    await writeFile((await readLedgerFiles(root)).about, JSON.stringify({ version: 2, id: TEST_CONVERSATION_ID }));
    await expect(openTestLedger(root)).rejects.toMatchObject({ kind: 'newer-version' });
    await expect(ledger.append(makeUndoneEntry('c1'), NO_ORIGINALS)).rejects.toMatchObject({
      kind: 'newer-version',
    });
    expect(await listLedgers(root)).toEqual([]);
  }));

test.each([
  ['an entry', '{"type":"unheard-of","condensation":"c1"}'],
  ['an edit', '{"type":"condensed","condensation":{"id":"c2","edits":[{"id":"e","kind":"moved","before":"h"}]}}'],
])('%s written by a newer version is reported, and nothing is appended after it', (_, line) =>
  inTemporaryFolder(async (root) => {
    await (await openTestLedger(root)).append(makeCondensedEntry('c1', ['one']), makeOriginals(['one']));
    const { about, entries, originals } = await readLedgerFiles(root);
    const journal = new Journal(nodeFiles, entries, { take: () => undefined, reset: () => undefined });
    await journal.readNewRecords();
    await journal.appendValues([line]);
    const texts = () => Promise.all([about, entries, originals].map((path) => readFile(path, 'utf8')));
    const before = await texts();
    const ledger = await openTestLedger(root);
    expect(ledger.ledger).toEqual(buildLedger([makeCondensedEntry('c1', ['one'])]));
    expect(ledger.problems).toMatchObject([
      { file: entries, line: 2, message: expect.stringContaining('newer version') },
    ]);
    await expect(ledger.append(makeCondensedEntry('c3', ['two']), makeOriginals(['two']))).rejects.toMatchObject({
      kind: 'newer-version',
      message: expect.stringMatching(/newer version.*was not added.*Update/s),
    });
    expect(await texts()).toEqual(before);
    expect(await ledger.original(hashText('one'))).toBe('one');
  }),
);

test('a ledger keeps unknown fields of entries, edits and about.json', () =>
  inTemporaryFolder(async (root) => {
    await (await openTestLedger(root)).append(makeCondensedEntry('c1', ['one']), makeOriginals(['one']));
    const { about, entries } = await readLedgerFiles(root);
    const stored = JSON.parse(await readFile(about, 'utf8')) as object;
    await writeFile(about, JSON.stringify({ ...stored, colour: 'blue' }));
    const journal = new Journal(nodeFiles, entries, { take: () => undefined, reset: () => undefined });
    await journal.readNewRecords();
    const entry = JSON.stringify({ ...makeCondensedEntry('c2', ['one']), by: 'me' });
    const unknown = '"operation":"unheard-of","mood":"good"';
    await journal.appendValues([entry.replace(/"operation":"\w+"/, unknown)]);
    const before = await readFile(entries, 'utf8');
    expect(before).toContain(unknown);
    const ledger = await openLedger(root, { id: TEST_CONVERSATION_ID, title: 'Another title' });
    expect(ledger.ledger.condensations).toHaveLength(2);
    await ledger.append(makeUndoneEntry('c2'), NO_ORIGINALS);
    expect((await readFile(entries, 'utf8')).startsWith(before)).toBe(true);
    expect(JSON.parse(await readFile(about, 'utf8'))).toMatchObject({ colour: 'blue', title: 'Another title' });
  }));

test('lines of a ledger with a kind of entry that this version does not know are skipped and reported', () =>
  inTemporaryFolder(async (root) => {
    await (await openTestLedger(root)).append(makeCondensedEntry('c1', ['one']), makeOriginals(['one']));
    const { entries, originals } = await readLedgerFiles(root);
    const lines = [
      '{"type":"condensed"}',
      '{"type":"condensed","condensation":null}',
      '{"type":"condensed","condensation":{"id":"c9"}}',
      '{"type":"undone"}',
      '{"type":"excluded","condensation":"c1"}',
      'null',
      'no JSON',
    ];
    for (const path of [entries, originals]) {
      const journal = new Journal(nodeFiles, path, { take: () => undefined, reset: () => undefined });
      await journal.readNewRecords();
      await journal.appendValues(lines);
    }
    const ledger = await openTestLedger(root);
    await ledger.append(makeUndoneEntry('c1'), NO_ORIGINALS);
    const again = await openTestLedger(root);
    expect(again.ledger).toEqual(buildLedger([makeCondensedEntry('c1', ['one']), makeUndoneEntry('c1')]));
    expect(again.problems.filter(({ file }) => file === entries).map(({ line }) => line)).toEqual([
      2, 3, 4, 5, 6, 7, 8,
    ]);
    expect(again.problems.filter(({ file }) => file === originals)).toHaveLength(lines.length);
    expect(again.problems.every(({ message }) => message.includes('this line contains no'))).toBe(true);
  }));
