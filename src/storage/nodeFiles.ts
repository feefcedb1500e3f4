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
import { errorCode } from '../core/errors';
import type { FileStatus, Files, OpenFile } from './files';

const FLAGS = { read: 'r', append: 'a', create: 'wx' } as const;
/** A conversation is private: nobody but its user reads what is kept of it. */
const FILE_MODE = 0o600;
const FOLDER_MODE = 0o700;

/**
 * The errors of file systems that can't put a folder on the disk by itself (shares of a virtual machine's host, some network
 * drives; Linux, fsync(2)): there is nothing more to be done.
 */
const NO_FOLDER_SYNC: readonly string[] = ['EINVAL', 'ENOTSUP', 'ENOSYS'];

const getKind = (stats: Stats): FileStatus['kind'] => {
  if (stats.isFile()) return 'file';
  if (stats.isDirectory()) return 'folder';
  return stats.isSymbolicLink() ? 'link' : 'other';
};

const toStatus = (stats: Stats): FileStatus => ({
  kind: getKind(stats),
  bytes: stats.size,
  modified: stats.mtimeMs,
  identity: stats.ino,
  permissions: stats.mode & 0o777,
});

const openFile = (handle: FileHandle): OpenFile => ({
  read: async (into, position) => (await handle.read(into, 0, into.byteLength, position)).bytesRead,
  write: async (bytes) => (await handle.write(bytes)).bytesWritten,
  truncate: (length) => handle.truncate(length),
  sync: () => handle.sync(),
  status: async () => toStatus(await handle.stat()),
  close: () => handle.close(),
});

/**
 * What Windows answers while another program (a scanner, another window) has a file open, or while a removed file is not yet gone for
 * somebody still has it open. It is short: graceful-fs waits for it, too. Elsewhere the same errors last.
 */
const OPEN_ELSEWHERE: readonly string[] = ['EPERM', 'EACCES', 'EBUSY'];
/** Milliseconds before it is tried again. */
const WAITS: readonly number[] = [10, 30, 100, 300, 600];

interface Patience {
  readonly platform?: NodeJS.Platform;
  /** Milliseconds before each further try. */
  readonly waits?: readonly number[];
}

/** A file system that, on Windows, waits for files that another program has open for a moment. Throws the system's error where one stays so. */
export function patientFiles(files: Files, { platform = process.platform, waits = WAITS }: Patience = {}): Files {
  if (platform !== 'win32') return files;
  const patiently = async <T>(action: () => Promise<T>): Promise<T> => {
    for (const wait of waits) {
      try {
        return await action();
      } catch (error) {
        if (!OPEN_ELSEWHERE.includes(errorCode(error) ?? '')) throw error;
      }
      await setTimeout(wait);
    }
    return action();
  };
  return {
    ...files,
    open: (path, mode) => patiently(() => files.open(path, mode)),
    status: (path) => patiently(() => files.status(path)),
    rename: (from, to) => patiently(() => files.rename(from, to)),
    removeFile: (path) => patiently(() => files.removeFile(path)),
  };
}

/** The file system of the machine. */
export const nodeFiles: Files = patientFiles({
  open: async (path, mode) => openFile(await open(path, FLAGS[mode], FILE_MODE)),
  status: async (path) => toStatus(await lstat(path)),
  realPath: (path) => realpath(path),
  list: (folder) => readdir(folder),
  makeFolder: async (path) => {
    await mkdir(path, { recursive: true, mode: FOLDER_MODE });
  },
  syncFolder: async (path) => {
    // Windows gives no handle of a folder, and writes the folder's entries with the files'.
    if (process.platform === 'win32') return;
    const handle = await open(path, 'r');
    try {
      await handle.sync();
    } catch (error) {
      if (!NO_FOLDER_SYNC.includes(errorCode(error) ?? '')) throw error;
    } finally {
      await handle.close();
    }
  },
  rename: (from, to) => rename(from, to),
  removeFile: (path) => unlink(path),
  removeEmptyFolder: (path) => rmdir(path),
  // Node tries again where Windows has a file of it open.
  removeFolder: (path) => rm(path, { recursive: true, force: true, maxRetries: WAITS.length }),
  setPermissions: (path, permissions) => chmod(path, permissions),
  touch: (path, time) => utimes(path, time / 1000, time / 1000),
});
