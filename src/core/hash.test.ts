import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { hashText } from './hash';

describe('the hash of a text', () => {
  it('is the SHA-256 of the UTF-8 bytes', () => {
    expect(hashText('häß 🎉')).toBe(createHash('sha256').update('häß 🎉', 'utf8').digest('hex'));
  });

  it('distinguishes lone surrogates from each other and from U+FFFD', () => {
    const texts = ['a\ud800', 'a\udc00', 'a\ufffd', 'a', '\ud800a', '\u0000json:"\\ud800"', '\ud800'];
    expect(new Set(texts.map(hashText)).size).toBe(texts.length);
  });

  it.each(['a', '🎉é', '\ud83d a', '\n'])('is correct for megabytes of %j', (piece) => {
    const text = piece.repeat(1_000_000 / piece.length);
    const expected = (of: string): string => {
      const bytes = of.isWellFormed()
        ? Buffer.from(of)
        : Buffer.concat([Buffer.from([0xff]), Buffer.from(of, 'utf16le')]);
      return createHash('sha256').update(bytes).digest('hex');
    };
    expect(hashText(text)).toBe(expected(text));
  });
});
