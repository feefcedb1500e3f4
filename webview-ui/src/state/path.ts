/** A path inside plain values. */
export type Path = readonly (string | number)[];

export const formatPath = (path: Path): string => path.join('.');

/** Returns undefined if the path leads nowhere. */
export function getValueAt(root: unknown, path: Path): unknown {
  let value = root;
  for (const key of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as Record<string | number, unknown>)[key];
  }
  return value;
}
