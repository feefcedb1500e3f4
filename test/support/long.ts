/**
 * True in `npm run test:long`, which sets LONG_TESTS: tests then run all cases instead of a
 * selection.
 */
export const isLong = process.env['LONG_TESTS'] === '1';

/**
 * Selects one of `oneOf` pairs, so that each element is paired with many of the other list; selects
 * all in `npm run test:long`.
 */
export const shouldTry = (row: number, column: number, oneOf: number): boolean =>
  isLong || (row + column) % oneOf === 0;

/**
 * Lists the steps before which a process is killed: odd and even ones alternately, and all in `npm
 * run test:long`.
 */
export const listStepsToTry = (count: number): number[] =>
  Array.from({ length: count }, (_, step) => step).filter((step) => shouldTry(step, step >> 2, 2));
