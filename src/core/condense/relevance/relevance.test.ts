import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { PlacedContent } from '../../messages/exchanges';
import type { FilePart } from '../../messages/fileParts';
import { DEFAULT_TOOLS } from '../../messages/tools';
import type { ApiMessage } from '../../messages/types';
import { makeToolExchange, user } from '../../testing';
import { RemovedBlocks, chooseLeastNeededBlocks, MARKER_TOKENS } from './choice';
import { FEATURE_NAMES, type FeatureName } from './featureNames';
import { BlockFeatureRows, type BlockWithFeatures, type ContentFacts } from './features';
import { protectNewestResults, type BlockToGuard } from './guard';
import { ConversationFileHistory } from './fileHistory';
import { forEachWord, IDENTIFIER_WORD, type ConversationFocus, type WeightedWords } from './focus';
import { blendWithNeighbors, computeRelevance } from './relevance';
import { splitIntoBlocks, type TextBlock } from './textBlocks';
import { FEATURE_WEIGHTS } from './weights';

const contentOf = (text: string): PlacedContent => ({
  type: 'toolResults',
  path: [],
  start: 0,
  end: text.length,
  text,
  message: 1,
});

const partOf = (start: number, end: number, path: string): FilePart => ({
  start,
  end,
  path,
  linePrefix: undefined,
  firstLine: undefined,
  isCurrent: true,
});

const blocksOf = (text: string, from = 0, parts: readonly FilePart[] = []): TextBlock[] =>
  splitIntoBlocks(contentOf(text), { tokens: 1_000, path: 'a.ts', parts, from }).map(({ block }) => block);

describe('the words of a text for relevance', () => {
  it('are the same as those that the regular expression finds', () => {
    const texts = fc.string({
      unit: fc.constantFrom('a', 'Z', '_', '$', '0', '9', ' ', '.', '\n', 'é', '漢'),
      maxLength: 40,
    });
    fc.assert(
      fc.property(texts, (text) => {
        const told: string[] = [];
        forEachWord(text, (start, end) => told.push(text.slice(start, end)));
        expect(told).toEqual(text.match(IDENTIFIER_WORD) ?? []);
      }),
    );
  });
});

describe('blocks of a text for relevance', () => {
  it('begin at declarations and exclude surrounding blank lines', () => {
    const body = Array.from({ length: 8 }, (_, at) => `  call${at}();`).join('\n');
    const blocks = blocksOf(`function one() {\n${body}\n}\n\nfunction two() {\n${body}\n}\n`);
    expect(blocks.map(({ text }) => text)).toEqual([`function one() {\n${body}\n}`, `function two() {\n${body}\n}`]);
    expect(blocks.map(({ head }) => head)).toEqual(['function one() {', 'function two() {']);
  });

  it('know their line numbers if all lines of the text have one', () => {
    const numbered = Array.from({ length: 5 }, (_, at) => `${at + 3}→line ${at}`).join('\n');
    expect(blocksOf(numbered)[0]?.numbers).toEqual([3, 7]);
    expect(blocksOf('a\nb\nc')[0]?.numbers).toBeUndefined();
  });

  it('end where another file begins', () => {
    const text = 'head\nof a\nof a\nof b';
    const blocks = blocksOf(text, 0, [partOf(5, 14, 'a'), partOf(15, 19, 'b')]);
    expect(blocks.map((block) => [block.text, block.part?.path])).toEqual([
      ['head', undefined],
      ['of a\nof a', 'a'],
      ['of b', 'b'],
    ]);
  });

  it('contain each nonblank line after the start once, in order', () => {
    const line = fc.constantFrom('', '  ', 'function a() {', '  b();', '}', 'plain text', '12→x');
    fc.assert(
      fc.property(fc.array(line, { maxLength: 200 }), fc.nat(300), fc.nat(300), fc.nat(300), (lines, from, a, b) => {
        const text = lines.join('\n');
        const [start, end] = [Math.min(a, b, text.length), Math.min(Math.max(a, b), text.length)];
        const blocks = blocksOf(text, from, [partOf(start, end, 'a')]);
        let at = from;
        for (const block of blocks) {
          expect(block.start).toBeGreaterThanOrEqual(at);
          expect(text.slice(at, block.start).trim()).toBe('');
          expect(text.slice(block.start, block.end)).toBe(block.text);
          at = block.end;
        }
        expect(text.slice(at).trim()).toBe('');
      }),
    );
  });
});

const LINES = ['export const first = prepare(1);', 'export const second = prepare(2);'];
const READ = LINES.map((line, at) => `${at + 1}→${line}`).join('\n');

/** a.ts is read, then b.ts; a line of a.ts is changed, and b.ts is written anew. */
const CONVERSATION: readonly ApiMessage[] = [
  user('Rewrite prepare.'),
  ...makeToolExchange('1', 'Read', { file_path: '/w/a.ts' }, READ),
  ...makeToolExchange('2', 'Read', { file_path: '/w/b.ts' }, READ),
  ...makeToolExchange(
    '3',
    'Edit',
    { file_path: 'a.ts', old_string: LINES[0], new_string: 'export const other = 1;' },
    'ok',
  ),
  ...makeToolExchange('4', 'Write', { file_path: '/w/b.ts', content: 'export const nothing = 0;' }, 'ok'),
];

describe('the history of a file for relevance', () => {
  const files = new ConversationFileHistory(CONVERSATION, DEFAULT_TOOLS);

  it('includes when the file was shown and changed, under all its names', () => {
    expect(files.getFileUse('/w/a.ts')).toBe(files.getFileUse('a.ts'));
    expect(files.getFileUse('/w/a.ts')).toMatchObject({ shown: [2, 6], changed: [5], touched: 6, written: -1 });
    expect(files.getFileUse('/w/b.ts')).toMatchObject({ shown: [4, 8], changed: [7], touched: 8, written: 7 });
    expect(files.getFileUse('/w/c.ts')).toBeUndefined();
  });

  it('includes the lines that an edit removed and inserted', () => {
    const lines = files.getFileUse('/w/a.ts')?.lines;
    expect(lines?.get(LINES[0] ?? '')).toEqual({ quotedAt: 5, writtenAt: -1, removedAt: 5 });
    expect(lines?.get('export const other = 1;')).toEqual({ quotedAt: -1, writtenAt: 5, removedAt: -1 });
  });
});

describe('relevance features of a block', () => {
  const nothing: WeightedWords = new Map();
  const focus: ConversationFocus = {
    words: { people: nothing, prose: new Map([['prepare', 1]]), calls: nothing },
    isNamed: (path) => path.endsWith('a.ts'),
    isNamedRecently: () => false,
    isInOutput: () => false,
  };
  const files = new ConversationFileHistory(CONVERSATION, DEFAULT_TOOLS);
  const standing = (path: string, message: number): ContentFacts => ({
    type: 'toolResults',
    kind: 'read',
    isError: false,
    tokens: 20,
    message,
    turns: 3,
    resultsAfter: 2,
    path,
  });
  const newRows = (): BlockFeatureRows => new BlockFeatureRows({ focus, files, turnsSince: () => 3 });
  const featured = (rows: BlockFeatureRows, text: string, own: ContentFacts): BlockWithFeatures => {
    const [read] = splitIntoBlocks(contentOf(text), { tokens: 20, path: own.path, parts: [], from: 0 });
    if (!read) throw new Error('no block');
    return { block: read.block, facts: own, features: rows.computeFeatures(read, own) };
  };
  const featuresIn = (text: string, own: ContentFacts): ((name: FeatureName) => number) => {
    const rows = newRows();
    const block = featured(rows, text, own);
    rows.finishBlocks([block]);
    return (name) => block.features[FEATURE_NAMES.indexOf(name)] ?? NaN;
  };
  const of = (path: string, message: number): ((name: FeatureName) => number) =>
    featuresIn(READ, standing(path, message));
  const a = of('/w/a.ts', 2);
  const b = of('/w/b.ts', 4);

  it('are finite numbers, each with a name', () => {
    for (const name of FEATURE_NAMES) expect(Number.isFinite(a(name))).toBe(true);
  });

  it('do not depend on the number of other blocks', () => {
    const rows = newRows();
    const blocks = Array.from({ length: 200 }, (_, at) =>
      featured(rows, READ, { ...standing('/w/a.ts', 2), turns: at }),
    );
    rows.finishBlocks(blocks);
    for (const [at, { features }] of blocks.entries()) {
      expect(features).toHaveLength(FEATURE_NAMES.length);
      expect(features[FEATURE_NAMES.indexOf('lately')]).toBeCloseTo(Math.exp(-at / 20));
      expect(features[FEATURE_NAMES.indexOf('prose')]).toBeGreaterThan(0);
    }
  });

  it('reflect what later edits removed and rewrote', () => {
    expect([a('stale'), a('near')]).toEqual([0.5, 1]);
    expect([b('stale'), b('near')]).toEqual([1, 0]);
  });

  it('reflect the current subject', () => {
    expect(a('prose')).toBeGreaterThan(0);
    expect(a('people')).toBe(0);
    expect([a('named'), b('named')]).toEqual([1, 0]);
  });

  it('reflect errors of the last turns, but not those in lines of a file', () => {
    const unsolved = (text: string, more: Partial<ContentFacts>): number => {
      const own = { ...standing('/w/a.ts', 2), kind: 'command', path: undefined, ...more } as const;
      return featuresIn(text, own)('unsolved');
    };
    expect(unsolved('--- FAIL: TestSetup (0.01s)', {})).toBe(1);
    expect(unsolved('the old text was not found', { kind: 'edit', isError: true })).toBe(1);
    expect(unsolved('--- PASS: TestErrors (0.01s)', {})).toBe(0);
    expect(unsolved('--- FAIL: TestSetup (0.01s)', { turns: 6 })).toBe(0);
    expect(unsolved('throw new Error(failed)', { kind: 'read' })).toBe(0);
    expect(unsolved('echo failed', { type: 'toolParameters' })).toBe(0);
  });

  it('are weighted and summed', () => {
    const rows = [Float32Array.from(FEATURE_NAMES, (name) => (name === 'stale' ? 2 : 1))];
    expect(computeRelevance(rows, { stale: -3, file: 1 })).toEqual([-5]);
    expect(Number.isFinite(computeRelevance(rows, FEATURE_WEIGHTS)[0])).toBe(true);
  });
});

describe('choosing the least relevant blocks', () => {
  const isNeighbour = [false, true, true, true];
  const tokens = [100, 100, 100, 100];
  const gone = (excess: number, relevance: readonly number[]): number[] => {
    const choice = chooseLeastNeededBlocks(excess, relevance, tokens, isNeighbour);
    return tokens.flatMap((_, at) => (choice.isRemoved(at) ? [at] : []));
  };

  it('continues until enough tokens are saved', () => {
    expect(gone(0, [0, 1, 2, 3])).toEqual([]);
    expect(gone(100 - MARKER_TOKENS, [1, 2, 0, 3])).toEqual([2]);
    expect(gone(10_000, [1, 2, 0, 3])).toEqual([0, 1, 2, 3]);
  });

  it('lets adjacent blocks share a marker', () => {
    expect(gone(200 - MARKER_TOKENS, [2, 0, 1, 3])).toEqual([1, 2]);
    // Removing a block between two removed ones saves a marker.
    expect(gone(300 - MARKER_TOKENS, [0, 20, 10, 30])).toEqual([0, 1, 2]);
    // Of nearly equal blocks, one that shares a marker is removed before one that needs its own.
    expect(gone(200 - MARKER_TOKENS, [0, 0.2, 0.1, 0.3])).toEqual([0, 1]);
  });

  it('keeps blocks that need not be removed, and blocks whose removal costs more than it saves', () => {
    const choice = chooseLeastNeededBlocks(500, [0, 1, 2], [20, 300, 600], [false, false, false]);
    expect([0, 1, 2].map((block) => choice.isRemoved(block))).toEqual([false, false, true]);
  });

  it('takes the cheapest block at each step, whatever the order of price changes', () => {
    const block = fc.record({
      relevance: fc.integer({ min: -3, max: 3 }),
      tokens: fc.integer({ min: 1, max: 200 }),
      follows: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(block, { maxLength: 40 }), fc.nat(3_000), (blocks, excess) => {
        const [relevance, tokens] = [blocks.map((one) => one.relevance), blocks.map((one) => one.tokens)];
        const follows = blocks.map((one, at) => at > 0 && one.follows);
        const plain = new RemovedBlocks(tokens, follows);
        const order: number[] = [];
        for (let over = -excess; over < 0;) {
          const prices = tokens.map((own, at) =>
            plain.isRemoved(at) || plain.computeSavingOfRemoval(at) <= 0
              ? Infinity
              : (relevance[at] ?? 0) + Math.log(own / plain.computeSavingOfRemoval(at)),
          );
          const least = prices.indexOf(Math.min(...prices));
          if (!Number.isFinite(prices[least] ?? Infinity)) break;
          over += plain.setRemoved(least, true);
          order.push(least);
        }
        const choice = chooseLeastNeededBlocks(excess, relevance, tokens, follows);
        expect(order.filter((at) => choice.isRemoved(at)).length).toBe(
          tokens.filter((_, at) => choice.isRemoved(at)).length,
        );
        const saved = (one: RemovedBlocks): number => {
          const sum = new RemovedBlocks(tokens, follows);
          return tokens.reduce((total, _, at) => total + (one.isRemoved(at) ? sum.setRemoved(at, true) : 0), 0);
        };
        expect(saved(choice)).toBeGreaterThanOrEqual(Math.min(excess, saved(plain)));
      }),
    );
  });
});

describe('the protection of the newest results from pruning', () => {
  const read = (result: number, tokens = 100): BlockToGuard => ({ tokens, result, showsFile: true });
  const guarded = (blocks: readonly BlockToGuard[], room: number): readonly number[] => {
    const relevance = blocks.map(() => 0);
    return protectNewestResults(relevance, blocks, room).flatMap((own, at) => (own > 0 ? [at] : []));
  };
  const ten = Array.from({ length: 10 }, (_, at) => read(at));

  it('keeps the newest three tenths of the results, as far as the budget allows', () => {
    expect(guarded(ten, 1_000)).toEqual([7, 8, 9]);
    expect(guarded(ten, 700)).toEqual([8, 9]);
    expect(guarded(ten, 300)).toEqual([]);
    expect(guarded(ten, -1)).toEqual([]);
  });

  it('counts every result but protects only lines of files', () => {
    const blocks = ten.map((block, at) => (at === 8 ? { ...block, showsFile: false } : block));
    expect(guarded(blocks, 1_000)).toEqual([7, 9]);
    const withCalls = [...ten, { tokens: 5_000, result: undefined, showsFile: false }];
    expect(guarded(withCalls, 1_000)).toEqual([7, 8, 9]);
  });

  it('never exceeds the budget, and is lifted if nothing else is left to remove', () => {
    const block = fc.record({ tokens: fc.integer({ min: 1, max: 500 }), result: fc.nat(9), showsFile: fc.boolean() });
    fc.assert(
      fc.property(fc.array(block, { maxLength: 40 }), fc.nat(8_000), (blocks, room) => {
        const held = guarded(blocks, room).reduce((sum, at) => sum + (blocks[at]?.tokens ?? 0), 0);
        expect(held).toBeLessThanOrEqual(room);
      }),
    );
    const relevance = protectNewestResults([0, 0, 0, 0], ten.slice(0, 4), 400);
    const tokens = [100, 100, 100, 100];
    const gone = (excess: number): boolean[] => {
      const choice = chooseLeastNeededBlocks(excess, relevance, tokens, [false, false, false, false]);
      return tokens.map((_, at) => choice.isRemoved(at));
    };
    expect(gone(3 * (100 - MARKER_TOKENS))).toEqual([true, true, true, false]);
    expect(gone(400)).toEqual([true, true, true, true]);
  });
});

describe('the relevance of adjacent blocks', () => {
  it('rises next to relevant blocks', () => {
    const [far, near, likely, other] = blendWithNeighbors([0, 0, 10, 0], [false, true, true, false]);
    expect([far, likely, other]).toEqual([0, 10, 0]);
    expect(near).toBeGreaterThan(0);
    expect(near).toBeLessThan(10);
  });
});
