import { createHash } from 'node:crypto';
import type { Hash } from '../core/hash';
import type { Files } from '../storage/files';
import { ignoreMissingFile, readFileSlice, withOpenFile } from '../storage/fileTools';

export const hashBytes = (bytes: Uint8Array): Hash => createHash('sha256').update(bytes).digest('hex') as Hash;

export const readFileBytesIfPresent = (files: Files, path: string): Promise<Uint8Array | undefined> =>
  ignoreMissingFile(
    withOpenFile(files, path, 'read', async (file) => readFileSlice(file, 0, (await file.status()).bytes)),
  );

export async function hashFileIfPresent(files: Files, path: string): Promise<Hash | undefined> {
  const bytes = await readFileBytesIfPresent(files, path);
  return bytes && hashBytes(bytes);
}
