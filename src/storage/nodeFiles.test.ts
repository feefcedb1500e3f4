import { open, readdir, writeFile, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { temporaryFolder } from '../../test/support/temporaryFolder';
import { readTextIfPresent } from './fileTools';
import type { Files } from './files';
import { nodeFiles, createRetryingFiles } from './nodeFiles';
import { createSystemError } from './testing';

afterEach(() => {
  vi.restoreAllMocks();
});

/** Makes syncing a folder fail with this error. */
async function makeSyncFail(folder: string, code: string): Promise<void> {
  const handle = await open(folder, 'r');
  const kind = Object.getPrototypeOf(handle) as FileHandle;
  await handle.close();
  vi.spyOn(kind, 'sync').mockRejectedValue(Object.assign(new Error(code), { code }));
}

describe('flushing a folder to disk', () => {
  it('succeeds if its file system does not support that, such as host shares and some network drives', async () => {
    const folder = temporaryFolder();
    for (const code of ['EINVAL', 'ENOTSUP', 'ENOSYS']) {
      await makeSyncFail(folder, code);
      await expect(nodeFiles.syncFolder(folder)).resolves.toBeUndefined();
    }
  });

  it('reports a folder that can’t be written', async () => {
    const folder = temporaryFolder();
    await makeSyncFail(folder, 'EIO');
    await expect(nodeFiles.syncFolder(folder)).rejects.toMatchObject({ code: 'EIO' });
    await expect(nodeFiles.syncFolder(join(folder, 'none'))).rejects.toMatchObject({ code: 'ENOENT' });
  });
});

describe('a file that another program has open', () => {
  /** Returns the machine's files with an operation that fails this many times. */
  const createRefusingFiles = (operation: 'open' | 'status' | 'rename' | 'removeFile', times: number, code: string) => {
    let tries = 0;
    const files: Files = {
      ...nodeFiles,
      [operation]: (...given: [string, string]): Promise<unknown> => {
        tries += 1;
        return tries <= times
          ? Promise.reject(createSystemError(code))
          : (nodeFiles[operation] as (...all: [string, string]) => Promise<unknown>)(...given);
      },
    };
    return { files, tries: () => tries };
  };
  const waits = [1, 1, 1, 1];

  it.each(['EPERM', 'EACCES', 'EBUSY'])('is retried on Windows after %s', async (code) => {
    const folder = temporaryFolder();
    const path = join(folder, 'a');
    await writeFile(path, 'text');
    const whenFree = (operation: Parameters<typeof createRefusingFiles>[0]): Files =>
      createRetryingFiles(createRefusingFiles(operation, 3, code).files, { platform: 'win32', waits });
    expect(await readTextIfPresent(whenFree('open'), path)).toBe('text');
    expect(await whenFree('status').status(path)).toMatchObject({ kind: 'file', bytes: 4 });
    await whenFree('rename').rename(path, join(folder, 'b'));
    await whenFree('removeFile').removeFile(join(folder, 'b'));
    expect(await readdir(folder)).toEqual([]);
  });

  it('is reported if it stays open, and at once for any other error', async () => {
    for (const [platform, code, tries] of [
      ['win32', 'EBUSY', 5],
      ['win32', 'ENOSPC', 1],
      ['linux', 'EPERM', 1],
      ['darwin', 'EBUSY', 1],
    ] as const) {
      const refused = createRefusingFiles('rename', 99, code);
      const files = createRetryingFiles(refused.files, { platform, waits });
      await expect(files.rename('a', 'b')).rejects.toMatchObject({ code });
      expect(refused.tries()).toBe(tries);
    }
  });
});
