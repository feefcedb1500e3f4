/** Reading and changing a place inside a plain value. */

export type Path = readonly (string | number)[];

const FORBIDDEN = new Set<string | number>(['__proto__', 'constructor', 'prototype']);

type Container = Record<string | number, unknown>;

const isContainer = (value: unknown): value is Container => typeof value === 'object' && value !== null;

/** True for `{}` alone; false for lists. */
export const isEmptyObject = (value: unknown): boolean =>
  isContainer(value) && !Array.isArray(value) && Object.keys(value).length === 0;

/** A path that doesn't lead through plain objects and lists. */
export class PathError extends Error {
  override readonly name = 'PathError';
}

/**
 * A copy of `root` with `value` at the path; undefined takes the key out, and an element out of a list, and objects that
 * are empty then go as well. Objects that are missing on the way are made.
 * @throws PathError
 */
export function withValueAt(root: unknown, path: Path, value: unknown): unknown {
  const [key, ...rest] = path;
  if (key === undefined) return value;
  if (FORBIDDEN.has(key)) throw new PathError(`"${key}" is no name of a setting.`);
  const container = root ?? (typeof key === 'number' ? [] : {});
  if (!isContainer(container) || Array.isArray(container) !== (typeof key === 'number')) {
    throw new PathError(`There is no place "${key}" in the setting as it stands.`);
  }
  const changed = withValueAt(Object.hasOwn(container, key) ? container[key] : undefined, rest, value);
  const inner = value === undefined && typeof key === 'string' && isEmptyObject(changed) ? undefined : changed;
  if (Array.isArray(container)) {
    const list: unknown[] = container;
    if (typeof key !== 'number' || key > list.length) throw new PathError(`The list ends before ${key}.`);
    return inner === undefined ? list.toSpliced(key, 1) : list.toSpliced(key, 1, inner);
  }
  const others = Object.entries(container).filter(([other]) => other !== key);
  if (inner === undefined) return Object.fromEntries(others);
  // The place of a key that stood there already is kept.
  return Object.hasOwn(container, key)
    ? Object.fromEntries(Object.entries(container).map(([other, old]) => [other, other === key ? inner : old]))
    : Object.fromEntries([...others, [key, inner]]);
}
