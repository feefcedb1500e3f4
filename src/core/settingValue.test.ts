import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  applyListChange,
  listEntryNames,
  replaceIndexesByNames,
  SettingPathError,
  replaceNamesByIndexes,
  replaceSettingValueAt,
  type ListChange,
} from './settingValue';

const list = (...ids: readonly string[]) => ids.map((id) => ({ id }));
const ids = (entries: readonly unknown[]): string => (entries as { id?: string }[]).map(({ id }) => id ?? '-').join();
const name = (id: string, nth = 0) => ({ id, nth });

describe('the name of an entry in a list setting', () => {
  const config = { passes: [{ id: 'a' }, { id: 'b', or: [{}, {}] }, { id: 'a' }, {}] };

  it('consists of its ID and its position among entries with the same ID', () => {
    expect(replaceIndexesByNames(config, ['passes', 2, 'id'])).toEqual(['passes', name('a', 1), 'id']);
    expect(replaceNamesByIndexes(config, ['passes', name('a', 1), 'id'])).toEqual(['passes', 2, 'id']);
    // An index stays if its entry has no ID or does not exist.
    expect(replaceIndexesByNames(config, ['passes', 1, 'or', 1])).toEqual(['passes', name('b'), 'or', 1]);
    expect(replaceIndexesByNames(config, ['passes', 3])).toEqual(['passes', 3]);
    expect(replaceIndexesByNames(config, ['passes', 4])).toEqual(['passes', 4]);
  });

  it('leads to the entry at its current position, or to a report that it is missing', () => {
    const moved = { passes: [{ id: 'x' }, { id: 'b' }, { id: 'a' }] };
    expect(replaceNamesByIndexes(moved, ['passes', name('b'), 'name'])).toEqual(['passes', 1, 'name']);
    expect(() => replaceNamesByIndexes(moved, ['passes', name('c')])).toThrow(SettingPathError);
    expect(() => replaceNamesByIndexes({}, ['passes', name('c')])).toThrow(SettingPathError);
  });
});

describe('changing a list setting', () => {
  it.each<[string, ListChange, string]>([
    ['at the end', { kind: 'insert', entry: { id: 'n' }, place: {} }, 'a,b,c,n'],
    ['beside an entry', { kind: 'insert', entry: { id: 'n' }, place: { after: name('a') } }, 'a,n,b,c'],
    ['at the end if that is gone', { kind: 'insert', entry: { id: 'n' }, place: { before: name('z') } }, 'a,b,c,n'],
    ['once', { kind: 'insert', entry: { id: 'b' }, place: {} }, 'a,b,c'],
    ['by moving up', { kind: 'move', entry: name('c'), place: { before: name('a') } }, 'c,a,b'],
    ['by moving down', { kind: 'move', entry: name('a'), place: { after: name('b') } }, 'b,a,c'],
    ['by removing', { kind: 'remove', entry: name('b') }, 'a,c'],
  ])('moves, adds or removes an entry: %s', (_how, change, after) => {
    expect(ids(applyListChange(list('a', 'b', 'c'), change).list)).toBe(after);
  });

  it('can add a copy of the current entry', () => {
    const change: ListChange = { kind: 'insert', entry: { id: 'n' }, copyOf: name('a'), place: { after: name('a') } };
    expect(applyListChange([{ id: 'a', mode: 'x' }], change).list).toEqual([
      { id: 'a', mode: 'x' },
      { id: 'n', mode: 'x' },
    ]);
    expect(() => applyListChange([], change)).toThrow('no longer there');
  });

  it('can be undone exactly, whatever changed later', () => {
    const anyList = fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g'), { minLength: 1, maxLength: 7 });
    const place = (entries: readonly string[]) =>
      fc.oneof(
        fc.constant({}),
        fc.constantFrom(...entries).map((id) => ({ before: name(id) })),
        fc.constantFrom(...entries).map((id) => ({ after: name(id) })),
      );
    const anyChange = (entries: readonly string[]): fc.Arbitrary<ListChange> =>
      fc.oneof(
        place(entries).map((at): ListChange => ({ kind: 'insert', entry: { id: 'new' }, place: at })),
        fc.constantFrom(...entries).map((id): ListChange => ({ kind: 'remove', entry: name(id) })),
        fc
          .tuple(fc.constantFrom(...entries), place(entries))
          .map(([id, at]): ListChange => ({ kind: 'move', entry: name(id), place: at })),
      );
    const any = anyList.chain((entries) => fc.tuple(fc.constant(entries), anyChange(entries)));
    fc.assert(
      fc.property(any, ([entries, change]) => {
        const before = list(...entries);
        const { list: after, undo } = applyListChange(before, change);
        expect(undo ? applyListChange(after, undo).list : after).toEqual(before);
        const withMore = undo ? applyListChange([...after, { id: 'later' }], undo).list : [];
        if (undo) expect(ids(withMore).split(',').toSorted()).toEqual([...entries, 'later'].toSorted());
      }),
    );
  });

  it('gives each entry a name of its own', () => {
    expect(listEntryNames([{ id: 'a' }, {}, { id: 'a' }, 7])).toEqual([name('a'), name(''), name('a', 1), name('', 1)]);
  });
});

it('setting a nested value creates its path, and removing it removes empty parents', () => {
  expect(replaceSettingValueAt({ a: { b: 1 }, c: 2 }, ['a', 'b'], undefined)).toEqual({ c: 2 });
  expect(replaceSettingValueAt(undefined, ['a', 0, 'b'], 1)).toEqual({ a: [{ b: 1 }] });
  expect(() => replaceSettingValueAt({ a: [] }, ['a', 3], 1)).toThrow(SettingPathError);
  expect(() => replaceSettingValueAt({}, ['__proto__'], 1)).toThrow(SettingPathError);
});
