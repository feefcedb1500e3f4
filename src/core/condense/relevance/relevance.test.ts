import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { PlacedContent } from '../../messages/exchanges';
import type { Focus } from './focus';
import { relevanceOf, type Standing } from './relevance';
import { textBlocks, type TextBlock } from './textBlocks';

const contentOf = (text: string): PlacedContent => ({
  type: 'toolResults',
  path: [],
  start: 0,
  end: text.length,
  text,
  message: 1,
});

const blocksOf = (text: string, from = 0, isQuoted: (line: string) => boolean = () => false): TextBlock[] =>
  textBlocks(contentOf(text), { tokens: 1_000, path: 'a.ts', isQuoted, from });

describe('blocks', () => {
  it('begin at declarations, and blank lines around them are no part of them', () => {
    const body = Array.from({ length: 8 }, (_, at) => `  call${at}();`).join('\n');
    const blocks = blocksOf(`function one() {\n${body}\n}\n\nfunction two() {\n${body}\n}\n`);
    expect(blocks.map(({ text }) => text)).toEqual([`function one() {\n${body}\n}`, `function two() {\n${body}\n}`]);
    expect(blocks.map(({ head }) => head)).toEqual(['function one() {', 'function two() {']);
  });

  it('know the numbers of their lines, where all have one', () => {
    const numbered = Array.from({ length: 5 }, (_, at) => `${at + 3}→line ${at}`).join('\n');
    expect(blocksOf(numbered)[0]?.numbers).toEqual([3, 7]);
    expect(blocksOf('a\nb\nc')[0]?.numbers).toBeUndefined();
  });

  it('tell which share of their lines was quoted', () => {
    expect(blocksOf('a\n  b\nc\nd', 0, (line) => line === 'b')[0]?.quoted).toBe(0.25);
  });

  it('hold every line that is not blank once, in order, from the offset on that may go', () => {
    const line = fc.constantFrom('', '  ', 'function a() {', '  b();', '}', 'plain text', '12→x');
    fc.assert(
      fc.property(fc.array(line, { maxLength: 200 }), fc.nat(300), (lines, from) => {
        const text = lines.join('\n');
        const blocks = blocksOf(text, from);
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

describe('relevance', () => {
  const focus: Focus = { weights: new Map([['migrate', 5]]), names: () => false };
  const standing: Standing = { type: 'toolResults', kind: 'read', tokens: 100, turns: 0, isNamed: false };
  const block = (text: string): TextBlock => ({
    index: 0,
    start: 0,
    end: text.length,
    text,
    head: '',
    tokens: 10,
    quoted: 0,
    numbers: undefined,
  });
  const base = block('nothing of it was said');

  it.each<[string, Partial<Standing>, TextBlock?]>([
    ['it shares words with the focus', {}, block('nothing of migrate was said')],
    ['it was quoted', {}, { ...base, quoted: 1 }],
    ['its file was named', { isNamed: true }],
    ['its read was short', { tokens: 50 }],
  ])('is higher where %s', (_, changes, changed = base) => {
    const [plain = 0, other = 0] = relevanceOf(
      [
        { block: base, standing },
        { block: changed, standing: { ...standing, ...changes } },
      ],
      focus,
    );
    expect(other).toBeGreaterThan(plain);
  });

  it.each<[string, Partial<Standing>]>([
    ['nobody touched its file for long', { turns: 20 }],
    ['it was put out by a command', { kind: 'command' }],
    ['the agent wrote it', { kind: 'write', type: 'toolParameters' }],
  ])('is lower where %s', (_, changes) => {
    const [plain = 0, other = 0] = relevanceOf(
      [
        { block: base, standing },
        { block: base, standing: { ...standing, ...changes } },
      ],
      focus,
    );
    expect(other).toBeLessThan(plain);
  });
});
