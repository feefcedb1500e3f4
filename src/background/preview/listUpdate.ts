/**
 * Threads exchange only the new elements of a list. Elements are immutable, so identity means
 * equality.
 */
import type { ListUpdate } from './messages';

/** Returns undefined if the lists are equal. */
export function computeListUpdate<T>(oldList: readonly T[], newList: readonly T[]): ListUpdate<T> | undefined {
  const shorterLength = Math.min(oldList.length, newList.length);
  let keptCount = 0;
  while (keptCount < shorterLength && oldList[keptCount] === newList[keptCount]) keptCount++;
  return keptCount === oldList.length && keptCount === newList.length
    ? undefined
    : { kept: keptCount, added: newList.slice(keptCount) };
}

/** Returns the same array if nothing changes. */
export function applyListUpdate<T>(oldList: readonly T[], { kept, added }: ListUpdate<T>): readonly T[] {
  return kept === oldList.length && added.length === 0 ? oldList : [...oldList.slice(0, kept), ...added];
}

export const makeUnchangedListUpdate = <T>(list: readonly T[]): ListUpdate<T> => ({ kept: list.length, added: [] });
