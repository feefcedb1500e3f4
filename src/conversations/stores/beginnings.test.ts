import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, expect, it } from 'vitest';
import { readGrowingBeginnings, MAX_BEGINNING_BYTES } from './beginnings';
import { FileHeadCache } from './fileHeadCache';

const folder = mkdtempSync(join(tmpdir(), 'beginnings-'));
const path = join(folder, 'file');
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

it('reading the beginning of a file reads more at each step and says when the file is complete', () => {
  const sizes = fc.oneof(
    fc.integer({ min: 0, max: 70_000 }),
    fc.constantFrom(4_096, 16_384, 65_536, 262_143, 262_144, 262_145),
  );
  fc.assert(
    fc.property(sizes, (size) => {
      const content = Uint8Array.from({ length: size }, (_, index) => index % 251);
      writeFileSync(path, content);
      const steps = [...readGrowingBeginnings(path)];
      for (const { bytes } of steps) expect(Buffer.compare(bytes, content.subarray(0, bytes.length))).toBe(0);
      expect(steps.slice(0, -1).every(({ isWhole }) => !isWhole)).toBe(true);
      expect(steps.at(-1)?.isWhole).toBe(size < 262_144);
      expect(steps.at(-1)?.bytes).toHaveLength(Math.min(size, 262_144));
    }),
  );
});

it('the cache of file beginnings has room until the largest beginning would not fit, and returns each beginning only once', () => {
  const head = (size: number) => ({ bytes: new Uint8Array(size), modified: 1, size });
  const heads = new FileHeadCache(MAX_BEGINNING_BYTES + 100);
  expect(heads.hasRoom).toBe(true);
  heads.addHead('a', head(100));
  expect(heads.hasRoom).toBe(true);
  heads.addHead('b', head(1));
  expect(heads.hasRoom).toBe(false);
  expect(heads.removeHead('a')?.bytes).toHaveLength(100);
  expect(heads.removeHead('a')).toBeUndefined();
  expect(heads.hasRoom).toBe(true);
});
