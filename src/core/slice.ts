/** A slice of a string by its offsets, in UTF-16 units; `end` lies behind its last character. */
export interface Slice {
  readonly start: number;
  readonly end: number;
}

/** Sorts slices as they stand in the string. */
export const byStart = (a: Slice, b: Slice): number => a.start - b.start;
