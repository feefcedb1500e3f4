/** Shared, since most stored lists are empty. */
const EMPTY_LIST: readonly never[] = [];

/** A list that grew keeps capacity for sixteen more elements; a copy does not. */
export const copyWithoutSpareCapacity = <T>(list: readonly T[]): readonly T[] =>
  list.length === 0 ? EMPTY_LIST : list.slice();
