import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DEFAULT_TOOLS } from '../../messages/tools';
import { listToolExchanges } from '../../messages/exchanges';
import type { ApiMessage } from '../../messages/types';
import { LineCache } from './knownLines';
import { RepeatedLineIndex } from './lineIndex';
import type { TextLines } from '../lines/lines';
import { CurrentLineSources, type LineSourceKind } from './sources';
import { makeCall, makeCodeLines, makeExchange, numberLines, TASK_MESSAGE } from './testing';

const ALL: ReadonlySet<LineSourceKind> = new Set(['read', 'result', 'echo', 'written', 'new', 'old', 'failed']);

const indexOf = (messages: readonly ApiMessage[], cuttable = ALL): RepeatedLineIndex => {
  const known = new LineCache(DEFAULT_TOOLS);
  const index = new RepeatedLineIndex('latest', cuttable, known.ids);
  for (const source of new CurrentLineSources(known).getCurrentSources(listToolExchanges(messages), 0))
    index.addSource(source);
  return index;
};

/** Counts the lines that another, kept line replaces. */
const countReplacedLines = (index: RepeatedLineIndex): number =>
  index.sources.reduce((sum, { lines }, at) => {
    const base = index.bases[at] ?? 0;
    for (let line = base; line < base + lines.count; line++) if (index.findKeptLine(line) !== line) sum++;
    return sum;
  }, 0);

describe('the index of lines that Lossless uses', () => {
  it('finds equal runs of lines inside other text, whichever line is found first', () => {
    const run = ['}', '', ...makeCodeLines('a', 1, 9)];
    const messages = [
      TASK_MESSAGE,
      ...makeExchange('Probe', {}, [...makeCodeLines('b', 1, 5), ...run, ...makeCodeLines('c', 1, 5)].join('\n')),
      ...makeExchange('Probe', {}, [...makeCodeLines('d', 1, 5), ...run, ...makeCodeLines('e', 1, 5)].join('\n')),
    ];
    expect(countReplacedLines(indexOf(messages))).toBe(run.length);
  });

  it('ignores short and insignificant runs', () => {
    const messages = ['x', 'y'].map((name) =>
      makeExchange(
        'Probe',
        {},
        [...makeCodeLines(name, 1, 5), '}', '---', '', 'return nil', ...makeCodeLines(name, 6, 9)].join('\n'),
      ),
    );
    expect(countReplacedLines(indexOf([TASK_MESSAGE, ...messages.flat()]))).toBe(0);
  });

  it('never matches a text with itself', () => {
    const same = (count: number): string => 'the same line again and again\n'.repeat(count);
    expect(
      countReplacedLines(
        indexOf([TASK_MESSAGE, ...makeExchange('Probe', {}, same(13)), ...makeExchange('Probe', {}, same(60))]),
      ),
    ).toBe(13);
  });

  it('compares the whole text of lines that have the same length and beginning', () => {
    const long = (end: string): string => `${'x'.repeat(20_000)}${end}`;
    const messages = [
      TASK_MESSAGE,
      ...makeExchange('Probe', {}, long('a')),
      ...makeExchange('Probe', {}, long('b')),
      ...makeExchange('Probe', {}, long('a')),
    ];
    expect(countReplacedLines(indexOf(messages))).toBe(1);
  });

  it('keeps lines that must not be cut, whichever comes later', () => {
    const text = makeCodeLines('a', 1, 9).join('\n');
    const messages = [
      TASK_MESSAGE,
      ...makeExchange('Read', {}, numberLines(makeCodeLines('a', 1, 9))),
      ...makeCall('Write', { content: text }),
      ...makeExchange('Probe', {}, text),
    ];
    const index = indexOf(messages, new Set<LineSourceKind>(['read']));
    expect(countReplacedLines(index)).toBe(9);
    expect(index.getSourceAt(index.findKeptLine(0)).kind).toBe('written');
  });
});

it('adding texts to the line index of Lossless and removing them again leaves the index as it was', async () => {
  const known = new LineCache(DEFAULT_TOOLS);
  const followed = new CurrentLineSources(known);
  const text = fc
    .record({
      from: fc.nat(20),
      count: fc.integer({ min: 2, max: 25 }),
      kind: fc.constantFrom('Read', 'Probe', 'Edit'),
    })
    .map(({ from, count, kind }) => makeExchange(kind, {}, makeCodeLines('a', from + 1, from + count).join('\n')));
  const standing = (index: RepeatedLineIndex): number[] =>
    Array.from({ length: index.size }, (_, line) => index.findKeptLine(line));
  await fc.assert(
    fc.asyncProperty(
      fc.array(text, { maxLength: 12 }),
      fc.array(text, { maxLength: 6 }),
      fc.nat(12),
      (all, others, kept) => {
        const sources = (turns: readonly ApiMessage[][]) =>
          followed.getCurrentSources(listToolExchanges([TASK_MESSAGE, ...turns.flat()]), 0);
        const then = [...sources(all).slice(0, kept), ...sources(others)];
        const fresh = new RepeatedLineIndex('latest', ALL, known.ids);
        for (const source of then) fresh.addSource(source);
        const used = new RepeatedLineIndex('latest', ALL, known.ids);
        for (const source of sources(all)) used.addSource(source);
        standing(used);
        used.truncateSources(kept);
        for (const source of then.slice(used.sources.length)) used.addSource(source);
        expect(standing(used)).toEqual(standing(fresh));
        expect(used.sources.map((_, at) => used.hasReplacedLines(at))).toEqual(
          fresh.sources.map((_, at) => fresh.hasReplacedLines(at)),
        );
      },
    ),
  );
});

/**
 * Hostile inputs in two sizes. For four times as many lines, the number of line reads may grow four
 * times, but not sixteen times.
 */
describe.each<[string, (size: number) => readonly ApiMessage[]]>([
  [
    'one line of hundreds of kilobytes',
    (size) => ['a', 'b', 'a'].flatMap((end) => makeExchange('Probe', {}, `${'xyz '.repeat(size * 15)}${end}`)),
  ],
  [
    'one line thousands of times',
    (size) => [1, 2].flatMap(() => makeExchange('Probe', {}, 'the same line again and again\n'.repeat(size * 2))),
  ],
  [
    'thousands of reads of one file',
    (size) =>
      Array.from({ length: size / 4 }, () =>
        makeExchange('Read', { file_path: 'a' }, numberLines(makeCodeLines('a', 1, 30))),
      ).flat(),
  ],
  [
    'strings of one length with one beginning',
    (size) =>
      Array.from({ length: size / 40 }, (_, at) =>
        makeExchange('Probe', {}, `${'x'.repeat(4_000)}${String(at).padStart(9)}`),
      ).flat(),
  ],
  [
    'the same two lines in other surroundings',
    (size) =>
      Array.from({ length: size / 8 }, (_, at) =>
        makeExchange(
          'Probe',
          {},
          [...makeCodeLines(`a${at}x`, 1, 2), ...makeCodeLines('b', 1, 2), ...makeCodeLines(`c${at}x`, 1, 2)].join(
            '\n',
          ),
        ),
      ).flat(),
  ],
])('the index of lines over %s', (_name, make) => {
  it('takes time linear in its lines', () => {
    const reads = (size: number): number => {
      let count = 0;
      const known = new LineCache(DEFAULT_TOOLS);
      const index = new RepeatedLineIndex('latest', ALL, known.ids);
      for (const source of new CurrentLineSources(known).getCurrentSources(
        listToolExchanges([TASK_MESSAGE, ...make(size)]),
        0,
      )) {
        index.addSource({ ...source, lines: counting(source.lines, () => count++) });
      }
      for (let line = 0; line < index.size; line++) index.findKeptLine(line);
      return count;
    };
    expect(reads(8_000)).toBeLessThan(4.5 * reads(2_000));
  });
});

/** Returns a proxy that reports whenever one of the lines is read. */
const counting = (lines: TextLines, report: () => void): TextLines =>
  new Proxy(lines, {
    get(target, key) {
      if (key === 'getId') report();
      const value: unknown = Reflect.get(target, key);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
