import { crc32 } from 'node:zlib';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { inOneGo } from '../core/pace';
import { crc32Steps } from './crc32';

test('the check value of the standard', () => {
  expect(inOneGo(crc32Steps(Buffer.from('123456789')))).toBe(0xcbf43926);
});

test('in steps of any length the checksum is that of all bytes at once', () => {
  fc.assert(
    fc.property(fc.uint8Array(), fc.integer({ min: 1, max: 9 }), (bytes, step) => {
      expect(inOneGo(crc32Steps(bytes, step))).toBe(crc32(bytes));
    }),
  );
});
