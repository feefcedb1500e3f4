import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { replaceValueAt } from '../messages/path';
import type { Path } from '../messages/types';
import { getJsonAt, rewriteJson } from './rewriteJson';
import { unusualJsonArbitrary, jsonArbitrary, jsonSpaceArbitrary } from './testing';

const pathsIn = (value: unknown, path: Path = []): Path[] => {
  const below = Array.isArray(value)
    ? value.flatMap((item, index) => pathsIn(item, [...path, index]))
    : typeof value === 'object' && value !== null
      ? Object.entries(value).flatMap(([name, item]) => pathsIn(item, [...path, name]))
      : [];
  return [path, ...below];
};

/** Converts a value to JSON and back. */
const convertToJsonValue = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

const member = (text: string, path: Path): string | undefined => getJsonAt(text, path);

describe('rewriting JSON text for a changed value', () => {
  it('returns unchanged JSON byte for byte', () => {
    fc.assert(fc.property(unusualJsonArbitrary, (text) => rewriteJson(text, JSON.parse(text)) === text));
  });

  it('changes one value and keeps everything around it, anywhere in unusually formatted JSON', () => {
    fc.assert(
      fc.property(unusualJsonArbitrary, fc.nat(), (text, which) => {
        const value: unknown = JSON.parse(text);
        const paths = pathsIn(value).filter((path) => path.length > 0);
        const path = paths[which % Math.max(1, paths.length)];
        if (!path) return;
        const after = replaceValueAt(value, path, 'changed');
        const made = rewriteJson(text, after);
        expect(convertToJsonValue(JSON.parse(made))).toEqual(convertToJsonValue(after));
        const start = text.indexOf(member(text, path) ?? '');
        expect(start).toBeGreaterThanOrEqual(0);
        for (const other of paths.filter((each) => each.length === 1 && each[0] !== path[0])) {
          expect(member(made, other)).toBe(member(text, other));
        }
      }),
    );
  });

  it('removes and inserts list elements, and keeps the bytes of the remaining ones', () => {
    const lists = fc.tuple(
      fc.uniqueArray(jsonArbitrary, { maxLength: 8, selector: (text) => JSON.stringify(JSON.parse(text)) }),
      jsonSpaceArbitrary,
    );
    fc.assert(
      fc.property(lists, fc.array(fc.nat(9)), ([items, gap], order) => {
        const text = `[${gap}${items.join(`${gap},${gap}`)}${gap}]`;
        const values = JSON.parse(text) as unknown[];
        const after = order.map((index) => (index < values.length ? values[index] : { added: index }));
        const origins = order.map((index) => (index < values.length ? index : undefined));
        const made = rewriteJson(text, after, () => origins);
        const kept = order.map((index) => items[index] ?? JSON.stringify({ added: index }));
        expect(after.map((_, at) => member(made, [at]))).toEqual(kept);
      }),
    );
  });

  it.each([
    ['{"n": 12345678901234567890, "t":"a"}', { t: 'b' }, '{"n": 12345678901234567890, "t":"b"}'],
    ['{"n":1e400,"n":1e401,"t":"a"}', { t: 'b' }, '{"n":1e400,"n":1e401,"t":"b"}'],
    ['{"a":1.10,"t":"x"}', { added: [1] }, '{"a":1.10,"t":"x","added":[1]}'],
    ['{"a":1.10,"t":"x"}', { t: undefined }, '{"a":1.10}'],
    ['{"t":"a","t":"b","n":1.0}', { t: 'c' }, '{"t":"a","t":"c","n":1.0}'],
  ])('writes into %s the change %j, giving %s', (text, change, expected) => {
    expect(rewriteJson(text, { ...(JSON.parse(text) as object), ...change })).toBe(expected);
  });

  it('recognizes moved messages by their IDs and contents', () => {
    const text =
      '[{"role":"user","content":"a","x":1.0},{"role":"assistant","content":[{"id":"c1","input":{"n":12345678901234567890}}]}]';
    const [first, second] = JSON.parse(text) as [object, object];
    const made = rewriteJson(text, [
      { ...first, parent: 1 },
      { ...second, parent: 1 },
      { ...first, ts: 5 },
      { ...second, content: [{ id: 'c1', input: { n: Number('12345678901234567890'), s: 'cut' } }] },
    ]);
    expect(made).toBe(
      '[{"role":"user","content":"a","x":1.0,"parent":1},{"role":"assistant","content":[{"id":"c1","input":{"n":12345678901234567890}}],"parent":1},' +
        '{"role":"user","content":"a","x":1.0,"ts":5},{"role":"assistant","content":[{"id":"c1","input":{"n":12345678901234567890,"s":"cut"}}]}]',
    );
  });
});
