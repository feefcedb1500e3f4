import { describe, expect, it } from 'vitest';
import { createPatternMatcher, createWordMatcher, SearchPatternError, searchLinesWithinTime } from './searchText';

const spent = () => ({ ms: 0 });

describe('searching lines for recall', () => {
  it('finds words in any order and letter case', () => {
    const lines = ['one two', 'TWO three one', 'two'];
    expect(searchLinesWithinTime(lines, createWordMatcher(' Two  one '), spent())).toEqual([0, 1]);
  });

  it('finds matches of a regular expression in any letter case, also in its older syntax', () => {
    const lines = ['a-b', 'A_b', 'ä'];
    expect(searchLinesWithinTime(lines, createPatternMatcher('^a.b$'), spent())).toEqual([0, 1]);
    expect(searchLinesWithinTime(lines, createPatternMatcher('a\\-b'), spent())).toEqual([0]);
    expect(searchLinesWithinTime(lines, createPatternMatcher('\\p{L}$'), spent())).toEqual([0, 1, 2]);
    expect(() => createPatternMatcher('(')).toThrow(SearchPatternError);
  });

  it('searches many long lines in batches', () => {
    const lines = Array.from({ length: 500 }, (_, index) => `${'x'.repeat(3_000)} ${index}`);
    expect(searchLinesWithinTime(lines, createPatternMatcher(' 49[89]$'), spent())).toEqual([498, 499]);
    const long = [`${'x'.repeat(5_000)}y`];
    expect(searchLinesWithinTime(long, createWordMatcher('y'), spent())).toEqual([]);
  });

  it('stops a regular expression that would block the thread for years', () => {
    const evil = [`${'a'.repeat(3_000)}!`];
    expect(() => searchLinesWithinTime(evil, createPatternMatcher('^(a+)+$'), spent())).toThrow('takes too long');
  });

  it('stops a search that takes too long in total', () => {
    expect(() => searchLinesWithinTime(['x'], createWordMatcher('x'), { ms: 1_000_000 })).toThrow('takes too long');
  });
});
