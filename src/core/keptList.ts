/** Most lists that are kept for each message have nothing: one list for all of them. */
const NONE: readonly never[] = [];

/** The list as it is kept for long: one that has grown leaves room for sixteen more entries, more than most ever hold. */
export const keptList = <T>(list: readonly T[]): readonly T[] => (list.length === 0 ? NONE : list.slice());
