import { setImmediate as nextTurn } from 'node:timers/promises';

/** Waits for a condition, limited by the test's timeout. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await nextTurn();
}
