import { describe, expect, it } from 'vitest';
import { PieceTokenCache } from './pieceCache';
import { encodeText } from './testing';

/**
 * Creates a cache whose counter counts each byte as a token, and tells how often the counter was
 * called.
 */
function counted() {
  let asked = 0;
  const cache = new PieceTokenCache((_, __, length) => {
    asked++;
    return length;
  });
  const count = (text: string) => {
    const encoded = encodeText(text);
    return cache.countTokens(encoded, 0, encoded.length);
  };
  return { count, asked: () => asked };
}

describe('the cache of token counts of text pieces', () => {
  it.each([2, 3, 4, 5, 8, 11, 12, 13, 15, 16, 17, 55, 56])('has a piece of %d bytes counted only once', (length) => {
    const { count, asked } = counted();
    expect([count('x'.repeat(length)), count('x'.repeat(length)), asked()]).toEqual([length, length, 1]);
  });

  it('has a piece that is too long for it counted every time', () => {
    const { count, asked } = counted();
    expect([count('x'.repeat(57)), count('x'.repeat(57)), asked()]).toEqual([57, 57, 2]);
  });

  it('distinguishes pieces that differ in one byte or in trailing zeros', () => {
    const { count, asked } = counted();
    const pieces = ['ab', 'ab\0', 'ab\0\0', 'ac', 'abcdefgh', 'abcdefgX', 'abcdefghijkl', 'abcdefghijkX'];
    const long = ['abcdefghijklm', 'abcdefghijklX', 'Xbcdefghijklm', 'abcdefghijklm\0', 'abcdefghijklmn'];
    for (const piece of [...pieces, ...long]) expect(count(piece)).toBe(piece.length);
    expect(asked()).toBe(pieces.length + long.length);
  });

  it('stays exact if there are far more pieces than it has room for', () => {
    const { count } = counted();
    for (const tail of ['', ' and a long tail']) {
      for (let i = 0; i < 200_000; i++) {
        const piece = `${i % 90_000}${tail}__`;
        if (count(piece) !== piece.length) expect(count(piece)).toBe(piece.length);
      }
    }
  });
});
