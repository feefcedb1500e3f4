import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BytePairMerger } from './merge';
import { NO_TOKEN_RANK, TokenRankTable } from './rankTable';
import { encodeText, createRandom, rankTableBytes } from './testing';

const ranks = new TokenRankTable(rankTableBytes);

/** Implements the literal definition of byte-pair merging. */
function plainMerge(text: string): number {
  const { view, length } = encodeText(text);
  const starts = Array.from({ length: length + 1 }, (_, i) => i);
  for (;;) {
    let best = NO_TOKEN_RANK;
    let at = 0;
    for (let i = 0; i + 2 < starts.length; i++) {
      const rank = ranks.getRank(view, starts[i]!, starts[i + 2]! - starts[i]!);
      if (rank < best) {
        best = rank;
        at = i;
      }
    }
    if (best === NO_TOKEN_RANK) return starts.length - 1;
    starts.splice(at + 1, 1);
  }
}

function merge(merger: BytePairMerger, text: string): number {
  const encoded = encodeText(text);
  return merger.countTokens(encoded, 0, encoded.length);
}

const simple = new BytePairMerger(ranks, { simple: 100_000, window: 100_000, overlap: 0 });
const heap = new BytePairMerger(ranks, { simple: 0, window: 100_000, overlap: 0 });
const windows = new BytePairMerger(ranks, { simple: 0, window: 48, overlap: 16 });
/** The overlap is too small on purpose, so that many windows don't meet and are merged again. */
const narrow = new BytePairMerger(ranks, { simple: 0, window: 8, overlap: 1 });

/** Words of few letters merge in many ways. */
const words = fc.oneof(
  ...['ab', 'aA', 'abc', ' a', '-=', '0123456789', 'etaoinshr', 'あいう', '的是一', 'é́a', '\n ', 'AaBbZz+/09'].map(
    (letters) => fc.string({ unit: fc.constantFrom(...Array.from(letters)), minLength: 1, maxLength: 300 }),
  ),
  fc.string({ unit: 'binary', minLength: 1, maxLength: 60 }),
);

describe('byte-pair merging', () => {
  it('gives the same result by search, by heap and by windows', () => {
    fc.assert(
      fc.property(words, (text) => {
        const tokens = plainMerge(text);
        expect(merge(simple, text)).toBe(tokens);
        expect(merge(heap, text)).toBe(tokens);
        expect(merge(windows, text)).toBe(tokens);
        expect(merge(narrow, text)).toBe(tokens);
      }),
    );
  });

  it('joins the results of its windows correctly over long runs of every kind of character', () => {
    const random = createRandom(3);
    const draw = (letters: string) => Array.from({ length: 6000 }, () => letters[random(letters.length)]).join('');
    const usual = new BytePairMerger(ranks);
    const runs = ['a', ' ', '-', 'ab', 'aab', '\n', '漢', 'أ', '0', '=', '_', '#', 'abcabcab', 'na', 'ACGT']
      .map((unit) => unit.repeat(6000 / unit.length))
      .concat(['abcdefghijklmnopqrstuvwxyz', 'ab', 'ACGT', '01', 'aeiou', '的一是不了人我在有他'].map(draw));
    for (const run of runs) expect(merge(usual, run), run.slice(0, 20)).toBe(merge(heap, run));
  });
});
