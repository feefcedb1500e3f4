import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { makeMarker, type ReferenceId } from '../../messages/markers';
import { findSafeBoundary, findTruncatedSlice, type TruncateLimits } from './truncate';

/** Returns the text with […] in place of the slice. */
const truncateText = (text: string, limits: TruncateLimits, mark = '[…]'): string => {
  const slice = findTruncatedSlice(text, limits);
  return slice ? text.slice(0, slice.start) + mark + text.slice(slice.end) : text;
};

const TEN = Array.from({ length: 10 }, (_, index) => `line ${index}`).join('\n');

describe('truncating a text', () => {
  it.each<[TruncateLimits, string]>([
    [{ maxLines: 2, keep: 'head' }, 'line 0\nline 1\n[…]'],
    [{ maxLines: 2, keep: 'tail' }, '[…]\nline 8\nline 9'],
    [{ maxLines: 3, keep: 'both' }, 'line 0\nline 1\n[…]\nline 9'],
    [{ maxLines: 1, keep: 'both' }, 'line 0\n[…]'],
    [{ maxChars: 3, keep: 'head' }, 'lin[…]'],
    [{ maxChars: 3, keep: 'tail' }, '[…]e 9'],
    [{ maxChars: 5, keep: 'both' }, 'lin[…] 9'],
    [{ maxLines: 5, maxChars: 10, keep: 'head' }, 'line 0\nlin[…]'],
    [{ maxLines: 1, maxChars: 20, keep: 'tail' }, '[…]\nline 9'],
    [{ maxLines: 10, keep: 'both' }, TEN],
    [{ maxChars: TEN.length, keep: 'both' }, TEN],
    [{ keep: 'both' }, TEN],
  ])('keeps the right lines and characters with the limits %j', (limits, expected) => {
    expect(truncateText(TEN, limits)).toBe(expected);
  });

  it('returns the number of removed lines', () => {
    expect(findTruncatedSlice(TEN, { maxLines: 2, keep: 'head' })).toMatchObject({ lines: 8 });
    expect(findTruncatedSlice('abcdef', { maxChars: 2, keep: 'head' })).toEqual({ start: 2, end: 6, lines: 1 });
  });

  it('never splits a two-character line end', () => {
    const text = TEN.replaceAll('\n', '\r\n');
    expect(truncateText(text, { maxLines: 2, keep: 'tail' })).toBe('[…]\r\nline 8\r\nline 9');
    expect(truncateText(text, { maxLines: 2, keep: 'head' })).toBe('line 0\r\nline 1\r\n[…]');
  });

  it.each(['head', 'tail', 'both'] as const)(
    'at the %s gives a result within the limits, so that a second run changes nothing',
    (keep) => {
      const parts = fc.array(fc.constantFrom('word ', '\n', '\r\n', '👨‍👩‍👧‍👦', '🇩🇪', 'é', 'e\u0301\u0302', '漢', '\ud83d'), {
        maxLength: 60,
      });
      const mark = makeMarker('5 lines truncated', 'abcdef' as ReferenceId);
      fc.assert(
        fc.property(
          parts,
          fc.integer({ min: 1, max: 12 }),
          fc.integer({ min: 1, max: 60 }),
          (words, maxLines, maxChars) => {
            const text = words.join('');
            for (const limits of [
              { maxLines, keep },
              { maxChars, keep },
              { maxLines, maxChars, keep },
            ]) {
              const once = truncateText(text, limits, mark);
              expect(findTruncatedSlice(once, limits), JSON.stringify({ text, limits, once })).toBeUndefined();
            }
          },
        ),
      );
    },
  );
});

describe('the grapheme boundaries in a text', () => {
  const family = '👨‍👩‍👧‍👦';
  it.each<[string, string, number, number, number]>([
    ['plain text', 'abcdef', 3, 3, 3],
    ['a surrogate pair', 'ab😀cd', 3, 2, 4],
    ['a combining mark', 'abe\u0301\u0301cd', 4, 2, 5],
    ['a family', `ab${family}cd`, 7, 2, 2 + family.length],
    ['a flag', 'ab🇩🇪🇫🇷', 8, 6, 10],
    ['a row of 100 flags, far from any letter', '🇩🇪'.repeat(100), 4 * 60 + 2, 4 * 60, 4 * 61],
    ['a line end', 'ab\r\ncd', 3, 2, 4],
    ['the start', 'abc', -1, 0, 0],
    ['the end', 'abc', 9, 3, 3],
    ['text without any letter', '漢'.repeat(500), 300, 300, 300],
  ])('are found around %s', (_, text, offset, before, after) => {
    expect([findSafeBoundary(text, offset), findSafeBoundary(text, offset, 'after')]).toEqual([before, after]);
  });

  it('agree with those of Intl.Segmenter over the whole text', () => {
    const parts = fc.array(
      fc.constantFrom('a', 'b c', '\r\n', '🇩🇪', '🇫', family, 'e\u0301', '\u200d', '\ud83d', 'क्ष', '한'),
      { maxLength: 80 },
    );
    fc.assert(
      fc.property(parts, fc.nat(300), (words, offset) => {
        const text = words.join('');
        const starts = [...new Intl.Segmenter(undefined, { granularity: 'grapheme' }).segment(text)].map(
          (one) => one.index,
        );
        const at = Math.min(offset, text.length);
        const bounds = [...starts, text.length];
        expect(findSafeBoundary(text, at)).toBe(at === 0 ? 0 : bounds.findLast((one) => one <= at));
        expect(findSafeBoundary(text, at, 'after')).toBe(bounds.find((one) => one >= at));
      }),
    );
  });
});
