import fc from 'fast-check';
import { cp, mkdir, readdir, readFile, rename, rm, stat, symlink, truncate, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { expect, test } from 'vitest';
import { inTemporaryFolder } from '../../test/support/inTemporaryFolder';
import { foldEntries, type LedgerEntry } from '../core/condense/ledger';
import { hashText } from '../core/hash';
import { Journal } from './journal';
import { nodeFiles } from './nodeFiles';
import {
  findByView,
  isStorageError,
  listLedgers,
  openLedger,
  originalsOf,
  removeLedger,
  StorageError,
} from './ledgerStore';
import { condensed, excluded, originalsIn, QUICK_LOCK, steppedFiles, systemError, undone } from './testing';

const ID = 'a conversation';
const NONE = new Map();
const open = (root: string) => openLedger(root, { id: ID });
const filesOf = async (root: string) => {
  const { folder } = await open(root);
  return {
    folder,
    entries: join(folder, 'ledger.jsonl'),
    originals: join(folder, 'originals.jsonl'),
    about: join(folder, 'about.json'),
  };
};

/** UTF-16 units of any kind: lone surrogates too. */
const text = fc
  .array(fc.oneof(fc.integer({ min: 0, max: 0xffff }), fc.constantFrom(0xd83d, 0xde00, 10, 0x2028)))
  .map((units) => String.fromCharCode(...units));
const id = fc.constantFrom('c1', 'c2', 'c3');
const step = fc.oneof(
  fc.tuple(id, fc.array(text, { maxLength: 4 })).map(([name, texts]) => ({ entry: condensed(name, texts), texts })),
  id.map((name) => ({ entry: undone(name), texts: [] })),
  id.map((name): { entry: LedgerEntry; texts: string[] } => ({
    entry: { ...undone(name), type: 'redone' } as LedgerEntry,
    texts: [],
  })),
  fc.tuple(id, fc.nat(3)).map(([name, index]) => ({ entry: excluded(name, index), texts: [] })),
  fc
    .tuple(id, fc.nat(3))
    .map(([name, index]) => ({ entry: { ...excluded(name, index), type: 'included' } as LedgerEntry, texts: [] })),
);

test('a ledger that has no entry yet is empty, and opening it writes nothing', () =>
  inTemporaryFolder(async (root) => {
    const ledger = await open(root);
    expect(ledger.ledger).toEqual(foldEntries([]));
    expect(ledger.problems).toEqual([]);
    await ledger.refresh();
    expect(await readdir(root)).toEqual([]);
  }));

test('any entries, folded from the disk, are as folded in memory, and every original comes back as it was', () =>
  fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 6 }), (steps) =>
      inTemporaryFolder(async (root) => {
        const writer = await open(root);
        for (const { entry, texts } of steps) await writer.append(entry, originalsIn(texts));
        const expected = foldEntries(steps.map(({ entry }) => entry));
        const reader = await open(root);
        expect(writer.ledger).toEqual(expected);
        expect(reader.ledger).toEqual(expected);
        expect(reader.problems).toEqual([]);
        const texts = steps.flatMap((one) => one.texts);
        expect(await reader.originals(texts.map(hashText))).toEqual(originalsIn(texts));
      }),
    ),
    { numRuns: 40 },
  ));

test('cut off anywhere, the state is one that was, every original of it is there, and it goes on', () =>
  inTemporaryFolder(async (root) => {
    const source = join(root, 'source');
    const steps = [
      { entry: condensed('c1', ['one', '\ud83d']), texts: ['one', '\ud83d'] },
      { entry: condensed('c2', ['two']), texts: ['two'] },
      { entry: undone('c2'), texts: [] },
    ];
    const states = [foldEntries([])];
    const writer = await open(source);
    for (const { entry, texts } of steps) {
      await writer.append(entry, originalsIn(texts));
      states.push(writer.ledger);
    }
    const { size } = await stat(join(writer.folder, 'ledger.jsonl'));
    await fc.assert(
      fc.asyncProperty(fc.nat(size), async (length) => {
        const copy = join(root, 'copy');
        await cp(source, copy, { recursive: true });
        await truncate((await filesOf(copy)).entries, length);
        const ledger = await open(copy);
        expect(states).toContainEqual(ledger.ledger);
        await ledger.append(condensed('c3', ['three']), originalsIn(['three']));
        const again = await open(copy);
        expect(again.problems).toEqual([]);
        expect(again.ledger).toEqual(ledger.ledger);
        const edits = again.ledger.condensations.flatMap((one) => one.edits);
        expect((await again.originals(edits.map(({ before }) => before))).size).toBe(edits.length);
        await rm(copy, { recursive: true });
      }),
      { numRuns: 60 },
    );
  }));

test('a changed byte in any file of entries or originals is told, and no other text is ever given', () =>
  inTemporaryFolder(async (root) => {
    const texts = ['first original', 'zweites Original €'];
    await (await open(root)).append(condensed('c1', texts), originalsIn(texts));
    const { entries, originals } = await filesOf(root);
    for (const path of [entries, originals]) {
      const whole = await readFile(path);
      await fc.assert(
        fc.asyncProperty(fc.nat(whole.length - 1), fc.integer({ min: 1, max: 255 }), async (at, change) => {
          const damaged = Buffer.from(whole);
          damaged[at] = (damaged[at] ?? 0) ^ change;
          await writeFile(path, damaged);
          const ledger = await open(root);
          expect(ledger.problems.length).toBeGreaterThan(0);
          for (const text of texts) {
            const read = await ledger.original(hashText(text)).catch((error: unknown) => error);
            expect(read === text || isStorageError(read)).toBe(true);
          }
        }),
        { numRuns: 60 },
      );
      await writeFile(path, whole);
    }
  }));

test('an original that is damaged after the ledger was opened is not given', () =>
  inTemporaryFolder(async (root) => {
    const ledger = await open(root);
    await ledger.append(condensed('c1', ['secret', 'plan']), originalsIn(['secret', 'plan']));
    const { originals } = await filesOf(root);
    const content = await readFile(originals, 'utf8');
    await writeFile(originals, content.replace('secret', 'public'));
    await expect(ledger.original(hashText('secret'))).rejects.toMatchObject({
      trouble: 'damaged-original',
      path: originals,
    });
    expect(await ledger.original(hashText('plan'))).toBe('plan');
    await writeFile(originals, content.replace('"secret"', '"secret '));
    await expect(ledger.original(hashText('secret'))).rejects.toMatchObject({ trouble: 'damaged-original' });
    await writeFile(originals, content.replace('"text":"secret"', '"test":"secret"'));
    await expect(ledger.original(hashText('secret'))).rejects.toMatchObject({ trouble: 'damaged-original' });
    await rm(originals);
    await expect(ledger.original(hashText('secret'))).rejects.toMatchObject({ trouble: 'missing-original' });
    await expect(ledger.original(hashText('never kept'))).rejects.toMatchObject({ trouble: 'missing-original' });
    expect(await ledger.originals([])).toEqual(new Map());
  }));

test('a damaged original is written again once it is given again', () =>
  inTemporaryFolder(async (root) => {
    await (await open(root)).append(condensed('c1', ['one']), originalsIn(['one']));
    const { originals } = await filesOf(root);
    await writeFile(originals, (await readFile(originals, 'utf8')).replace('one', 'two'));
    const ledger = await open(root);
    expect(ledger.problems).toMatchObject([{ file: originals, line: 1 }]);
    await ledger.append(condensed('c2', ['one']), originalsIn(['one']));
    expect(await ledger.original(hashText('one'))).toBe('one');
  }));

test('what an entry needs is on the disk before the entry is written', () =>
  inTemporaryFolder(async (root) => {
    const steps: string[] = [];
    const files = steppedFiles(({ operation, path }) => {
      if (!basename(path).startsWith('lock'))
        steps.push(`${operation} ${basename(path).replace(/^[0-9a-f]{32}$/, 'folder')}`);
    });
    const store = join(root, 'store');
    const ledger = await openLedger(store, { id: ID }, { files });
    await ledger.append(condensed('c1', ['one']), originalsIn(['one']));
    const journal = (name: string): string[] => [`open ${name}`, `write ${name}`, `write ${name}`, `sync ${name}`];
    const entry = [...journal('originals.jsonl'), ...journal('ledger.jsonl')];
    expect(steps).toEqual([
      'makeFolder folder',
      'syncFolder store',
      `syncFolder ${basename(root)}`,
      'removeFile about.json.new',
      ...journal('about.json.new'),
      'rename about.json.new',
      'syncFolder folder',
      ...entry.toSpliced(8, 0, 'syncFolder folder').toSpliced(4, 0, 'syncFolder folder'),
    ]);
    steps.length = 0;
    await ledger.append(condensed('c2', ['two']), originalsIn(['two']));
    expect(steps).toEqual(entry);
  }));

test('an original is kept once', () =>
  inTemporaryFolder(async (root) => {
    const ledger = await open(root);
    for (const name of ['c1', 'c2']) await ledger.append(condensed(name, ['same']), originalsIn(['same']));
    await (await open(root)).append(condensed('c3', ['same']), NONE);
    expect((await readFile((await filesOf(root)).originals, 'utf8')).split('\n')).toHaveLength(2);
  }));

test('an entry whose original is neither given nor kept, or is another text, is refused whole', () =>
  inTemporaryFolder(async (root) => {
    const ledger = await open(root);
    await expect(ledger.append(condensed('c1', ['one', 'two']), originalsIn(['one']))).rejects.toMatchObject({
      trouble: 'missing-original',
    });
    const wrong = new Map([...originalsIn(['one']), [hashText('two'), 'not two']]);
    await expect(ledger.append(condensed('c1', ['one', 'two']), wrong)).rejects.toMatchObject({
      trouble: 'wrong-original',
    });
    const again = await open(root);
    expect(again.ledger.condensations).toEqual([]);
    await expect(again.original(hashText('one'))).rejects.toThrow(StorageError);
  }));

test('appends to one ledger from several places are all there', () =>
  inTemporaryFolder(async (root) => {
    const ledgers = await Promise.all([open(root), open(root), open(root)]);
    await Promise.all(
      Array.from({ length: 30 }, (_, index) =>
        ledgers[index % 3]!.append(condensed(`c${index}`, [`t${index}`]), originalsIn([`t${index}`])),
      ),
    );
    for (const ledger of ledgers) await ledger.refresh();
    const again = await open(root);
    expect(new Set(again.ledger.condensations.map((one) => one.id)).size).toBe(30);
    for (const ledger of ledgers) expect(ledger.ledger).toEqual(again.ledger);
    expect(again.problems).toEqual([]);
  }));

test.each(['ENOSPC', 'EACCES', 'EROFS'])('%s at any step: the old state or the new one, told in words', (code) =>
  inTemporaryFolder(async (parent) => {
    const old = condensed('c1', ['one']);
    const next = condensed('c2', ['two']);
    for (const lasting of [false, true]) {
      for (const existing of [false, true]) {
        for (let failing = 0; ; failing += 1) {
          const root = join(parent, `${lasting}-${existing}-${failing}`);
          if (existing) await (await open(root)).append(old, originalsIn(['one']));
          let count = 0;
          const broken = { yet: false };
          const files = steppedFiles(() => {
            if (count++ === failing || (lasting && broken.yet)) {
              broken.yet = true;
              throw systemError(code);
            }
          });
          const ledger = await openLedger(root, { id: ID }, { files, lock: QUICK_LOCK });
          const before = ledger.ledger;
          const error = await ledger.append(next, originalsIn(['two'])).catch((reason: unknown) => reason);
          const again = await openLedger(root, { id: ID }, { lock: QUICK_LOCK });
          expect(again.problems).toEqual([]);
          if (error === undefined) {
            expect(again.ledger).toEqual(foldEntries(existing ? [old, next] : [next]));
          } else {
            expect(isStorageError(error) && error.message).toMatch(/not added to the ledger/);
            expect(ledger.ledger).toEqual(before);
            // Where even taking it back fails, the whole entry may stand there; never half of it.
            const states = lasting ? [before, foldEntries(existing ? [old, next] : [next])] : [before];
            expect(states).toContainEqual(again.ledger);
          }
          await rm(join(again.folder, 'lock'), { force: true });
          await again.append(condensed('c3', ['three']), originalsIn(['three']));
          const last = await open(root);
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
])('%s is told as %s, with what was not done and what to do', (code, trouble) =>
  inTemporaryFolder(async (root) => {
    const files = steppedFiles(({ operation }) => {
      if (operation === 'sync') throw systemError(code);
    });
    const ledger = await openLedger(root, { id: ID }, { files });
    const error = await ledger
      .append(condensed('c1', ['one']), originalsIn(['one']))
      .catch((reason: unknown) => reason);
    expect(error).toMatchObject({
      trouble,
      path: ledger.folder,
      cause: { code },
      data: { advice: expect.stringMatching(/\.$/) },
    });
    expect((error as Error).message).toContain('The entry was not added to the ledger; nothing else has changed.');
  }),
);

test('what is thrown that is no error is told too', () =>
  inTemporaryFolder(async (root) => {
    const thrown: unknown = 'odd';
    // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors
    const files = { ...nodeFiles, open: () => Promise.reject(thrown) };
    await expect(openLedger(root, { id: ID }, { files })).rejects.toMatchObject({
      trouble: 'io',
      message: expect.stringContaining('odd'),
    });
  }));

test('a root that is a file is one clear error', () =>
  inTemporaryFolder(async (folder) => {
    const root = join(folder, 'file');
    await writeFile(root, '');
    await expect(open(root)).rejects.toMatchObject({ trouble: 'io', message: expect.stringContaining('ENOTDIR') });
  }));

test.skipIf(process.platform === 'win32')('only the user can read what is kept', () =>
  inTemporaryFolder(async (folder) => {
    const root = join(folder, 'new', 'root');
    await (await open(root)).append(condensed('c1', ['one']), originalsIn(['one']));
    const files = await filesOf(root);
    const mode = async (path: string) => (await stat(path)).mode & 0o777;
    expect(await mode(root)).toBe(0o700);
    expect(await mode(files.folder)).toBe(0o700);
    for (const name of await readdir(files.folder)) expect(await mode(join(files.folder, name))).toBe(0o600);
  }),
);

test.skipIf(process.platform === 'win32')('links that lead out of the root are refused', () =>
  inTemporaryFolder(async (folder) => {
    const root = join(folder, 'root');
    const outside = join(folder, 'outside');
    await mkdir(outside);
    const ledger = await open(root);
    await ledger.append(condensed('c1', ['one']), originalsIn(['one']));
    const refused = { trouble: 'outside-root' };
    for (const name of ['ledger.jsonl', 'originals.jsonl', 'about.json']) {
      const path = join(ledger.folder, name);
      await rename(path, join(outside, name));
      await symlink(join(outside, name), path);
      await expect(ledger.append(undone('c1'), NONE)).rejects.toMatchObject(refused);
      await rm(path);
      await symlink(join(outside, 'nowhere'), path);
      await expect(ledger.append(undone('c1'), NONE)).rejects.toMatchObject(refused);
      await rm(path);
      await rename(join(outside, name), path);
    }
    expect(await readdir(outside)).toEqual([]);
    await rename(ledger.folder, join(outside, 'ledger'));
    await symlink(join(outside, 'ledger'), ledger.folder);
    await expect(ledger.append(undone('c1'), NONE)).rejects.toMatchObject(refused);
    await expect(open(root)).rejects.toMatchObject(refused);
    expect(await removeLedger(root, ID)).toBe(false);
    expect(await listLedgers(root)).toEqual([]);
  }),
);

test.skipIf(process.platform === 'win32')('a link within the root, and a root that is a link, are fine', () =>
  inTemporaryFolder(async (folder) => {
    const link = join(folder, 'link');
    await mkdir(join(folder, 'root'));
    await symlink(join(folder, 'root'), link);
    const ledger = await open(link);
    await ledger.append(condensed('c1', []), NONE);
    await rename(ledger.folder, join(link, 'moved'));
    await symlink(join(link, 'moved'), ledger.folder);
    await ledger.append(condensed('c2', []), NONE);
    expect((await open(link)).ledger.condensations).toHaveLength(2);
  }),
);

test('what is known of the conversation is kept, and only that', () =>
  inTemporaryFolder(async (root) => {
    const conversation = { id: ID, title: 'A title', format: 'roo', path: '/some/file', messages: ['private'] };
    await (await openLedger(root, conversation)).append(undone('c1'), NONE);
    const ledger = await open(root);
    await ledger.append(undone('c2'), NONE);
    const { messages, ...about } = conversation;
    expect(messages).toEqual(['private']);
    expect(ledger.about).toEqual(about);
    expect(JSON.parse(await readFile((await filesOf(root)).about, 'utf8'))).toEqual({ version: 1, ...about });
    await (await openLedger(root, { id: ID, title: 'Another' })).append(undone('c3'), NONE);
    expect((await open(root)).about).toEqual({ ...about, title: 'Another' });
  }));

test.each(['', '{', 'null', '3', '{"version":1}', '{"version":1,"id":"of another"}'])(
  'a damaged about.json (%s) costs nothing',
  (content) =>
    inTemporaryFolder(async (root) => {
      await (await open(root)).append(condensed('c1', ['one']), originalsIn(['one']));
      const { about } = await filesOf(root);
      await writeFile(about, content);
      expect(await listLedgers(root)).toEqual([]);
      const ledger = await open(root);
      expect(ledger.ledger.condensations).toHaveLength(1);
      await ledger.append(undone('c1'), NONE);
      expect(await listLedgers(root)).toMatchObject([{ about: { id: ID } }]);
    }),
);

test("a newer version's ledger is left alone", () =>
  inTemporaryFolder(async (root) => {
    const ledger = await open(root);
    await ledger.append(undone('c1'), NONE);
    await writeFile((await filesOf(root)).about, JSON.stringify({ version: 2, id: ID }));
    await expect(open(root)).rejects.toMatchObject({ trouble: 'newer-version' });
    await expect(ledger.append(undone('c1'), NONE)).rejects.toMatchObject({ trouble: 'newer-version' });
    expect(await listLedgers(root)).toEqual([]);
  }));

test('lines that hold no entry that this version knows are passed over and told', () =>
  inTemporaryFolder(async (root) => {
    await (await open(root)).append(condensed('c1', ['one']), originalsIn(['one']));
    const { entries, originals } = await filesOf(root);
    const lines = [
      '{"type":"unheard-of"}',
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
      await journal.refresh();
      await journal.append(lines);
    }
    const ledger = await open(root);
    await ledger.append(undone('c1'), NONE);
    const again = await open(root);
    expect(again.ledger).toEqual(foldEntries([condensed('c1', ['one']), undone('c1')]));
    expect(again.problems.filter(({ file }) => file === entries).map(({ line }) => line)).toEqual([
      2, 3, 4, 5, 6, 7, 8, 9,
    ]);
    expect(again.problems.filter(({ file }) => file === originals)).toHaveLength(lines.length);
    expect(again.problems.every(({ words }) => words.includes('this line holds no'))).toBe(true);
  }));

test('ledgers are listed, last used first; what else lies there is not', () =>
  inTemporaryFolder(async (root) => {
    for (const [name, time] of [
      ['old', 1000],
      ['new', 3000],
      ['middle', 2000],
    ] as const) {
      const ledger = await openLedger(root, { id: name });
      await ledger.append(condensed('c1', ['one']), originalsIn(['one']));
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

test('a ledger is found by a view that was made with it', () =>
  inTemporaryFolder(async (root) => {
    for (const name of ['a', 'b']) {
      const ledger = await openLedger(root, { id: name });
      await ledger.append(condensed(`1 of ${name}`, ['one']), originalsIn(['one']));
      await ledger.append(condensed(`2 of ${name}`, ['one']), NONE);
    }
    for (const name of ['a', 'b']) {
      const found = await findByView(root, hashText(`view of 1 of ${name}`));
      expect(found?.about.id).toBe(name);
      expect(found?.ledger.condensations).toHaveLength(2);
    }
    expect(await findByView(root, hashText('another'))).toBeUndefined();
    expect(await findByView(root, hashText('one'))).toBeUndefined();
    expect(await findByView(join(root, 'nowhere'), hashText('another'))).toBeUndefined();
  }));

test('a removed ledger is gone whole; who has it open notices', () =>
  inTemporaryFolder(async (root) => {
    const ledger = await open(root);
    await ledger.append(condensed('c1', ['one']), originalsIn(['one']));
    expect(await removeLedger(root, 'another')).toBe(false);
    expect(await removeLedger(root, ID)).toBe(true);
    expect(await removeLedger(root, ID)).toBe(false);
    expect(await readdir(root)).toEqual([]);
    await expect(ledger.append(condensed('c2', ['one']), NONE)).rejects.toMatchObject({ trouble: 'missing-original' });
    expect(ledger.ledger.condensations).toEqual([]);
    await ledger.append(condensed('c2', ['one']), originalsIn(['one']));
    expect((await open(root)).ledger.condensations).toHaveLength(1);
  }));

test('originals of edits: the strings at their places, once', () => {
  const messages = [
    { role: 'user', content: 'same' },
    { role: 'user', content: [{ type: 'text', text: 'in a block' }] },
  ] as const;
  const entry = condensed('c1', ['same', 'same', 'x']);
  const [first, second, third] = entry.type === 'condensed' ? entry.condensation.edits : [];
  const edits = [
    first!,
    { ...second!, place: { message: 0, path: ['content'] } },
    { ...third!, place: { message: 1, path: ['content', 0, 'text'] }, before: hashText('in a block') },
    { ...third!, place: { message: 7, path: ['content'] } },
  ];
  expect(originalsOf(messages, edits)).toEqual(originalsIn(['same', 'in a block']));
});
