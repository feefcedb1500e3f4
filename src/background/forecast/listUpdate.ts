/** Lists that cross a thread: only what is new of them does. Elements are never changed, so the same object is the same. */
import type { ListUpdate } from './messages';

/** The update that turns one list into the other; undefined if they are equal. */
export function computeUpdate<T>(before: readonly T[], after: readonly T[]): ListUpdate<T> | undefined {
  const most = Math.min(before.length, after.length);
  let kept = 0;
  while (kept < most && before[kept] === after[kept]) kept++;
  return kept === before.length && kept === after.length ? undefined : { kept, added: after.slice(kept) };
}

/** The list as the update makes it; the same array where it changes nothing. */
export function updated<T>(before: readonly T[], { kept, added }: ListUpdate<T>): readonly T[] {
  return kept === before.length && added.length === 0 ? before : [...before.slice(0, kept), ...added];
}

/** An update that changes nothing. */
export const unchanged = <T>(list: readonly T[]): ListUpdate<T> => ({ kept: list.length, added: [] });
