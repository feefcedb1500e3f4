/** The address of a gateway that others were told for good: its port and its secret stand in a file that its user alone can read. */
import { randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import * as z from 'zod';
import { errorCode } from '../../core/errors';
import { UsageError } from '../args';

const keptAddress = z.object({
  port: z.int().min(1).max(65_535),
  /** As {@link newSecret} makes them: it stands in a path. */
  secret: z.string().regex(/^[\w-]{32,}$/),
});

export type KeptAddress = z.infer<typeof keptAddress>;

/** @returns undefined where there is none yet. @throws UsageError where the file holds something else. */
export async function readAddress(path: string): Promise<KeptAddress | undefined> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
  try {
    return keptAddress.parse(JSON.parse(text));
  } catch {
    throw new UsageError(`${path} contains no gateway address. Delete it to have a new one made.`);
  }
}

export async function keepAddress(path: string, address: KeptAddress): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  // Whole or not at all, and nobody else's at any moment.
  const fresh = `${path}.${randomUUID()}`;
  await writeFile(fresh, JSON.stringify(address), { mode: 0o600, flag: 'wx' });
  await rename(fresh, path);
}
