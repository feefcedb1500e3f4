import type { Stats } from 'node:fs';
import { realpath, rename, rm, stat } from 'node:fs/promises';
import { open } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { splitLocation } from '../conversations/location';
import { errorMessage } from '../core/errors';
import { UsageError } from './args';

/**
 * Where `--out` leads: a file, or a place for one; never the conversation itself, also not through a link.
 * @throws UsageError
 */
export async function outFile(out: string, input: string): Promise<string> {
  const target = resolve(out);
  const folder = dirname(target);
  if (!(await statusOf(folder))?.isDirectory())
    throw new UsageError(`--out: there is no folder ${folder}. Nothing was done.`);
  const [from, to] = await Promise.all([real(splitLocation(resolve(input)).file), real(target)]);
  if (from === to) throw new UsageError('--out names the conversation itself; it is never overwritten.');
  // The output replaces the file at its path: of a device or a pipe nothing would be left.
  if ((await statusOf(to))?.isFile() === false) throw new UsageError(`--out: ${to} is no file. Nothing was done.`);
  return to;
}

const statusOf = (path: string): Promise<Stats | undefined> => stat(path).catch(() => undefined);

const real = (path: string): Promise<string> => realpath(path).catch(() => path);

/**
 * Writes a file whole or not at all.
 * @throws Error that says what was not written and why.
 */
export async function writeWhole(file: string, text: string): Promise<void> {
  const temporary = join(dirname(file), `.${process.pid}-${Date.now()}.context-condenser.tmp`);
  try {
    const handle = await open(temporary, 'wx', 0o600);
    try {
      await handle.writeFile(text);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(temporary, file);
  } catch (error) {
    await rm(temporary, { force: true });
    throw new Error(`${file} was not written: ${errorMessage(error)}`, { cause: error });
  }
}
