import { execFileSync, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, inject, it } from 'vitest';
import { temporaryFolder } from '../../../test/support/temporaryFolder';

it.skipIf(process.platform === 'win32')('a gateway refuses to log to a pipe that nobody reads, without waiting', () => {
  const folder = temporaryFolder();
  const pipe = join(folder, 'pipe');
  execFileSync('mkfifo', [pipe]);
  const cli = join(inject('bundles'), 'cli.cjs');
  const args = [cli, 'gateway', '--store', join(folder, 'store'), '--log', pipe];
  // A process that is blocked until the pipe has a reader can't handle other signals.
  const { status, stderr } = spawnSync(process.execPath, args, {
    encoding: 'utf8',
    timeout: 30_000,
    killSignal: 'SIGKILL',
  });
  expect({ status, stderr }).toEqual({ status: 2, stderr: expect.stringContaining("can't be written") });
});
