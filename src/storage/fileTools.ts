import { Buffer } from 'node:buffer';
import type { FileStatus, Files, OpenFile, OpenMode } from './files';
import { getErrorCode } from '../core/errors';

export async function withOpenFile<T>(
  files: Files,
  path: string,
  mode: OpenMode,
  action: (file: OpenFile) => Promise<T>,
): Promise<T> {
  const file = await files.open(path, mode);
  let result: T;
  try {
    result = await action(file);
  } catch (error) {
    // An error from closing is ignored: the action's own error says more.
    await file.close().catch(() => undefined);
    throw error;
  }
  await file.close();
  return result;
}

/** Resolves to undefined if the file or folder doesn't exist. */
export async function ignoreMissingFile<T>(result: Promise<T>): Promise<T | undefined> {
  try {
    return await result;
  } catch (error) {
    if (getErrorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/**
 * Resolves to undefined if the file doesn't exist.
 * @throws other system errors
 */
export const readStatusIfPresent = (files: Files, path: string): Promise<FileStatus | undefined> =>
  ignoreMissingFile(files.status(path));

export async function readFileSlice(file: OpenFile, position: number, length: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(length);
  let filledBytes = 0;
  while (filledBytes < length) {
    const count = await file.read(buffer.subarray(filledBytes), position + filledBytes);
    if (count === 0) break;
    filledBytes += count;
  }
  return buffer.subarray(0, filledBytes);
}

export const readTextIfPresent = (files: Files, path: string): Promise<string | undefined> =>
  ignoreMissingFile(
    withOpenFile(files, path, 'read', async (file) => {
      const { bytes } = await file.status();
      return (await readFileSlice(file, 0, bytes)).toString('utf8');
    }),
  );

export async function writeAllBytes(file: OpenFile, bytes: Uint8Array): Promise<void> {
  let writtenBytes = 0;
  while (writtenBytes < bytes.length) writtenBytes += await file.write(bytes.subarray(writtenBytes));
}

/**
 * Writes a file, replacing a leftover of the same name. Returns once the content is on the disk.
 */
export async function writeNewFile(files: Files, path: string, bytes: Uint8Array, isSynced = true): Promise<void> {
  await ignoreMissingFile(files.removeFile(path));
  await withOpenFile(files, path, 'create', async (file) => {
    await writeAllBytes(file, bytes);
    if (isSynced) await file.sync();
  });
}

export interface AtomicWriteOptions {
  /** Path of the temporary file: in the same folder, since renames don't cross disks. */
  readonly temporary: string;
  /**
   * Whether to wait until the content is on the disk; default true. If false, a power failure may
   * leave a damaged file.
   */
  readonly isSynced?: boolean;
}

/**
 * Replaces anything at the path.
 * @throws the system's error; the file is then as it was, and no temporary file is left
 */
export async function writeFileAtomically(
  files: Files,
  path: string,
  bytes: Uint8Array,
  { temporary, isSynced }: AtomicWriteOptions,
): Promise<void> {
  try {
    await writeNewFile(files, temporary, bytes, isSynced);
    await files.rename(temporary, path);
  } catch (error) {
    await files.removeFile(temporary).catch(() => undefined);
    throw error;
  }
}
