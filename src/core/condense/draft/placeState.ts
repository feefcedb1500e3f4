import type { Place } from '../../messages/types';
import type { Slice } from '../../slice';
import type { Cut } from '../edits/edits';

/** A place of which something was cut, as it now stands. */
export interface PlaceState {
  readonly place: Place;
  readonly original: string;
  readonly cuts: readonly Cut[];
  /** The original with the cuts made. */
  readonly text: string;
  /** False once a cut took out what stands only in the reference store. */
  readonly strict: boolean;
}

/**
 * Gives the slice of the original behind a slice of the view; a marker that it touches belongs to it whole. Asked for
 * slices in order, it passes over the cuts once.
 */
export function originalRanges({ cuts }: PlaceState): (slice: Slice) => Slice {
  let next = 0;
  // Where the last passed cut ends, in the original and in the view.
  let at = 0;
  let viewAt = 0;
  /** Passes the cuts whose text ends before a place in the view; gives the cut that has the place in its text. */
  const passTo = (place: number, isEnd: boolean): Cut | undefined => {
    for (let cut = cuts[next]; cut; cut = cuts[++next]) {
      const start = viewAt + cut.start - at;
      const end = start + cut.text.length;
      if (isEnd ? place <= start : place < start) return undefined;
      if (isEnd ? place <= end : place < end) return cut;
      at = cut.end;
      viewAt = end;
    }
    return undefined;
  };
  return (slice) => {
    const first = passTo(slice.start, false);
    const start = first ? first.start : at + slice.start - viewAt;
    const last = passTo(slice.end, true);
    return { start, end: last ? last.end : at + slice.end - viewAt };
  };
}

/** Both lists in order; an old cut that lies inside a new one is part of it, and makes it recoverable if it was. */
export function mergeCuts(old: readonly Cut[], made: readonly Cut[]): Cut[] {
  const merged: Cut[] = [];
  let next = 0;
  for (const cut of made) {
    while (next < old.length && (old[next]?.start ?? 0) < cut.start) merged.push(old[next++] as Cut);
    let recoverable = cut.recoverable === true;
    for (; next < old.length && (old[next]?.end ?? 0) <= cut.end; next++)
      recoverable ||= old[next]?.recoverable === true;
    merged.push(recoverable && !cut.recoverable ? { ...cut, recoverable } : cut);
  }
  return [...merged, ...old.slice(next)];
}
