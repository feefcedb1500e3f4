/**
 * A path names list entries by ID, so that the right entry changes even if the list is different by
 * then.
 */
import * as z from 'zod';

/** The `nth` entry (from 0) with the ID, which is '' for entries without one. */
export const entryNameSchema = z.strictObject({ id: z.string().max(200), nth: z.int().min(0).max(10_000) });
export type ListEntryName = z.output<typeof entryNameSchema>;

export type SettingPath = readonly (string | number)[];
type SettingPathWithNames = readonly (string | number | ListEntryName)[];

const FORBIDDEN_KEYS = new Set<string | number>(['__proto__', 'constructor', 'prototype']);

type MutableContainer = Record<string | number, unknown>;

const isContainer = (value: unknown): value is MutableContainer => typeof value === 'object' && value !== null;

export const isEmptyObject = (value: unknown): boolean =>
  isContainer(value) && !Array.isArray(value) && Object.keys(value).length === 0;

/** Thrown if the path doesn't lead through plain objects and lists. */
export class SettingPathError extends Error {
  override readonly name = 'PathError';
}

/**
 * Creates missing objects. An undefined value removes the key or element, and any objects that
 * become empty.
 * @throws SettingPathError
 */
export function replaceSettingValueAt(root: unknown, path: SettingPath, value: unknown): unknown {
  const [key, ...rest] = path;
  if (key === undefined) return value;
  if (FORBIDDEN_KEYS.has(key)) throw new SettingPathError(`"${key}" is not the name of a setting.`);
  const container = root ?? (typeof key === 'number' ? [] : {});
  if (!isContainer(container) || Array.isArray(container) !== (typeof key === 'number')) {
    throw new SettingPathError(`There is no place "${key}" in the setting as it stands.`);
  }
  const changedValue = replaceSettingValueAt(Object.hasOwn(container, key) ? container[key] : undefined, rest, value);
  const innerValue =
    value === undefined && typeof key === 'string' && isEmptyObject(changedValue) ? undefined : changedValue;
  if (Array.isArray(container)) {
    const list: unknown[] = container;
    if (typeof key !== 'number' || key > list.length) throw new SettingPathError(`The list ends before ${key}.`);
    return innerValue === undefined ? list.toSpliced(key, 1) : list.toSpliced(key, 1, innerValue);
  }
  const otherFields = Object.entries(container).filter(([other]) => other !== key);
  if (innerValue === undefined) return Object.fromEntries(otherFields);
  return Object.hasOwn(container, key)
    ? Object.fromEntries(Object.entries(container).map(([other, old]) => [other, other === key ? innerValue : old]))
    : Object.fromEntries([...otherFields, [key, innerValue]]);
}

const getEntryId = (entry: unknown): string => {
  const id = isContainer(entry) && Object.hasOwn(entry, 'id') ? entry['id'] : undefined;
  return typeof id === 'string' ? id : '';
};

export function listEntryNames(list: readonly unknown[]): readonly ListEntryName[] {
  const counts = new Map<string, number>();
  return list.map((entry) => {
    const id = getEntryId(entry);
    const nth = counts.get(id) ?? 0;
    counts.set(id, nth + 1);
    return { id, nth };
  });
}

const findEntryIndex = (list: readonly unknown[], { id, nth }: ListEntryName): number =>
  listEntryNames(list).findIndex((name) => name.id === id && name.nth === nth);

/**
 * Replaces names by indexes.
 * @throws SettingPathError if an entry is missing
 */
export function replaceNamesByIndexes(root: unknown, path: SettingPathWithNames): SettingPath {
  let value = root;
  return path.map((key) => {
    const keyOrIndex = typeof key !== 'object' ? key : Array.isArray(value) ? findEntryIndex(value, key) : -1;
    if (keyOrIndex === -1) throw new SettingPathError(MISSING_ENTRY_TEXT);
    value = isContainer(value) && Object.hasOwn(value, keyOrIndex) ? value[keyOrIndex] : undefined;
    return keyOrIndex;
  });
}

export function replaceIndexesByNames(root: unknown, path: SettingPath): SettingPathWithNames {
  let value = root;
  return path.map((key) => {
    const list = value;
    value = isContainer(value) && Object.hasOwn(value, key) ? value[key] : undefined;
    const name = Array.isArray(list) && typeof key === 'number' ? listEntryNames(list)[key] : undefined;
    return name === undefined || name.id === '' ? key : name;
  });
}

const MISSING_ENTRY_TEXT = 'It is no longer there: the settings have changed.';

/**
 * The new neighbor of an entry. If the neighbor is missing, the entry goes to the end of the list.
 */
const neighborsSchema = z.union([
  z.strictObject({ before: entryNameSchema }),
  z.strictObject({ after: entryNameSchema }),
  z.strictObject({}),
]);
type NeighborOfEntry = z.output<typeof neighborsSchema>;

export const listChangeSchema = z.discriminatedUnion('kind', [
  /** Changes nothing if the list has an entry with this ID. */
  z.strictObject({
    kind: z.literal('insert'),
    entry: z.record(z.string(), z.unknown()),
    copyOf: entryNameSchema.optional(),
    place: neighborsSchema,
  }),
  z.strictObject({ kind: z.literal('move'), entry: entryNameSchema, place: neighborsSchema }),
  z.strictObject({ kind: z.literal('remove'), entry: entryNameSchema }),
]);
export type ListChange = z.output<typeof listChangeSchema>;

export interface ChangedList {
  readonly list: readonly unknown[];
  /** Reverts exactly this change. */
  readonly undo: ListChange | undefined;
}

/** @throws SettingPathError if the entry is missing */
export function applyListChange(list: readonly unknown[], change: ListChange): ChangedList {
  if (change.kind === 'insert') {
    const { entry, copyOf, place } = change;
    if (list.some((other) => getEntryId(other) === getEntryId(entry) && getEntryId(entry) !== ''))
      return { list, undo: undefined };
    const copiedEntry = copyOf === undefined ? undefined : list[findEntryIndex(list, copyOf)];
    if (copyOf !== undefined && !isContainer(copiedEntry)) throw new SettingPathError(MISSING_ENTRY_TEXT);
    const insertIndex = findInsertIndex(list, place);
    const listWithEntry = list.toSpliced(insertIndex, 0, {
      ...(isContainer(copiedEntry) ? copiedEntry : {}),
      ...entry,
    });
    return { list: listWithEntry, undo: { kind: 'remove', entry: getEntryNameAt(listWithEntry, insertIndex) } };
  }
  const entryIndex = findEntryIndex(list, change.entry);
  if (entryIndex === -1) throw new SettingPathError(MISSING_ENTRY_TEXT);
  const entry = list[entryIndex];
  const listWithoutEntry = list.toSpliced(entryIndex, 1);
  const previousPlace = getNeighborOfEntry(list, entryIndex);
  if (change.kind === 'remove') {
    return {
      list: listWithoutEntry,
      undo: isContainer(entry) ? { kind: 'insert', entry, place: previousPlace } : undefined,
    };
  }
  const listAfter = listWithoutEntry.toSpliced(findInsertIndex(listWithoutEntry, change.place), 0, entry);
  const newIndex = listAfter.indexOf(entry);
  return {
    list: listAfter,
    undo:
      newIndex === entryIndex
        ? undefined
        : { kind: 'move', entry: getEntryNameAt(listAfter, newIndex), place: previousPlace },
  };
}

/** Returns changes that restore an entry after another one with its ID replaced it. */
export function restoreReplacedEntry(list: readonly unknown[], index: number): readonly ListChange[] {
  const entry = list[index];
  if (!isContainer(entry)) return [];
  return [
    { kind: 'remove', entry: getEntryNameAt(list, index) },
    { kind: 'insert', entry, place: getNeighborOfEntry(list, index) },
  ];
}

const getEntryNameAt = (list: readonly unknown[], index: number): ListEntryName =>
  listEntryNames(list)[index] ?? { id: '', nth: 0 };

function getNeighborOfEntry(list: readonly unknown[], index: number): NeighborOfEntry {
  if (index > 0) return { after: getEntryNameAt(list, index - 1) };
  return list.length > 1 ? { before: getEntryNameAt(list, 1) } : {};
}

function findInsertIndex(list: readonly unknown[], place: NeighborOfEntry): number {
  const beforeIndex = 'before' in place ? findEntryIndex(list, place.before) : -1;
  if (beforeIndex >= 0) return beforeIndex;
  const afterIndex = 'after' in place ? findEntryIndex(list, place.after) : -1;
  return afterIndex >= 0 ? afterIndex + 1 : list.length;
}
