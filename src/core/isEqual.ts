/**
 * Compares values as JSON: an undefined member counts as absent, -0 as 0, NaN and infinities as
 * null. node:util's `isDeepStrictEqual` is missing in the panel's page and takes twice as long.
 */
export function isEqual(a: unknown, b: unknown): boolean {
  if (a === b || (isWrittenAsNull(a) && isWrittenAsNull(b))) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a)) return Array.isArray(b) && a.length === b.length && a.every((item, at) => isEqual(item, b[at]));
  if (Array.isArray(b)) return false;
  const [first, second] = [a as Readonly<Record<string, unknown>>, b as Readonly<Record<string, unknown>>];
  let fieldCountDifference = 0;
  for (const key of Object.keys(first)) {
    if (first[key] === undefined) continue;
    if (!Object.hasOwn(second, key) || !isEqual(first[key], second[key])) return false;
    fieldCountDifference++;
  }
  for (const key of Object.keys(second)) if (second[key] !== undefined) fieldCountDifference--;
  return fieldCountDifference === 0;
}

const isWrittenAsNull = (value: unknown): boolean =>
  value === null || (typeof value === 'number' && !Number.isFinite(value));
