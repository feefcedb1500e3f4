import { setImmediate as nextTurn } from 'node:timers/promises';

/** Waits for something that other code does; the test's own time limit ends it. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await nextTurn();
}
