import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, inject, it, onTestFinished } from 'vitest';
import { EXIT_CODE } from './io';

it('the command line started with Node 20 says only which version it needs', () => {
  const folder = mkdtempSync(join(tmpdir(), 'old-node-'));
  onTestFinished(() => {
    rmSync(folder, { recursive: true });
  });
  const old = join(folder, 'old.cjs');
  writeFileSync(old, "Object.defineProperty(process.versions, 'node', { value: '20.20.2' });");
  const cli = join(inject('bundles'), 'cli.cjs');
  const ended = spawnSync(process.execPath, ['--require', old, cli, '--version'], { encoding: 'utf8' });
  expect(ended).toMatchObject({
    status: EXIT_CODE.failed,
    stdout: '',
    stderr: 'context-condenser needs Node.js 22.13 or later, and this is Node.js 20.20.2.\n',
  });
});
