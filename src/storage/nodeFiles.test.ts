import { open, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { temporaryFolder } from '../../test/support/temporaryFolder';
import { nodeFiles } from './nodeFiles';

afterEach(() => {
  vi.restoreAllMocks();
});

/** The system's error when a folder is to be put on the disk. */
async function syncingSays(folder: string, code: string): Promise<void> {
  const handle = await open(folder, 'r');
  const kind = Object.getPrototypeOf(handle) as FileHandle;
  await handle.close();
  vi.spyOn(kind, 'sync').mockRejectedValue(Object.assign(new Error(code), { code }));
}

describe('a folder', () => {
  it('counts as written where its file system has no such thing: shares of a host, some network drives', async () => {
    const folder = temporaryFolder();
    for (const code of ['EINVAL', 'ENOTSUP', 'ENOSYS']) {
      await syncingSays(folder, code);
      await expect(nodeFiles.syncFolder(folder)).resolves.toBeUndefined();
    }
  });

  it('that can’t be written is told', async () => {
    const folder = temporaryFolder();
    await syncingSays(folder, 'EIO');
    await expect(nodeFiles.syncFolder(folder)).rejects.toMatchObject({ code: 'EIO' });
    await expect(nodeFiles.syncFolder(join(folder, 'none'))).rejects.toMatchObject({ code: 'ENOENT' });
  });
});
