import fc from 'fast-check';
import { expect, it } from 'vitest';
import { makeUnchangedListUpdate, applyListUpdate, computeListUpdate } from './listUpdate';

const list = fc.array(fc.integer({ min: 0, max: 3 }), { maxLength: 12 });

it("an update of the preview's list turns the old list into the new one, and is undefined if they are equal", () => {
  fc.assert(
    fc.property(list, list, (before, after) => {
      const update = computeListUpdate(before, after);
      expect(update === undefined).toBe(JSON.stringify(before) === JSON.stringify(after));
      expect(applyListUpdate(before, update ?? makeUnchangedListUpdate(before))).toEqual(after);
    }),
  );
});

it("an update of the preview's list contains only added elements and keeps an unchanged array", () => {
  const before = [1, 2, 3];
  expect(computeListUpdate(before, [...before, 4])).toEqual({ kept: 3, added: [4] });
  expect(computeListUpdate(before, [1])).toEqual({ kept: 1, added: [] });
  expect(applyListUpdate(before, makeUnchangedListUpdate(before))).toBe(before);
});
