import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { JsonError, isDeeperThan, parseJson, scanValue } from './json';

const problemOf = (text: string) => {
  try {
    parseJson(text);
  } catch (error) {
    if (error instanceof JsonError) return error.problem;
  }
  return undefined;
};

describe('broken JSON', () => {
  it.each([
    ['', 0, true, 'a value'],
    ['{"a":1', 6, true, '"," or "}"'],
    ['{"a"', 4, true, '":"'],
    ['{', 1, true, 'a key in double quotes'],
    ['[1,', 3, true, 'a value'],
    ['"ab', 3, true, 'the end of a string'],
    ['"a\\', 3, true, 'an escape'],
    ['"\\u12', 5, true, 'four hexadecimal digits'],
    ['[tru', 4, true, 'true'],
    ['[-', 2, true, 'a value'],
    ['[1e', 3, true, 'a value'],
    ['[1.', 3, true, 'a value'],
    ['[01', 2, false, '"," or "]"'],
    ['{a:1}', 1, false, 'a key in double quotes'],
    ['{"a" 1}', 5, false, '":"'],
    ['[1 2]', 3, false, '"," or "]"'],
    ['[1,]', 3, false, 'a value'],
    ['{"a":1,}', 7, false, 'a key in double quotes'],
    ['"\\x"', 2, false, 'an escape'],
    ['"\\u12g4"', 5, false, 'four hexadecimal digits'],
    ['"a\nb"', 2, false, 'the end of a string'],
    ['"a\n', 3, true, 'the end of a string'],
    ['"a\tb"', 2, false, 'an escaped control character'],
    ['[1] x', 4, false, 'the end of the text'],
    ['[}', 1, false, 'a value'],
  ])('in %j is located at offset %i', (text, offset, truncated, expected) => {
    expect(problemOf(text)).toEqual({ offset, truncated, expected });
  });

  it('is detected exactly if JSON.parse rejects it, and every truncation is recognized as such', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 3 }), fc.nat(), fc.string({ maxLength: 3 }), (text, at, noise) => {
        expect(scanValue(text, 0)).toBe(text.length);
        const value: unknown = JSON.parse(text);
        const cut = text.slice(0, at % text.length);
        if (typeof value === 'object' && value !== null && cut !== '')
          expect(problemOf(cut)).toMatchObject({ truncated: true });
        const noisy = text.slice(0, at % text.length) + noise + text.slice(at % text.length);
        let valid = true;
        try {
          JSON.parse(noisy);
        } catch {
          valid = false;
        }
        expect(problemOf(noisy) === undefined).toBe(valid);
      }),
    );
  });

  it('may be nested at any depth', () => {
    expect(scanValue('['.repeat(200_000) + ']'.repeat(200_000), 0)).toBe(400_000);
    expect(problemOf('{"a":['.repeat(100_000))).toMatchObject({ truncated: true });
  });
});

it('measuring how deeply JSON is nested stops at the given depth', () => {
  expect(isDeeperThan({ a: [1] }, 2)).toBe(false);
  expect(isDeeperThan({ a: [[]] }, 2)).toBe(true);
  expect(isDeeperThan(JSON.parse('['.repeat(100_000) + ']'.repeat(100_000)), 500)).toBe(true);
});
