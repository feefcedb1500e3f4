import { describe, expect, it } from 'vitest';
import { getClass } from '../../../../scripts/ranks.mjs';
import { TokenRankTable } from './rankTable';
import { PieceScanner } from './scanner';
import { encodeText, createRandom, makeRandomText, splitWithReference, rankTableBytes } from './testing';

const { classes } = new TokenRankTable(rankTableBytes);
const scanner = new PieceScanner(classes);

/** Returns the byte offsets of the ends of pieces. */
function ends(text: string): number[] {
  const { bytes, length } = encodeText(text);
  const found: number[] = [];
  for (let start = 0; start < length; found.push(start)) start = scanner.findPieceEnd(bytes, start);
  return found;
}

function referenceEnds(text: string): number[] {
  let end = 0;
  return splitWithReference(text).map((piece) => (end += Buffer.byteLength(piece)));
}

describe('the o200k scanner', () => {
  it.each([
    ['words', 'Hello world, it IS camelCase and HTTPServer'],
    ['contractions', "I'm you'RE he's we'Ve they'll I'd can't 'tis o'clock x'y l'l 's"],
    ['numbers', '1 12 123 1234 1234567 v1.2.3 0x1F ٣٤٥٦ ½½½½'],
    ['spaces before words and numbers', 'a  b   c    1  2\t\tx \t y  '],
    ['line breaks', 'a\n\n  b \n \n\tc\r\n\r\n  d   \n'],
    ['only spaces', '      '],
    ['punctuation with slashes and line breaks', '//\n/foo /* x */\n\n/!\n ..../\r\n/'],
    ['a caseless letter ends a word of capitals', 'AあB AあBb あAA ABCあDEF! xあX'],
    ['marks as prefix, alone and within', '\u0301 \u0301A \u0301a !\u0301 !!\u0301 e\u0301 A\u0301B\u0301C 1\u0301'],
    ['wide spaces', '\u3000漢字\u00a0a\u2028b\ufeff\ufeffc \u3000 \u3000'],
    ['emoji', '👩‍👩‍👧‍👦👍🏽 🇩🇪a 😀\n/x'],
    ['half surrogate pairs', 'a\ud83d b\ude00c \ud83d\ud83d'],
  ])('splits text as the regular expression does: %s', (_, text) => {
    expect(ends(text)).toEqual(referenceEnds(text));
  });

  it('splits 100,000 random texts as the regular expression does', () => {
    const random = createRandom(1);
    for (let i = 0; i < 100_000; i++) {
      const text = makeRandomText(random);
      const expected = referenceEnds(text);
      if (ends(text).join() !== expected.join()) expect(ends(text), JSON.stringify(text)).toEqual(expected);
    }
  });

  it('has the right class for every code point', () => {
    const wrong: number[] = [];
    for (let codePoint = 0; codePoint < 0x110000; codePoint++) {
      if (classes[codePoint] !== getClass(codePoint)) wrong.push(codePoint);
    }
    expect(wrong).toEqual([]);
  });
});
