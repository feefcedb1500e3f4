import fc from 'fast-check';
import { expect, it } from 'vitest';
import { inOneGo } from '../pace';
import { finding } from './windows';

it('a word is found in steps where indexOf finds it, wherever the steps part', () => {
  const letters = fc.string({ unit: fc.constantFrom('a', 'b', '\n'), maxLength: 40 });
  const word = fc.string({ unit: fc.constantFrom('a', 'b'), minLength: 1, maxLength: 4 });
  fc.assert(
    fc.property(letters, word, fc.nat(45), fc.integer({ min: 1, max: 9 }), (text, word, from, chars) => {
      expect(inOneGo(finding(text, word, from, chars))).toBe(text.indexOf(word, from));
    }),
  );
});

it('a long text is searched in steps', () => {
  let steps = 0;
  for (const search = finding('ab'.repeat(50), 'x', 0, 10); search.next().done !== true;) steps++;
  expect(steps).toBe(10);
});
