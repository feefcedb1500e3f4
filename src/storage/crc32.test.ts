import fc from 'fast-check';
import { expect, test } from 'vitest';
import { crc32, crc32InScript } from './crc32';

test('the check value of the standard', () => {
  expect(crc32(Buffer.from('123456789'))).toBe(0xcbf43926);
});

test('without help from Node it is the same', () => {
  fc.assert(
    fc.property(fc.uint8Array(), (bytes) => {
      expect(crc32InScript(bytes)).toBe(crc32(bytes));
    }),
  );
});
