import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readLinePrefix } from './prefixes';

/**
 * The rule of `readLinePrefix` as one regular expression. A dash ends the path only after a file
 * extension.
 */
const SEARCH = /((?:[A-Za-z]:\\)?[^\n:]{1,300}?:|[^\n:]{1,300}?\.\w{1,8}-)?([1-9]\d{0,8})([:-])/y;

function readPrefixByExpression(text: string, at: number): ReturnType<typeof readLinePrefix> {
  SEARCH.lastIndex = at;
  const match = SEARCH.exec(text);
  if (!match) return undefined;
  const path = match[1] ?? '';
  if ((path.slice(-1) || match[3]) !== match[3]) return undefined;
  return {
    number: Number(match[2]),
    end: at + match[0].length,
    pathEnd: at + path.length,
    isMatch: match[3] === ':',
  };
}

const expectSame = (text: string, at = 0): void => {
  expect(readLinePrefix(text, at, 'search')).toEqual(readPrefixByExpression(text, at));
};

describe('path prefixes of search results', () => {
  it.each([
    'src/a.ts:12:match',
    'src/a.ts-12-context',
    'src/a.ts-12:neither',
    'src/a.ts:12-neither',
    'a-1.ts-12-names hold dashes',
    'a-12-no extension',
    'a.toolongforit-12-',
    'a.longest8-12-',
    'a.-12-',
    '.ts-3-',
    'a.b.ts-3-x',
    '12:bare',
    '12-bare',
    '012:padded',
    '123456789:',
    '1234567890:',
    ':12:',
    '.12-3-',
    'C:\\a\\b.ts:7:on Windows',
    'C:\\a\\b.ts-7-on Windows',
    'C:\\:7:',
    'C:\\7',
    'C:12:x',
    'C:12-x',
    '9:\\a:1:',
    'a:\nb:1:',
    'a.ts\n-1-',
    'no number: at all',
    '',
    `${'p'.repeat(300)}:1:`,
    `${'p'.repeat(301)}:1:`,
    `C:\\${'p'.repeat(300)}:1:`,
    `C:\\${'p'.repeat(301)}:1:`,
    `${'p'.repeat(300)}.ts-1-`,
    `${'p'.repeat(301)}.ts-1-`,
  ])('are found in %j', (text) => {
    expectSame(text);
    expectSame(`before\n${text}`, 7);
  });

  it('are the same as those that the regular expression finds, for any text', () => {
    const piece = fc.constantFrom(
      ...'a Z _ 0 9 1 7 3 : - . \\ / \n'.split(' '),
      ' ',
      '.ts-',
      ':12:',
      '-12-',
      'C:\\',
      'é',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 14 }), fc.nat(3), (pieces, at) => {
        expectSame(pieces.join(''), at);
      }),
    );
  });
});
