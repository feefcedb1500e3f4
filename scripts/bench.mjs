// npm run bench [-- --only providers|curve|retention|tokens …]: bundles the bench and runs it with
// --expose-gc.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const PROGRAMS = { '--quality': 'test/bench/quality.ts', '--fit': 'test/bench/fit.ts' };
const [flag = ''] = process.argv.slice(2).filter((argument) => Object.hasOwn(PROGRAMS, argument));
const folder = mkdtempSync(join(tmpdir(), 'context-condenser-bench-'));
try {
  const { build } = await import('esbuild');
  const { buildRanks } = await import('./ranks.mjs');
  buildRanks(join('dist', 'o200k.bin'));
  const outfile = join(folder, 'bench.cjs');
  await build({
    entryPoints: [PROGRAMS[flag] ?? 'test/bench/run.ts'],
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: 'node22',
    outfile,
    logLevel: 'warning',
  });
  const args = process.argv.slice(2).filter((argument) => argument !== flag);
  const { status } = spawnSync(process.execPath, ['--expose-gc', outfile, ...args], { stdio: 'inherit' });
  process.exitCode = status ?? 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
