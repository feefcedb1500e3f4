/** Offsets in UTF-16 units; `end` is exclusive. */
export interface Slice {
  readonly start: number;
  readonly end: number;
}

export const compareStart = (a: Slice, b: Slice): number => a.start - b.start;
