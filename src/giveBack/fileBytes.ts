import { createHash } from 'node:crypto';
import type { Hash } from '../core/hash';
import type { Files } from '../storage/files';
import { ifThere, readSlice, withFile, writeAll } from '../storage/fileTools';

/** Hash of a file's bytes. */
export const hashBytes = (bytes: Uint8Array): Hash => createHash('sha256').update(bytes).digest('hex') as Hash;

/** A whole file; undefined where there is none. */
export const readBytes = (files: Files, path: string): Promise<Uint8Array | undefined> =>
  ifThere(withFile(files, path, 'read', async (file) => readSlice(file, 0, (await file.status()).bytes)));

/** Hash of a file as it is now; undefined where there is none. */
export async function hashOf(files: Files, path: string): Promise<Hash | undefined> {
  const bytes = await readBytes(files, path);
  return bytes && hashBytes(bytes);
}

/** Creates a file with this content, and returns once it is on the disk. A leftover of a dead process makes way. */
export async function writeNew(files: Files, path: string, bytes: Uint8Array): Promise<void> {
  await ifThere(files.removeFile(path));
  await withFile(files, path, 'create', async (file) => {
    await writeAll(file, bytes);
    await file.sync();
  });
}
