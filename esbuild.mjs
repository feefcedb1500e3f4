// Bundles what ships into dist/: the extension, the command line, the workers, and the rank table as an asset.
import { build } from 'esbuild';
import { mkdirSync } from 'node:fs';
import { buildRanks } from './scripts/ranks.mjs';

const production = process.argv.includes('--production');

/** Entry points by output name; each is one CommonJS file. */
const entries = {
  extension: 'src/extension.ts',
  commands: 'src/commands/index.ts',
  worker: 'src/background/worker.ts',
  cli: 'src/cli/main.ts',
  readerWorker: 'src/conversations/worker.ts',
};

mkdirSync('dist', { recursive: true });
await Promise.all([
  buildRanks('dist/o200k.bin'),
  build({
    entryPoints: entries,
    outdir: 'dist',
    outExtension: { '.js': '.cjs' },
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: 'node20',
    external: ['vscode'],
    minify: production,
    sourcemap: production ? false : 'linked',
    charset: 'utf8',
    legalComments: 'none',
    logLevel: 'warning',
  }),
]);
