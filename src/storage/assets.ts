import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createO200kCounter } from '../core/tokens/o200k/counter';
import type { TokenCounter } from '../core/tokens/types';

const RANK_TABLE_FILE_NAME = 'o200k.bin';

const counterByFolder = new Map<string, Promise<TokenCounter>>();

/**
 * Loads the counter once per process.
 * @throws Error with instructions if the table is missing or damaged; the next call tries again
 */
export function loadTokenCounter(folder: string): Promise<TokenCounter> {
  const file = join(folder, RANK_TABLE_FILE_NAME);
  const existing = counterByFolder.get(file);
  if (existing) return existing;
  const counter = readTokenCounter(file);
  counterByFolder.set(file, counter);
  counter.catch(() => counterByFolder.delete(file));
  return counter;
}

async function readTokenCounter(file: string): Promise<TokenCounter> {
  try {
    const counter = createO200kCounter(await readFile(file));
    // Loading blocks the thread for a while, so other work goes first.
    await nextTurn();
    return counter;
  } catch (error) {
    throw new Error(`The token table ${file} can’t be read. Build or install the product again.`, { cause: error });
  }
}
