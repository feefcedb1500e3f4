import { createHash } from 'node:crypto';
import type { Hash } from '../core/hash';
import type { Files } from '../storage/files';
import { undefinedIfMissing, readSlice, withFile } from '../storage/fileTools';

export const hashBytes = (bytes: Uint8Array): Hash => createHash('sha256').update(bytes).digest('hex') as Hash;

export const readBytes = (files: Files, path: string): Promise<Uint8Array | undefined> =>
  undefinedIfMissing(withFile(files, path, 'read', async (file) => readSlice(file, 0, (await file.status()).bytes)));

export async function hashFile(files: Files, path: string): Promise<Hash | undefined> {
  const bytes = await readBytes(files, path);
  return bytes && hashBytes(bytes);
}
