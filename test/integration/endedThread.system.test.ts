/** Tests a thread that ends while it holds a lock, in a process that continues. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { EngineThread } from '../../src/engine/engineThread';
import { withFileLock } from '../../src/storage/lock';
import { nodeFiles } from '../../src/storage/nodeFiles';
import { childProgram } from '../support/childProgram';

const { folder, program } = childProgram('lock.child.ts');
/** These times are so long that no lock expires. */
const TIMING = { wait: 60_000, silence: 600_000, heartbeat: 600_000 };

it('an ended engine’s lock is free at once, and a running engine’s lock is not', async () => {
  const lock = join(folder, 'lock');
  for (let round = 0; round < 3; round++) {
    const thread = new EngineThread({ bundle: program });
    void thread.engine;
    await expect.poll(() => existsSync(lock)).toBe(true);
    await expect(withFileLock(nodeFiles, lock, { ...TIMING, wait: 50 }, () => Promise.resolve())).rejects.toThrow(
      'is writing to this ledger',
    );
    thread.endThread();
    await withFileLock(nodeFiles, lock, TIMING, () => Promise.resolve());
    expect(existsSync(lock)).toBe(false);
  }
});
