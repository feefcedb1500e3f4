import fc from 'fast-check';
import { mkdir, readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { expect, test } from 'vitest';
import { inTemporaryFolder } from '../../test/support/inTemporaryFolder';
import { buildLedger, type LedgerEntry } from '../core/condense/ledger/ledger';
import { hashText } from '../core/hash';
import { nodeFiles } from './nodeFiles';
import { findLedgerByView, listLedgers, openLedger, collectOriginals, removeLedger, StorageError } from './ledgerStore';
import { FOLDER_MARKER_FILE_NAME } from './ownFolder';
import { makeCondensedEntry, makeExcludedEntry, makeOriginals, createSteppedFiles, makeUndoneEntry } from './testing';
import { TEST_CONVERSATION_ID, NO_ORIGINALS, openTestLedger, readLedgerFiles } from './testingLedger';

/** Texts of any UTF-16 units, including lone surrogates. */
const text = fc
  .array(fc.oneof(fc.integer({ min: 0, max: 0xffff }), fc.constantFrom(0xd83d, 0xde00, 10, 0x2028)))
  .map((units) => String.fromCharCode(...units));

const id = fc.constantFrom('c1', 'c2', 'c3');

const step = fc.oneof(
  fc
    .tuple(id, fc.array(text, { maxLength: 4 }))
    .map(([name, texts]) => ({ entry: makeCondensedEntry(name, texts), texts })),
  id.map((name) => ({ entry: makeUndoneEntry(name), texts: [] })),
  id.map((name): { entry: LedgerEntry; texts: string[] } => ({
    entry: { ...makeUndoneEntry(name), type: 'redone' } as LedgerEntry,
    texts: [],
  })),
  fc.tuple(id, fc.nat(3)).map(([name, index]) => ({ entry: makeExcludedEntry(name, index), texts: [] })),
  fc.tuple(id, fc.nat(3)).map(([name, index]) => ({
    entry: { ...makeExcludedEntry(name, index), type: 'included' } as LedgerEntry,
    texts: [],
  })),
);

test('a ledger without entries is empty, and opening it writes nothing', () =>
  inTemporaryFolder(async (root) => {
    const ledger = await openTestLedger(root);
    expect(ledger.ledger).toEqual(buildLedger([]));
    expect(ledger.problems).toEqual([]);
    await ledger.refresh();
    expect(await readdir(root)).toEqual([]);
  }));

test('any entries of a ledger give the same result from disk as in memory, and every original returns unchanged', () =>
  fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 6 }), (steps) =>
      inTemporaryFolder(async (root) => {
        const writer = await openTestLedger(root);
        for (const { entry, texts } of steps) await writer.append(entry, makeOriginals(texts));
        const expected = buildLedger(steps.map(({ entry }) => entry));
        const reader = await openTestLedger(root);
        expect(writer.ledger).toEqual(expected);
        expect(reader.ledger).toEqual(expected);
        expect(reader.problems).toEqual([]);
        const texts = steps.flatMap((one) => one.texts);
        expect(await reader.originals(texts.map(hashText))).toEqual(makeOriginals(texts));
      }),
    ),
  ));

test('originals are written to disk before the ledger entry that needs them', () =>
  inTemporaryFolder(async (root) => {
    const steps: string[] = [];
    const files = createSteppedFiles(({ operation, path }) => {
      if (!basename(path).startsWith('lock'))
        steps.push(
          `${operation} ${basename(path)
            .replace(/^[0-9a-f]{32}$/, 'folder')
            .replace(/^\..*\.tmp$/, 'temporary')}`,
        );
    });
    const store = join(root, 'store');
    const ledger = await openLedger(store, { id: TEST_CONVERSATION_ID }, { files });
    await ledger.append(makeCondensedEntry('c1', ['one']), makeOriginals(['one']));
    const journal = (name: string): string[] => [`open ${name}`, `write ${name}`, `write ${name}`, `sync ${name}`];
    const entry = [...journal('originals.jsonl'), ...journal('ledger.jsonl')];
    expect(steps).toEqual([
      'makeFolder store',
      'removeFile temporary',
      ...journal('temporary'),
      'rename temporary',
      'syncFolder store',
      `syncFolder ${basename(root)}`,
      'makeFolder folder',
      'syncFolder store',
      'removeFile about.json.new',
      ...journal('about.json.new'),
      'rename about.json.new',
      'syncFolder folder',
      ...entry.toSpliced(8, 0, 'syncFolder folder').toSpliced(4, 0, 'syncFolder folder'),
    ]);
    steps.length = 0;
    await ledger.append(makeCondensedEntry('c2', ['two']), makeOriginals(['two']));
    expect(steps).toEqual(entry);
  }));

test('an original is stored only once in a ledger', () =>
  inTemporaryFolder(async (root) => {
    const ledger = await openTestLedger(root);
    for (const name of ['c1', 'c2']) await ledger.append(makeCondensedEntry(name, ['same']), makeOriginals(['same']));
    await (await openTestLedger(root)).append(makeCondensedEntry('c3', ['same']), NO_ORIGINALS);
    expect((await readFile((await readLedgerFiles(root)).originals, 'utf8')).split('\n')).toHaveLength(2);
  }));

test('a ledger entry is rejected as a whole if an original is missing or has another text', () =>
  inTemporaryFolder(async (root) => {
    const ledger = await openTestLedger(root);
    await expect(ledger.append(makeCondensedEntry('c1', ['one', 'two']), makeOriginals(['one']))).rejects.toMatchObject(
      {
        kind: 'missing-original',
      },
    );
    const wrong = new Map([...makeOriginals(['one']), [hashText('two'), 'not two']]);
    await expect(ledger.append(makeCondensedEntry('c1', ['one', 'two']), wrong)).rejects.toMatchObject({
      kind: 'wrong-original',
    });
    const again = await openTestLedger(root);
    expect(again.ledger.condensations).toEqual([]);
    await expect(again.original(hashText('one'))).rejects.toThrow(StorageError);
  }));

test('entries appended to one ledger concurrently are all stored', () =>
  inTemporaryFolder(async (root) => {
    const ledgers = await Promise.all([openTestLedger(root), openTestLedger(root), openTestLedger(root)]);
    await Promise.all(
      Array.from({ length: 30 }, (_, index) =>
        ledgers[index % 3]!.append(makeCondensedEntry(`c${index}`, [`t${index}`]), makeOriginals([`t${index}`])),
      ),
    );
    for (const ledger of ledgers) await ledger.refresh();
    const again = await openTestLedger(root);
    expect(new Set(again.ledger.condensations.map((one) => one.id)).size).toBe(30);
    for (const ledger of ledgers) expect(ledger.ledger).toEqual(again.ledger);
    expect(again.problems).toEqual([]);
  }));

test("a ledger's about.json contains exactly what is known about the conversation", () =>
  inTemporaryFolder(async (root) => {
    const conversation = {
      id: TEST_CONVERSATION_ID,
      title: 'A title',
      format: 'roo',
      path: '/some/file',
      messages: ['private'],
    };
    await (await openLedger(root, conversation)).append(makeUndoneEntry('c1'), NO_ORIGINALS);
    const ledger = await openTestLedger(root);
    await ledger.append(makeUndoneEntry('c2'), NO_ORIGINALS);
    const { messages, ...about } = conversation;
    expect(messages).toEqual(['private']);
    expect(ledger.about).toEqual(about);
    expect(JSON.parse(await readFile((await readLedgerFiles(root)).about, 'utf8'))).toEqual({ version: 1, ...about });
    await (
      await openLedger(root, { id: TEST_CONVERSATION_ID, title: 'Another' })
    ).append(makeUndoneEntry('c3'), NO_ORIGINALS);
    expect((await openTestLedger(root)).about).toEqual({ ...about, title: 'Another' });
  }));

test('ledgers are listed by last use, and other files in the store are ignored', () =>
  inTemporaryFolder(async (root) => {
    for (const [name, time] of [
      ['old', 1000],
      ['new', 3000],
      ['middle', 2000],
    ] as const) {
      const ledger = await openLedger(root, { id: name });
      await ledger.append(makeCondensedEntry('c1', ['one']), makeOriginals(['one']));
      for (const file of await readdir(ledger.folder)) await nodeFiles.touch(join(ledger.folder, file), time);
    }
    await mkdir(join(root, 'something else'));
    await mkdir(join(root, '0'.repeat(32)));
    const listed = await listLedgers(root);
    expect(listed.map(({ about, lastUsed }) => [about.id, lastUsed])).toEqual([
      ['new', 3000],
      ['middle', 2000],
      ['old', 1000],
    ]);
    expect(listed[0]?.bytes).toBeGreaterThan(500);
    expect(await listLedgers(join(root, 'nowhere'))).toEqual([]);
    expect((await openLedger(root, { id: 'old' })).about).toEqual({ id: 'old' });
    expect((await listLedgers(root))[0]?.about.id).toBe('old');
  }));

test('a ledger is found by a condensed conversation that was created with it', () =>
  inTemporaryFolder(async (root) => {
    for (const name of ['a', 'b']) {
      const ledger = await openLedger(root, { id: name });
      await ledger.append(makeCondensedEntry(`1 of ${name}`, ['one']), makeOriginals(['one']));
      await ledger.append(makeCondensedEntry(`2 of ${name}`, ['one']), NO_ORIGINALS);
    }
    for (const name of ['a', 'b']) {
      const found = await findLedgerByView(root, hashText(`view of 1 of ${name}`));
      expect(found?.about.id).toBe(name);
      expect(found?.ledger.condensations).toHaveLength(2);
    }
    expect(await findLedgerByView(root, hashText('another'))).toBeUndefined();
    expect(await findLedgerByView(root, hashText('one'))).toBeUndefined();
    expect(await findLedgerByView(join(root, 'nowhere'), hashText('another'))).toBeUndefined();
  }));

test('a removed ledger is completely deleted, which other users of it notice', () =>
  inTemporaryFolder(async (root) => {
    const ledger = await openTestLedger(root);
    await ledger.append(makeCondensedEntry('c1', ['one']), makeOriginals(['one']));
    expect(await removeLedger(root, 'another')).toBe(false);
    expect(await removeLedger(root, TEST_CONVERSATION_ID)).toBe(true);
    expect(await removeLedger(root, TEST_CONVERSATION_ID)).toBe(false);
    expect(await readdir(root)).toEqual([FOLDER_MARKER_FILE_NAME]);
    await expect(ledger.append(makeCondensedEntry('c2', ['one']), NO_ORIGINALS)).rejects.toMatchObject({
      kind: 'missing-original',
    });
    expect(ledger.ledger.condensations).toEqual([]);
    await ledger.append(makeCondensedEntry('c2', ['one']), makeOriginals(['one']));
    expect((await openTestLedger(root)).ledger.condensations).toHaveLength(1);
  }));

test("the originals of a ledger's edits are the strings at their places, once each", () => {
  const messages = [
    { role: 'user', content: 'same' },
    { role: 'user', content: [{ type: 'text', text: 'in a block' }] },
  ] as const;
  const entry = makeCondensedEntry('c1', ['same', 'same', 'x']);
  const [first, second, third] = entry.type === 'condensed' ? entry.condensation.edits : [];
  const edits = [
    first!,
    { ...second!, place: { message: 0, path: ['content'] } },
    { ...third!, place: { message: 1, path: ['content', 0, 'text'] }, before: hashText('in a block') },
    { ...third!, place: { message: 7, path: ['content'] } },
  ];
  expect(collectOriginals(messages, edits)).toEqual(makeOriginals(['same', 'in a block']));
});
