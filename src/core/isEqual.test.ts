import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { isEqual } from './isEqual';

const numbers = fc.oneof(fc.integer(), fc.constantFrom(-0, NaN, Infinity));
const { tree } = fc.letrec((tie) => ({
  leaf: fc.oneof(numbers, fc.string({ maxLength: 2 }), fc.boolean(), fc.constant(null)),
  tree: fc.oneof(
    { maxDepth: 3 },
    tie('leaf'),
    fc.array(tie('tree'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom('a', 'b', '__proto__', 'toString'), fc.oneof(tie('tree'), fc.constant(undefined))),
  ),
}));
const written = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

it('two values count as equal exactly if their JSON is equal', () => {
  fc.assert(
    fc.property(tree, tree, (a, b) => {
      expect(isEqual(a, b)).toBe(isDeepStrictEqual(written(a), written(b)));
      expect(isEqual(a, written(a))).toBe(true);
    }),
  );
});

it.each([
  [{ a: 1, b: [2] }, { b: [2], a: 1 }, true],
  [{ a: undefined }, {}, true],
  [{ a: null }, {}, false],
  [{ a: undefined, b: 1 }, { c: 1 }, false],
  [{}, { toString: 1 }, false],
  [[], {}, false],
  [undefined, null, false],
])('%o and %o count as equal: %s', (a, b, equal) => {
  expect([isEqual(a, b), isEqual(b, a)]).toEqual([equal, equal]);
});
