/**
 * Stores a gateway's port and secret in a file that only its user can read, so that its URL stays
 * the same.
 */
import { readFile } from 'node:fs/promises';
import * as z from 'zod';
import { getErrorCode } from '../../core/errors';
import { nodeFiles } from '../../storage/nodeFiles';
import { OWN_FILE_KINDS, replaceOwnFile } from '../../storage/ownFiles';
import { UsageError } from '../args';

const storedAddressSchema = z.object({
  port: z.int().min(1).max(65_535),
  /** Has the form of a secret from `createSecret`, because it becomes part of a path. */
  secret: z.string().regex(/^[\w-]{32,}$/),
});

export type StoredAddress = z.infer<typeof storedAddressSchema>;

/**
 * @returns undefined if the file doesn't exist
 * @throws UsageError if the file contains something other than an address
 */
export async function readStoredAddress(path: string): Promise<StoredAddress | undefined> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if (getErrorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
  try {
    return storedAddressSchema.parse(JSON.parse(text));
  } catch {
    throw new UsageError(`${path} contains no gateway address. Delete it to have a new one made.`);
  }
}

/** @throws StorageError `not-ours` if the file exists and isn't a stored address */
export const storeAddress = (path: string, address: StoredAddress): Promise<void> =>
  replaceOwnFile(nodeFiles, path, JSON.stringify({ contextCondenser: 'address', ...address }), OWN_FILE_KINDS.address);
