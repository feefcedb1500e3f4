import { describe, expect, it } from 'vitest';
import { findChunkEnd } from './chunks';
import { TokenRankTable } from './rankTable';
import { createRandom, makeRandomText, splitWithReference, rankTableBytes } from './testing';

const { classes } = new TokenRankTable(rankTableBytes);

function chunks(text: string, size: number): string[] {
  const found: string[] = [];
  for (let from = 0; from < text.length;) {
    const to = findChunkEnd(text, from, size, classes);
    found.push(text.slice(from, to));
    from = to;
  }
  return found;
}

describe('chunks of a text', () => {
  it('end at the last end of a word or number within the size, or at the first such end beyond the size', () => {
    expect(chunks('one two three', 8)).toEqual(['one two', ' three']);
    expect(chunks('one two three', 100)).toEqual(['one two three']);
    expect(chunks('abcdefghijklm(n)', 4)).toEqual(['abcdefghijklm', '(n)']);
    expect(chunks('漢字漢字。漢字', 3)).toEqual(['漢字漢字', '。漢字']);
    expect(chunks('------------', 3)).toEqual(['------------']);
  });

  it('never end before an apostrophe, a combining mark or half a surrogate pair', () => {
    expect(chunks("don't", 3)).toEqual(["don't"]);
    expect(chunks('abc\u0301d', 3)).toEqual(['abc\u0301d']);
    expect(chunks('abc𐐀d', 3)).toEqual(['abc𐐀d']);
  });

  it('never split what the tokenizer treats as one piece, whatever the size', () => {
    const random = createRandom(5);
    for (let i = 0; i < 20_000; i++) {
      const text = makeRandomText(random) + makeRandomText(random);
      const pieces = chunks(text, random(20)).flatMap((chunk) => splitWithReference(chunk));
      expect(pieces, JSON.stringify(text)).toEqual(splitWithReference(text));
    }
  });
});
