/** A thread that takes the lock beside its file and never gives it back. */
import { join } from 'node:path';
import { LOCK_TIMING, withLock } from '../../src/storage/lock';
import { nodeFiles } from '../../src/storage/nodeFiles';

void withLock(nodeFiles, join(import.meta.dirname, 'lock'), LOCK_TIMING, () => new Promise(() => undefined));
setInterval(() => undefined, 60_000);
