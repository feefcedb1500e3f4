/**
 * In the long lane (`npm run test:long`, which sets LONG_TESTS) tests run all cases instead of a
 * selection.
 */
export const isLong = process.env['LONG_TESTS'] === '1';

/**
 * Selects one of this many pairs, so that each element meets many of the other list; all in the
 * long lane.
 */
export const isTried = (row: number, column: number, oneOf: number): boolean => isLong || (row + column) % oneOf === 0;

/** Steps before which a process is killed: odd and even ones alternately; all in the long lane. */
export const stepsTried = (count: number): number[] =>
  Array.from({ length: count }, (_, step) => step).filter((step) => isTried(step, step >> 2, 2));
