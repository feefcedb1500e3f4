import { join } from 'node:path';
import { expect, it } from 'vitest';
import { inTemporaryFolder } from '../../test/support/inTemporaryFolder';
import type { Files } from './files';
import { nodeFiles } from './nodeFiles';
import { claimOwnFolder, inspectOwnFolder } from './ownFolder';

it('a folder counts as ours if another window marks and uses it while it is inspected', () =>
  inTemporaryFolder(async (root) => {
    const folder = join(root, 'ledgers');
    const files: Files = {
      ...nodeFiles,
      list: async (path) => {
        await claimOwnFolder(nodeFiles, folder);
        await nodeFiles.makeFolder(join(folder, 'begun'));
        return nodeFiles.list(path);
      },
    };
    expect(await inspectOwnFolder(files, folder)).toBe('marked');
  }));
