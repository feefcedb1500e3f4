import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { hashText } from './hash';

describe('hashText', () => {
  it('is the sha256 of the UTF-8 bytes', () => {
    expect(hashText('häß 🎉')).toBe(createHash('sha256').update('häß 🎉', 'utf8').digest('hex'));
  });

  it('tells lone surrogates from each other and from U+FFFD', () => {
    const texts = ['a\ud800', 'a\udc00', 'a\ufffd', 'a', '\ud800a', '\u0000json:"\\ud800"', '\ud800'];
    expect(new Set(texts.map(hashText)).size).toBe(texts.length);
  });
});
