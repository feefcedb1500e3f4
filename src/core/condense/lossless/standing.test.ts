import { describe, expect, it } from 'vitest';
import { splitToLineSet, findSharedLineRanges } from './standing';

describe('finding the consecutive lines that two texts share', () => {
  const runs = (value: string, other: string): string[] =>
    findSharedLineRanges(value, splitToLineSet(other)).map(
      ({ start, end, lines: count }) => `${count}: ${value.slice(start, end)}`,
    );

  it.each([
    ['a\nb\nc', 'c\na', ['1: a', '1: c']],
    ['a\n\nb', 'a\nb', ['3: a\n\nb']],
    ['x\n\n\ny', 'a', []],
    ['', 'a', []],
    ['a', 'a', ['1: a']],
    ['a\r\nx\r\nb', 'a\r\nb', ['1: a', '1: b']],
  ])('returns them for %j and %j', (value, other, expected) => {
    expect(runs(value, other)).toEqual(expected);
  });
});
