import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../../test/support/temporaryFolder';
import type { Files } from './files';
import { nodeFiles } from './nodeFiles';
import { OWN_FILE_KINDS, inspectOwnPath } from './ownFiles';

it('a file of ours that another process removes while it is inspected counts as absent', async () => {
  const path = join(temporaryFolder(), 'spending.jsonl.lock');
  writeFileSync(path, '0123456789abcdef 1.2.3@host \n');
  const vanishing: Files = {
    ...nodeFiles,
    open: async (...asked) => {
      await nodeFiles.removeFile(path);
      return nodeFiles.open(...asked);
    },
  };
  expect(await inspectOwnPath(vanishing, path, OWN_FILE_KINDS.lock)).toBe('nothing');
});

it('a file of ours that another process creates again while it is inspected counts as empty', async () => {
  const path = join(temporaryFolder(), 'spending.jsonl.lock');
  writeFileSync(path, '0123456789abcdef 1.2.3@host \n');
  const renewing: Files = {
    ...nodeFiles,
    open: async (...asked) => {
      writeFileSync(path, '');
      return nodeFiles.open(...asked);
    },
  };
  expect(await inspectOwnPath(renewing, path, OWN_FILE_KINDS.lock)).toBe('empty');
});
