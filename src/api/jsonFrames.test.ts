import { describe, expect, it } from 'vitest';
import { containsLargeText, LargeTextPlaceholders, LARGE_TEXT_CHARS, sliceText } from './jsonFrames';

const large = (piece: string): string => piece.repeat(Math.ceil((3 * LARGE_TEXT_CHARS) / piece.length));

const jsonPieces = (value: unknown): Iterable<string> => {
  const frames = new LargeTextPlaceholders();
  return frames.writeJsonInPieces(JSON.stringify(frames.insertPlaceholders(value)));
};

const VALUES: readonly unknown[] = [
  'short',
  { a: 1, b: [null, true, 'x'], c: undefined },
  large('a'),
  [large('"\\\n\u0001'), 'between', large('🎉'), large('ab')],
  { when: new Date(0), bytes: Buffer.from('ab'), own: { toJSON: () => 'own' }, text: large('a') },
  JSON.parse(`{"__proto__": {"a": "${large('a')}"}, "2": 1, "1": [null], "toJSON": "words"}`),
  { text: large('a'), none: undefined, list: [undefined, () => 1, Number.NaN, -0] },
  { 'a "key"': large('\ud83d'), 1: { deep: [large('é'), { again: large('é') }] }, text: 'ends with 🎉' },
];

describe('JSON written in pieces', () => {
  it.each(VALUES)("equals JSON.stringify's output byte for byte", (value) => {
    const pieces = [...jsonPieces(value)];
    expect(pieces.join('') === JSON.stringify(value)).toBe(true);
    // JSON needs at most six UTF-16 units for one (`\u0000`).
    expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThanOrEqual(6 * LARGE_TEXT_CHARS);
  });

  it('may be nested as deeply as JSON.stringify allows', () => {
    let deep: unknown = large('a');
    for (let level = 0; level < 3_000; level++) deep = level % 2 === 0 ? [deep] : { deep };
    expect([...jsonPieces(deep)].join('') === JSON.stringify(deep)).toBe(true);
  });

  it('keeps a text that merely looks like the placeholder of another text', () => {
    const frames = new LargeTextPlaceholders();
    const [name] = frames.insertPlaceholders([large('a')]);
    const value = [name, large('b'), `${name}"`, name.toUpperCase(), { [name]: name }];
    expect([...jsonPieces(value)].join('') === JSON.stringify(value)).toBe(true);
  });

  it('fails if the placeholder of a large text was changed before the text was filled in', () => {
    const frames = new LargeTextPlaceholders();
    const json = JSON.stringify(frames.insertPlaceholders([large('a')]));
    expect(() => [...frames.writeJsonInPieces(json.replace('-0"', '-0…"'))]).toThrow('lost its place');
  });

  it('leaves a value without large texts unchanged', () => {
    const value = { a: ['x'] };
    expect(new LargeTextPlaceholders().insertPlaceholders(value)).toBe(value);
  });
});

describe('large texts in a JSON value', () => {
  it('are sliced between characters, never inside a surrogate pair', () => {
    for (const text of ['', 'abcde', '🎉🎉🎉', 'a🎉b🎉', '\ud83d\ud83d\ud83d']) {
      const slices = [...sliceText(text, 3)];
      expect(slices.join('')).toBe(text);
      expect(slices.every((slice) => slice.length <= 3)).toBe(true);
      if (text.isWellFormed()) expect(slices.every((slice) => slice.isWellFormed())).toBe(true);
    }
  });

  it('are found at any depth', () => {
    const large = 'x'.repeat(LARGE_TEXT_CHARS);
    let deep: unknown = large;
    for (let level = 0; level < 50_000; level++) deep = level % 2 === 0 ? [deep] : { deep };
    expect(containsLargeText(deep)).toBe(true);
    expect(containsLargeText({ a: [null, undefined, 1, { b: 'short' }] })).toBe(false);
  });
});
