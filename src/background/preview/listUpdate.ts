/**
 * Threads exchange only the new elements of a list. Elements are immutable, so identity means
 * equality.
 */
import type { ListUpdate } from './messages';

/** Returns undefined if the lists are equal. */
export function computeListUpdate<T>(before: readonly T[], after: readonly T[]): ListUpdate<T> | undefined {
  const shorter = Math.min(before.length, after.length);
  let kept = 0;
  while (kept < shorter && before[kept] === after[kept]) kept++;
  return kept === before.length && kept === after.length ? undefined : { kept, added: after.slice(kept) };
}

/** Returns the same array if nothing changes. */
export function applyListUpdate<T>(before: readonly T[], { kept, added }: ListUpdate<T>): readonly T[] {
  return kept === before.length && added.length === 0 ? before : [...before.slice(0, kept), ...added];
}

export const makeUnchangedListUpdate = <T>(list: readonly T[]): ListUpdate<T> => ({ kept: list.length, added: [] });
