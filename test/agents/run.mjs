// Runs real agents with the gateway: node test/agents/run.mjs [NAME[:WIRE] …]. See main.ts for the
// options. Requires Node 20 or later.
import { build } from 'esbuild';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const folder = mkdtempSync(join(tmpdir(), 'real-agents-'));
try {
  if (!process.argv.includes('--built')) spawnSync(process.execPath, ['esbuild.mjs'], { stdio: 'inherit' });
  const outfile = join(folder, 'main.mjs');
  await build({
    entryPoints: ['test/agents/main.ts'],
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node22',
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
    outfile,
    logLevel: 'warning',
  });
  const args = process.argv.slice(2).filter((argument) => argument !== '--built');
  // Reading agents' databases requires node:sqlite.
  const packaged = 'node_modules/node/bin/node';
  const { status } = spawnSync(
    existsSync(packaged) ? packaged : process.execPath,
    ['--enable-source-maps', outfile, ...args],
    { stdio: 'inherit' },
  );
  process.exitCode = status ?? 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
