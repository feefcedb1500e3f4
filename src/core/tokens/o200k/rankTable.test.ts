import o200k from 'js-tiktoken/ranks/o200k_base';
import { describe, expect, it } from 'vitest';
import { PADDING_BYTES, wrapTextBytes } from './bytes';
import { NO_TOKEN_RANK, TokenRankTable } from './rankTable';
import { encodeText, rankTableBytes } from './testing';

describe('the table of token ranks', () => {
  const ranks = new TokenRankTable(rankTableBytes);

  it('finds every token of two or more bytes', () => {
    const tokens = o200k.bpe_ranks.split(' ').slice(2);
    expect(tokens).toHaveLength(199_998);
    let wrong = 0;
    tokens.forEach((token, rank) => {
      const bytes = Buffer.from(token, 'base64');
      if (bytes.length < 2) return;
      const { view } = wrapTextBytes(new Uint8Array([...bytes, ...new Uint8Array(PADDING_BYTES).fill(rank & 0xff)]));
      if (ranks.getRank(view, 0, bytes.length) !== rank) wrong++;
      if (bytes.length === 2 && ranks.getPairRank(view, 0) !== rank) wrong++;
    });
    expect(wrong).toBe(0);
  });

  it.each([
    'qzqz',
    'a\0',
    'the\0\0',
    'no such token',
    'xyzzyxyzzyxyzzyxyzzy',
    ' '.repeat(127),
    'a'.repeat(129),
    '漢漢漢漢漢漢',
  ])('finds no rank for %j', (text) => {
    const { view, length } = encodeText(text);
    expect(ranks.getRank(view, 0, length)).toBe(NO_TOKEN_RANK);
  });

  it('rejects data that is not a table', () => {
    expect(() => new TokenRankTable(new Uint8Array(3))).toThrow('not an o200k table');
    expect(() => new TokenRankTable(new Uint8Array(100))).toThrow('not an o200k table');
    expect(() => new TokenRankTable(rankTableBytes.subarray(0, -1))).toThrow('cut off');
  });
});
