import fc from 'fast-check';
import { expect, test } from 'vitest';
import { inOneGo } from '../core/pace';
import { crc32, crc32InScript, crc32Steps } from './crc32';

test('the check value of the standard', () => {
  expect(crc32(Buffer.from('123456789'))).toBe(0xcbf43926);
});

test('without help from Node it is the same, also behind other bytes', () => {
  fc.assert(
    fc.property(fc.uint8Array(), fc.uint8Array(), (before, bytes) => {
      expect(crc32InScript(bytes, crc32(before))).toBe(crc32(Buffer.concat([before, bytes])));
    }),
  );
});

test('in steps it is the same', () => {
  fc.assert(
    fc.property(fc.uint8Array(), fc.integer({ min: 1, max: 9 }), (bytes, step) => {
      expect(inOneGo(crc32Steps(bytes, step))).toBe(crc32(bytes));
    }),
  );
});
