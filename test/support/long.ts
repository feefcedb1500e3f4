/** The long lane (`npm run test:long`, which sets LONG_TESTS) runs all of what `npm test` has well-chosen parts of. */
export const isLong = process.env['LONG_TESTS'] === '1';

/**
 * Whether this pair of two lists is tried: one of so many, so that each of both lists is met by many of the other; in the long lane
 * all are.
 */
export const isTried = (row: number, column: number, oneOf: number): boolean => isLong || (row + column) % oneOf === 0;

/** The steps of a process before which it is killed: half of them, in turn the odd and the even ones; in the long lane all. */
export const stepsTried = (count: number): number[] =>
  Array.from({ length: count }, (_, step) => step).filter((step) => isTried(step, step >> 2, 2));
