import { open, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { temporaryFolder } from '../../test/support/temporaryFolder';
import { nodeFiles, renamePatiently } from './nodeFiles';

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

describe('a file that another program has open', () => {
  const refusing = (times: number, code: string) => {
    const tries: string[] = [];
    const once = (from: string, to: string): Promise<void> => {
      tries.push(`${from} ${to}`);
      return tries.length > times ? Promise.resolve() : Promise.reject(Object.assign(new Error(code), { code }));
    };
    return { tries, once };
  };

  it.each(['EPERM', 'EACCES', 'EBUSY'])('is replaced on Windows once it is closed: %s', async (code) => {
    const { tries, once } = refusing(3, code);
    await renamePatiently('a', 'b', { platform: 'win32', once, waits: [1, 1, 1, 1] });
    expect(tries).toEqual(Array(4).fill('a b'));
  });

  it('is told where it stays open, and at once where it is something else', async () => {
    const lasting = refusing(99, 'EBUSY');
    const onWindows = { platform: 'win32', waits: [1, 1] } as const;
    await expect(renamePatiently('a', 'b', { ...onWindows, once: lasting.once })).rejects.toMatchObject({
      code: 'EBUSY',
    });
    expect(lasting.tries).toHaveLength(3);
    for (const [platform, code] of [
      ['win32', 'ENOSPC'],
      ['linux', 'EPERM'],
    ] as const) {
      const { tries, once } = refusing(99, code);
      await expect(renamePatiently('a', 'b', { platform, once })).rejects.toMatchObject({ code });
      expect(tries).toHaveLength(1);
    }
  });
});
