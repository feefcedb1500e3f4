import { describe, expect, it } from 'vitest';
import { holdsLargeText, LARGE_TEXT, LargeTexts, slicesOf } from './largeTexts';

describe('large texts', () => {
  it('are found again by what they say, and the oldest go', () => {
    const known = new LargeTexts<number>();
    const text = (letter: string, chars = 20e6): string => letter.repeat(chars);
    known.set(text('a'), 1);
    known.set(text('b'), 2);
    expect([known.get(text('a')), known.get(text('b'))]).toEqual([1, 2]);
    known.set(text('c'), 3);
    expect([known.get(text('a')), known.get(text('b')), known.get(text('c'))]).toEqual([undefined, 2, 3]);
    // However large, the newest is kept.
    known.set(text('d', 40e6), 4);
    expect([known.get(text('c')), known.get(text('d', 40e6))]).toEqual([3, 4]);
    known.set('short', 5);
    expect(known.get('short')).toBeUndefined();
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
