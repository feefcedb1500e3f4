/** Shared, since most stored lists are empty. */
const EMPTY_LIST: readonly never[] = [];

/** Copies a list for storage, since a grown array keeps capacity for sixteen more elements. */
export const trimList = <T>(list: readonly T[]): readonly T[] => (list.length === 0 ? EMPTY_LIST : list.slice());
