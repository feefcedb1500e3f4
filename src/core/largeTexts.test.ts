import { describe, expect, it } from 'vitest';
import { holdsLargeText, LARGE_TEXT, LargeTexts, slicesOf } from './largeTexts';

describe('large texts', () => {
  it('are found again by what they say', () => {
    const known = new LargeTexts<number>();
    known.set('a'.repeat(LARGE_TEXT), 1);
    known.set('short', 2);
    expect([known.get('a'.repeat(LARGE_TEXT)), known.get('b'.repeat(LARGE_TEXT)), known.get('short')]).toEqual([
      1,
      undefined,
      undefined,
    ]);
  });

  it('go that were not asked for the longest, but for six, however large', () => {
    const known = new LargeTexts<string>();
    const text = (letter: string): string => letter.repeat(letter < 'a' ? 40e6 : 5e6);
    const set = (letters: string): void => {
      for (const letter of letters) known.set(text(letter), letter);
    };
    const kept = (letters: string): string => letters.replace(/./g, (letter) => known.get(text(letter)) ?? '-');
    set('abcdefg');
    expect(kept('bcdefga')).toBe('bcdefga');
    set('A');
    expect(kept('bcdefgaA')).toBe('-cdefgaA');
    set('B');
    expect(kept('bcdefgaAB')).toBe('---efgaAB');
  });

  it('are cut into slices between characters', () => {
    for (const text of ['', 'abcde', '🎉🎉🎉', 'a🎉b🎉', '\ud83d\ud83d\ud83d']) {
      const slices = [...slicesOf(text, 3)];
      expect(slices.join('')).toBe(text);
      expect(slices.every((slice) => slice.length <= 3)).toBe(true);
      if (text.isWellFormed()) expect(slices.every((slice) => slice.isWellFormed())).toBe(true);
    }
  });

  it('are seen however deep they lie', () => {
    const large = 'x'.repeat(LARGE_TEXT);
    let deep: unknown = large;
    for (let level = 0; level < 50_000; level++) deep = level % 2 === 0 ? [deep] : { deep };
    expect(holdsLargeText(deep)).toBe(true);
    expect(holdsLargeText({ a: [null, undefined, 1, { b: 'short' }] })).toBe(false);
  });
});
