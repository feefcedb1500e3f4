import { describe, expect, it } from 'vitest';
import { matchesPattern, matchesWords, PatternError, searchLines } from './searchText';

const spent = () => ({ ms: 0 });

describe('searching lines', () => {
  it('finds words in any order and case', async () => {
    const lines = ['one two', 'TWO three one', 'two'];
    expect(await searchLines(lines, matchesWords(' Two  one '), spent())).toEqual([0, 1]);
  });

  it('finds what a pattern matches, in any case, also one of the old ways to write it', async () => {
    const lines = ['a-b', 'A_b', 'ä'];
    expect(await searchLines(lines, matchesPattern('^a.b$'), spent())).toEqual([0, 1]);
    expect(await searchLines(lines, matchesPattern('a\\-b'), spent())).toEqual([0]);
    expect(await searchLines(lines, matchesPattern('\\p{L}$'), spent())).toEqual([0, 1, 2]);
    expect(() => matchesPattern('(')).toThrow(PatternError);
  });

  it('goes through many long lines in stretches', async () => {
    const lines = Array.from({ length: 500 }, (_, index) => `${'x'.repeat(3_000)} ${index}`);
    expect(await searchLines(lines, matchesPattern(' 49[89]$'), spent())).toEqual([498, 499]);
    const long = [`${'x'.repeat(5_000)}y`];
    expect(await searchLines(long, matchesWords('y'), spent())).toEqual([]);
  });

  it('stops a pattern that would hold the thread for years', async () => {
    const evil = [`${'a'.repeat(3_000)}!`];
    await expect(searchLines(evil, matchesPattern('^(a+)+$'), spent())).rejects.toThrow('takes too long');
  });

  it('stops a search that takes too long in all', async () => {
    await expect(searchLines(['x'], matchesWords('x'), { ms: 1_000_000 })).rejects.toThrow('takes too long');
  });
});
