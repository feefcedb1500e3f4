import type { ApiMessage } from '../core/messages/types';

/** Whether two values of the kinds that JSON has are the same, key order apart. */
function isSame(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a)) return Array.isArray(b) && a.length === b.length && a.every((item, at) => isSame(item, b[at]));
  if (Array.isArray(b)) return false;
  const keys = Object.keys(a);
  // Own properties only: a key of the one that the other inherits is none of its own.
  return (
    keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && isSame(a[key as keyof typeof a], b[key as keyof typeof b]))
  );
}

/**
 * How many messages two conversations begin with in common. An agent sends new objects with each request; what was worked
 * out for the old ones (tokens, keys, contents) is found again by using those in their place. Comparing is much faster
 * than hashing.
 */
export function commonPrefix(known: readonly ApiMessage[], sent: readonly ApiMessage[]): number {
  const most = Math.min(known.length, sent.length);
  let at = 0;
  while (at < most && isSame(known[at], sent[at])) at++;
  return at;
}
