/** A thread that takes a lock and never releases it. */
import { join } from 'node:path';
import { LOCK_TIMING, withFileLock } from '../../src/storage/lock';
import { nodeFiles } from '../../src/storage/nodeFiles';

void withFileLock(nodeFiles, join(import.meta.dirname, 'lock'), LOCK_TIMING, () => new Promise(() => undefined));
setInterval(() => undefined, 60_000);
