import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { inTemporaryFolder } from '../../test/support/inTemporaryFolder';
import { hashText } from '../core/hash';
import { Journal } from './journal';
import { nodeFiles } from './nodeFiles';
import { OriginalsFile } from './originals';

/** Slightly more than the bytes of JSON that are read at a time. */
const LONG = (1 << 20) + 40;

/** The JSON of each unit is longer than one byte, so reading in parts may split it. */
const UNITS = ['\ud83d', 'a\udc00', '\\', '"\\', '\n', '\u0001', '漢', '👩‍👩‍👧'];

it.each(UNITS)('a long original of %j is stored in parts and returned unchanged', (unit) =>
  inTemporaryFolder(async (folder) => {
    for (let letters = 0; letters < 6; letters++) {
      const bytes = JSON.stringify(unit).length - 2;
      const text = 'a'.repeat(letters) + unit.repeat(Math.ceil(LONG / bytes));
      const originals = new OriginalsFile(nodeFiles, join(folder, `${letters}.jsonl`));
      await originals.appendOriginals(new Map([[hashText(text), text]]));
      const read = await originals.readOriginals([hashText(text)]);
      expect(read.get(hashText(text)) === text).toBe(true);
    }
  }),
);

it.each([
  ['a letter is another one', (json: string) => json.replace('aaa', 'aab')],
  ['a backslash stands at the end', (json: string) => json.replace(/a"\}/, '\\"}')],
  ['a quote ends it', (json: string) => json.replace('aaa', 'a"a')],
])('a long original that was damaged since it was read (%s) is reported', (_, damage) =>
  inTemporaryFolder(async (folder) => {
    const text = 'a'.repeat(LONG);
    const path = join(folder, 'originals.jsonl');
    const originals = new OriginalsFile(nodeFiles, path);
    await originals.appendOriginals(new Map([[hashText(text), text]]));
    writeFileSync(path, damage(readFileSync(path, 'utf8')));
    await expect(originals.readOriginals([hashText(text)])).rejects.toThrow('is damaged');
  }),
);

it('an original whose stored line has other content is rewritten, so that it can be restored', () =>
  inTemporaryFolder(async (folder) => {
    const path = join(folder, 'originals.jsonl');
    const texts = ['what was said', 'a'.repeat(LONG)];
    const given = new Map(texts.map((text) => [hashText(text), text]));
    for (const text of texts) {
      // Writes a complete line with a valid checksum, but with another text.
      const evil = new Journal(nodeFiles, path, { take: () => undefined, reset: () => undefined });
      await evil.readNewRecords();
      await evil.appendValues([JSON.stringify({ hash: hashText(text), text: 'something else' })]);
    }
    const originals = new OriginalsFile(nodeFiles, path);
    await originals.readNewOriginals();
    await expect(originals.readOriginals(given.keys())).rejects.toThrow('is damaged');
    await originals.appendOriginals(given);
    expect(await originals.readOriginals(given.keys())).toEqual(given);
    const bytes = readFileSync(path).length;
    // An intact original isn't written again, and a damaged line after it doesn't hide it.
    const again = new OriginalsFile(nodeFiles, path);
    await again.readNewOriginals();
    await again.appendOriginals(given);
    expect(readFileSync(path)).toHaveLength(bytes);
    const later = new Journal(nodeFiles, path, { take: () => undefined, reset: () => undefined });
    await later.readNewRecords();
    await later.appendValues([JSON.stringify({ hash: hashText(texts[0] ?? ''), text: 'something else' })]);
    const last = new OriginalsFile(nodeFiles, path);
    await last.readNewOriginals();
    expect(await last.readOriginals(given.keys())).toEqual(given);
  }));
