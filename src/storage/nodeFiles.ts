import type { Stats } from 'node:fs';
import {
  chmod,
  lstat,
  mkdir,
  open,
  readdir,
  realpath,
  rename,
  rm,
  rmdir,
  unlink,
  utimes,
  type FileHandle,
} from 'node:fs/promises';
import { setTimeout } from 'node:timers/promises';
import { getErrorCode } from '../core/errors';
import type { FileStatus, Files, OpenFile } from './files';

const NODE_FLAG_BY_OPEN_MODE = { read: 'r', append: 'a', create: 'wx' } as const;
/** Only the user can read stored conversations. */
const FILE_MODE = 0o600;
const FOLDER_MODE = 0o700;

/** Some file systems can't sync folders (VM shares, some network drives; Linux, fsync(2)). */
const FOLDER_SYNC_UNSUPPORTED_CODES: readonly string[] = ['EINVAL', 'ENOTSUP', 'ENOSYS'];

const getFileKind = (stats: Stats): FileStatus['kind'] => {
  if (stats.isFile()) return 'file';
  if (stats.isDirectory()) return 'folder';
  return stats.isSymbolicLink() ? 'link' : 'other';
};

const toFileStatus = (stats: Stats): FileStatus => ({
  kind: getFileKind(stats),
  bytes: stats.size,
  modified: stats.mtimeMs,
  identity: stats.ino,
  permissions: stats.mode & 0o777,
});

const wrapFileHandle = (fileHandle: FileHandle): OpenFile => ({
  read: async (into, position) => (await fileHandle.read(into, 0, into.byteLength, position)).bytesRead,
  write: async (bytes) => (await fileHandle.write(bytes)).bytesWritten,
  truncate: (length) => fileHandle.truncate(length),
  sync: () => fileHandle.sync(),
  status: async () => toFileStatus(await fileHandle.stat()),
  close: () => fileHandle.close(),
});

/**
 * On Windows, these pass quickly: another program has the file open, or an open file was just
 * removed. graceful-fs waits for them too.
 */
const FILE_BUSY_ERROR_CODES: readonly string[] = ['EPERM', 'EACCES', 'EBUSY'];
const RETRY_DELAYS_MS: readonly number[] = [10, 30, 100, 300, 600];

interface RetryOptions {
  readonly platform?: NodeJS.Platform;
  /** Milliseconds to wait before each retry. */
  readonly waits?: readonly number[];
}

/** On Windows, retries while another program has a file open. */
export function createRetryingFiles(
  files: Files,
  { platform = process.platform, waits = RETRY_DELAYS_MS }: RetryOptions = {},
): Files {
  if (platform !== 'win32') return files;
  const retryWhileBusy = async <T>(action: () => Promise<T>): Promise<T> => {
    for (const wait of waits) {
      try {
        return await action();
      } catch (error) {
        if (!FILE_BUSY_ERROR_CODES.includes(getErrorCode(error) ?? '')) throw error;
      }
      await setTimeout(wait);
    }
    return action();
  };
  return {
    ...files,
    open: (path, mode) => retryWhileBusy(() => files.open(path, mode)),
    status: (path) => retryWhileBusy(() => files.status(path)),
    rename: (from, to) => retryWhileBusy(() => files.rename(from, to)),
    removeFile: (path) => retryWhileBusy(() => files.removeFile(path)),
  };
}

export const nodeFiles: Files = createRetryingFiles({
  open: async (path, mode) => wrapFileHandle(await open(path, NODE_FLAG_BY_OPEN_MODE[mode], FILE_MODE)),
  status: async (path) => toFileStatus(await lstat(path)),
  realPath: (path) => realpath(path),
  list: (folder) => readdir(folder),
  makeFolder: async (path) => {
    await mkdir(path, { recursive: true, mode: FOLDER_MODE });
  },
  syncFolder: async (path) => {
    // Nothing to do: Windows has no folder handles, and writes folder entries with the files.
    if (process.platform === 'win32') return;
    const handle = await open(path, 'r');
    try {
      await handle.sync();
    } catch (error) {
      if (!FOLDER_SYNC_UNSUPPORTED_CODES.includes(getErrorCode(error) ?? '')) throw error;
    } finally {
      await handle.close();
    }
  },
  rename: (from, to) => rename(from, to),
  removeFile: (path) => unlink(path),
  removeEmptyFolder: (path) => rmdir(path),
  // Node itself retries on Windows while a file is open.
  removeFolder: (path) => rm(path, { recursive: true, force: true, maxRetries: RETRY_DELAYS_MS.length }),
  setPermissions: (path, permissions) => chmod(path, permissions),
  touch: (path, time) => utimes(path, time / 1000, time / 1000),
});
