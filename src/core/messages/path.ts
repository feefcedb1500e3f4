import type { Path } from './types';

type JsonContainer = Readonly<Record<string | number, unknown>>;

export function getValueAt(root: unknown, path: Path): unknown {
  let value: unknown = root;
  for (const key of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as JsonContainer)[key];
  }
  return value;
}

/**
 * Copies only the objects along the path.
 * @throws Error if the path does not exist
 */
export function replaceValueAt<T>(root: T, path: Path, value: unknown): T {
  const [key, ...rest] = path;
  if (key === undefined) return value as T;
  const hasKey =
    typeof root === 'object' &&
    root !== null &&
    Object.hasOwn(root, key) &&
    // An array's length is an own property, too.
    (!Array.isArray(root) || typeof key === 'number');
  if (!hasKey) {
    throw new Error(`no value at ${path.join('.')}`);
  }
  const changedValue = replaceValueAt((root as JsonContainer)[key], rest, value);
  if (Array.isArray(root)) return root.with(key as number, changedValue) as T;
  const copy = { ...root } as Record<string | number, unknown>;
  // Assigning "__proto__" (valid in JSON) would set the prototype; other keys preserve the hidden
  // class.
  if (key !== '__proto__') copy[key] = changedValue;
  else Object.defineProperty(copy, key, { value: changedValue, enumerable: true, configurable: true, writable: true });
  return copy as T;
}

export const isSamePath = (a: Path, b: Path): boolean =>
  a === b || (a.length === b.length && a.every((key, at) => key === b[at]));
