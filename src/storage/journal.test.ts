import { appendFile, readFile, rename, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { expect, test } from 'vitest';
import { inTemporaryFolder } from '../../test/support/inTemporaryFolder';
import type { Files } from './files';
import { Journal } from './journal';
import { nodeFiles } from './nodeFiles';

function journalAt(path: string, files: Files = nodeFiles) {
  const values: unknown[] = [];
  const journal = new Journal(files, path, {
    take: ({ json }) => {
      const value = JSON.parse(json.toString('utf8')) as unknown;
      values.push(value);
      return value === 'odd' ? 'odd' : undefined;
    },
    reset: () => {
      values.length = 0;
    },
  });
  return { journal, values };
}

async function read(path: string) {
  const { journal, values } = journalAt(path);
  await journal.readNewRecords();
  return { values, lines: journal.problems.map(({ line }) => line) };
}

async function append(path: string, ...values: unknown[]): Promise<void> {
  const { journal } = journalAt(path);
  await journal.readNewRecords();
  await journal.appendValues(values.map((value) => JSON.stringify(value)));
}

const VALUES = [{ a: 1 }, 'zwei', ['drei', '\u2028', '€']];

test('each journal line is JSON with its length and checksum', () =>
  inTemporaryFolder(async (folder) => {
    const path = join(folder, 'journal');
    await append(path, { a: 1 });
    expect(await readFile(path, 'utf8')).toBe('{"bytes":"0000000007","crc32":"561bacaf","value":{"a":1}}\n');
  }));

test('a journal file cut off at any byte yields the complete lines before, and the next write removes the rest', () =>
  inTemporaryFolder(async (folder) => {
    const path = join(folder, 'journal');
    await append(path, ...VALUES);
    const whole = await readFile(path);
    const ends = [...whole.keys()].filter((at) => whole[at] === 0x0a).map((at) => at + 1);
    for (let length = 0; length <= whole.length; length += 1) {
      await writeFile(path, whole.subarray(0, length));
      const left = VALUES.slice(0, ends.filter((end) => end <= length).length);
      expect(await read(path)).toEqual({ values: left, lines: [] });
      await append(path, 'later');
      expect(await read(path)).toEqual({ values: [...left, 'later'], lines: [] });
    }
  }));

test('any changed byte in a journal is detected, loses only its line, and never alters a value', () =>
  inTemporaryFolder(async (folder) => {
    const path = join(folder, 'journal');
    await append(path, ...VALUES);
    const whole = await readFile(path);
    for (const at of whole.keys()) {
      for (const change of [0x01, 0x20, 0x80, (whole[at] ?? 0) ^ 0x0a]) {
        if (change === 0) continue;
        const damaged = Buffer.from(whole);
        damaged[at] = (damaged[at] ?? 0) ^ change;
        await writeFile(path, damaged);
        const { values, lines } = await read(path);
        expect(lines.length, `byte ${at} ^ ${change}`).toBeGreaterThan(0);
        expect(values.length).toBeGreaterThanOrEqual(VALUES.length - 1);
        expect(VALUES.filter((value) => values.some((other) => isDeepStrictEqual(other, value)))).toEqual(values);
        await append(path, 'later');
        expect((await read(path)).values).toEqual([...values, 'later']);
      }
    }
  }));

test('a damaged journal line is reported with file and line number', () =>
  inTemporaryFolder(async (folder) => {
    const path = join(folder, 'journal');
    await append(path, 1, 2, 3);
    await writeFile(path, (await readFile(path, 'utf8')).replace('"value":2', '"value":7'));
    const { journal, values } = journalAt(path);
    await journal.readNewRecords();
    expect(values).toEqual([1, 3]);
    expect(journal.problems).toEqual([
      { file: path, line: 2, message: 'this line is damaged and was skipped; the others were read' },
    ]);
  }));

test('unknown data at the end of a journal is reported and kept, and gets its own line', () =>
  inTemporaryFolder(async (folder) => {
    const path = join(folder, 'journal');
    await append(path, 1);
    await appendFile(path, '\0'.repeat(100));
    expect(await read(path)).toEqual({ values: [1], lines: [2] });
    await append(path, 2);
    expect(await read(path)).toEqual({ values: [1, 2], lines: [2] });
    expect(await readFile(path, 'latin1')).toContain('\0'.repeat(100));
  }));

test('journal records that the reader rejects are reported with their line number', () =>
  inTemporaryFolder(async (folder) => {
    const path = join(folder, 'journal');
    await append(path, 1, 'odd', 2);
    const { journal } = journalAt(path);
    await journal.readNewRecords();
    expect(journal.problems).toEqual([{ file: path, line: 2, message: 'odd' }]);
  }));

test('journal lines longer than a read chunk are read, and a damaged one among them is skipped', () =>
  inTemporaryFolder(async (folder) => {
    const path = join(folder, 'journal');
    const long = ['a', 'b', 'c', 'd'].map((letter) => letter.repeat(1_500_000));
    await append(path, ...long);
    expect((await read(path)).values).toEqual(long);
    const bytes = await readFile(path);
    bytes[2_000_000] = 0;
    await writeFile(path, bytes);
    expect(await read(path)).toEqual({ values: [long[0], long[2], long[3]], lines: [2] });
  }));

test('a journal that was replaced, shortened or removed is read from the start', () =>
  inTemporaryFolder(async (folder) => {
    const path = join(folder, 'journal');
    const other = join(folder, 'other');
    await append(path, 1, 2);
    await append(other, 3, 4, 5);
    const { journal, values } = journalAt(path);
    await journal.readNewRecords();
    await rename(other, path);
    await journal.readNewRecords();
    expect(values).toEqual([3, 4, 5]);
    await truncate(path, 0);
    await append(path, 6);
    await journal.readNewRecords();
    expect(values).toEqual([6]);
    await rm(path);
    await journal.readNewRecords();
    expect(values).toEqual([]);
  }));

test('a journal that replaced another is read from the start even if it has the same inode', () =>
  inTemporaryFolder(async (folder) => {
    const path = join(folder, 'journal');
    // Imitates ext4, which reuses the inode of a removed file.
    const files: Files = {
      ...nodeFiles,
      open: async (...how) => {
        const file = await nodeFiles.open(...how);
        return { ...file, status: async () => ({ ...(await file.status()), identity: 1 }) };
      },
    };
    await append(path, 'a', 'b');
    const { journal, values } = journalAt(path, files);
    await journal.readNewRecords();
    await journal.appendValues(['"c"']);
    await rm(path);
    await append(path, 'a', 'x', 'y', 'z');
    await journal.readNewRecords();
    expect(values).toEqual(['a', 'x', 'y', 'z']);
    await rm(path);
    await append(path, 'a', 'x', 'y', 'z', 'later');
    await journal.readNewRecords();
    expect(values).toEqual(['a', 'x', 'y', 'z', 'later']);
    expect(journal.problems).toEqual([]);
  }));
