import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { getValueAt, replaceValueAt } from '../messages/path';
import type { Path } from '../messages/types';
import { editJson, JsonPathError } from './editJson';
import { unusualJsonArbitrary as document, jsonArbitrary, jsonSpaceArbitrary } from './testing';

/** Returns the paths of all nested values, including the value itself. */
function listPaths(value: unknown, path: Path = []): Path[] {
  const below = Array.isArray(value)
    ? value.flatMap((item, index) => listPaths(item, [...path, index]))
    : typeof value === 'object' && value !== null
      ? Object.keys(value).flatMap((name) => listPaths((value as Record<string, unknown>)[name], [...path, name]))
      : [];
  return [path, ...below];
}

const ranges = (text: string, changed: string): [string, string] => {
  let start = 0;
  while (start < text.length && text[start] === changed[start]) start++;
  let end = 0;
  const most = Math.min(text.length, changed.length) - start;
  while (end < most && text.at(-1 - end) === changed.at(-1 - end)) end++;
  return [text.slice(start, text.length - end), changed.slice(start, changed.length - end)];
};

describe('editing JSON text', () => {
  it('returns the text unchanged if there are no edits', () => {
    fc.assert(fc.property(document, (text) => editJson(text, []) === text));
  });

  it('changes only the string at the given path', () => {
    fc.assert(
      fc.property(document, fc.string({ unit: 'binary' }), fc.nat(), (text, string, which) => {
        const value: unknown = JSON.parse(text);
        const paths = listPaths(value).filter((path) => typeof getValueAt(value, path) === 'string');
        fc.pre(paths.length > 0);
        const path = paths[which % paths.length]!;
        const edited = editJson(text, [{ path, string }]);
        expect(JSON.parse(edited)).toEqual(replaceValueAt(value, path, string));
        // The texts differ only within one string, which was replaced as a whole.
        const [before, after] = ranges(text, edited);
        const at = text.length - before.length;
        expect(at).toBeGreaterThanOrEqual(0);
        expect(JSON.stringify(string)).toContain(after.replace(/^"|"$/g, ''));
      }),
    );
  });

  it('applies several edits at once as if they were applied one after the other', () => {
    fc.assert(
      fc.property(document, fc.array(fc.nat(), { maxLength: 5 }), (text, which) => {
        const value: unknown = JSON.parse(text);
        const paths = listPaths(value).filter((path) => typeof getValueAt(value, path) === 'string');
        fc.pre(paths.length > 0);
        const chosen = [...new Set(which.map((n) => n % paths.length))].map((n) => paths[n]!);
        const edits = chosen.map((path, n) => ({ path, string: `"${n}\\` }));
        const once = editJson(text, edits);
        expect(once).toBe(edits.reduce((done, edit) => editJson(done, [edit]), text));
        expect(JSON.parse(once)).toEqual(
          edits.reduce((done, { path, string }) => replaceValueAt(done, path, string), value),
        );
      }),
    );
  });

  it('replaces and removes values', () => {
    fc.assert(
      fc.property(document, fc.nat(), (text, which) => {
        const value: unknown = JSON.parse(text);
        const paths = listPaths(value);
        const path = paths[which % paths.length]!;
        expect(JSON.parse(editJson(text, [{ path, json: '{"new": [1]}' }]))).toEqual(
          replaceValueAt(value, path, { new: [1] }),
        );
        if (path.length === 0) return;
        const name = path.at(-1)!;
        const holder = getValueAt(value, path.slice(0, -1));
        const less = Array.isArray(holder)
          ? holder.toSpliced(Number(name), 1)
          : Object.fromEntries(Object.entries(holder as object).filter(([other]) => other !== name));
        expect(JSON.parse(editJson(text, [{ path, removed: true }]))).toEqual(
          replaceValueAt(value, path.slice(0, -1), less),
        );
      }),
    );
  });

  it('removes any elements of a list', () => {
    fc.assert(
      fc.property(
        fc.array(jsonArbitrary, { maxLength: 8 }),
        jsonSpaceArbitrary,
        fc.array(fc.nat(7)),
        (items, gap, which) => {
          const text = `[${gap}${items.join(`${gap},${gap}`)}${gap}]`;
          const gone = new Set(which.filter((index) => index < items.length));
          const edits = [...gone].map((index) => ({ path: [index], removed: true }) as const);
          const kept = (JSON.parse(text) as unknown[]).filter((_, index) => !gone.has(index));
          expect(JSON.parse(editJson(text, edits))).toEqual(kept);
        },
      ),
    );
  });

  it('edits the last of several equal keys, however it is escaped', () => {
    const text = '{"a":"one", "\\u0061":"two","n":12345678901234567890}';
    expect(editJson(text, [{ path: ['a'], string: 'three' }])).toBe(
      '{"a":"one", "\\u0061":"three","n":12345678901234567890}',
    );
    expect(editJson(text, [{ path: ['a'], removed: true }])).toBe('{"n":12345678901234567890}');
  });

  it('handles any depth without recursion', () => {
    const deep = 200_000;
    const text = `{"deep":${'['.repeat(deep)}"\\\\"${']'.repeat(deep)},"last":"x"}`;
    expect(editJson(text, [{ path: ['last'], string: 'y' }])).toBe(`${text.slice(0, -3)}y"}`);
  });

  it('names the path that does not exist', () => {
    const edit = (path: Path) => () => editJson('{"a":[1,"b"],"c":{"d":null}}', [{ path, string: 'x' }]);
    expect(edit(['a', 2])).toThrow(JsonPathError);
    expect(edit(['a', 0])).toThrow('a string expected at a.0');
    expect(edit(['c', 'e'])).toThrow('a value expected at c.e');
    expect(edit(['c', 'd', 'e'])).toThrow('an object or an array expected at c.d');
    expect(edit(['hasOwnProperty'])).toThrow(JsonPathError);
  });
});
