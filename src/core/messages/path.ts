import type { Path } from './types';

type Container = Readonly<Record<string | number, unknown>>;

/** The value at a path, or undefined where the path leads nowhere. Own properties only. */
export function valueAt(root: unknown, path: Path): unknown {
  let value: unknown = root;
  for (const key of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as Container)[key];
  }
  return value;
}

/**
 * A copy of `root` with the value at `path` replaced; all that lies beside the path is shared with the original.
 * @throws Error where the path doesn't lead to an existing value.
 */
export function withValueAt<T>(root: T, path: Path, value: unknown): T {
  const [key, ...rest] = path;
  if (key === undefined) return value as T;
  const isThere =
    typeof root === 'object' &&
    root !== null &&
    Object.hasOwn(root, key) &&
    // An array has its length as an own property, too.
    (!Array.isArray(root) || typeof key === 'number');
  if (!isThere) {
    throw new Error(`no value at ${path.join('.')}`);
  }
  const changed = withValueAt((root as Container)[key], rest, value);
  if (Array.isArray(root)) return root.with(key as number, changed) as T;
  const copy = { ...root } as Record<string | number, unknown>;
  // An assigned "__proto__" (an own one is valid JSON) would be a prototype; any other key keeps the object's shape so.
  if (key !== '__proto__') copy[key] = changed;
  else Object.defineProperty(copy, key, { value: changed, enumerable: true, configurable: true, writable: true });
  return copy as T;
}

/** Whether two paths lead to the same value. */
export const isSamePath = (a: Path, b: Path): boolean =>
  a === b || (a.length === b.length && a.every((key, at) => key === b[at]));
