// Bundles everything that ships into dist/ (or --outdir FOLDER): the extension, the command line,
// the workers and the rank table. --watch rebuilds at each change until it is ended.
import { build } from 'esbuild';
import { copyFileSync, mkdirSync } from 'node:fs';
import { createPartsBuild } from './scripts/bundleParts.mjs';
import { lazyEntries, lazyPackages } from './scripts/lazyPackages.mjs';
import { writeLicences } from './scripts/licences.mjs';
import { buildRanks } from './scripts/ranks.mjs';
import { writeReadme } from './scripts/readme.mjs';
import { watchBuilds } from './scripts/watch.mjs';

const production = process.argv.includes('--production');
const outdir = process.argv.includes('--outdir')
  ? (process.argv[process.argv.indexOf('--outdir') + 1] ?? 'dist')
  : 'dist';

/** Entry points by output name. Each bundle is one CommonJS file. */
const entries = {
  extension: 'src/extension.ts',
  cliCommands: 'src/cli/commands.ts',
  mcpServer: 'src/cli/mcp/server.ts',
  engine: 'src/engine/worker.ts',
  engineWork: 'src/engine/work.ts',
  providerBench: 'src/extensionApi/providerBench.ts',
};

mkdirSync(outdir, { recursive: true });
const program = {
  outdir,
  outExtension: { '.js': '.cjs' },
  bundle: true,
  platform: 'node',
  format: 'cjs',
  target: 'node22',
  // VS Code loads an extension's files with `require`, so esbuild replaces import() of a bundle by
  // it.
  supported: { 'dynamic-import': false },
  external: ['vscode'],
  minify: production,
  sourcemap: production ? false : 'linked',
  charset: 'utf8',
  // The licenses ship in a file of their own.
  legalComments: 'none',
  metafile: true,
  logLevel: 'warning',
};
/** Each kind of bundle has its own esbuild options. */
const builds = [
  { ...program, entryPoints: entries, plugins: [lazyPackages('./')] },
  // Targets Node 12, so that an outdated Node can parse the file and report that it is too old
  // (src/cli/main.ts).
  { ...program, target: 'node12', entryPoints: { cli: 'src/cli/main.ts' }, plugins: [lazyPackages('./')] },
  { ...program, entryPoints: lazyEntries, plugins: [lazyPackages('../')] },
  // The extension loads these at first use. They are split before the schema library, the shell
  // parser, the first schemas and the agent's part, so that each part takes the shared thread for
  // 40 ms at most (`npm run bench -- --only start`).
  createPartsBuild(
    { ...program, plugins: [lazyPackages('./')] },
    { commands: 'src/commands/index.ts', panel: 'src/panel/index.ts' },
    [
      'src/core/messages/toolsSchema.ts',
      'src/core/messages/commands/sh.ts',
      'src/core/condense/providers/smart/config.ts',
      'src/agent/runtime.ts',
    ],
  ),
  // The settings panel's page is one script and one style sheet for the Chromium of the oldest
  // supported VS Code.
  {
    entryPoints: { webview: 'webview-ui/src/main.tsx' },
    outdir,
    bundle: true,
    platform: 'browser',
    format: 'iife',
    target: 'chrome138',
    jsx: 'automatic',
    define: { 'process.env.NODE_ENV': production ? '"production"' : '"development"' },
    minify: production,
    // The page's policy forbids loading other files, so the source map is inside the script.
    sourcemap: production ? false : 'inline',
    charset: 'utf8',
    legalComments: 'none',
    metafile: true,
    logLevel: 'warning',
  },
];
// Extensions that use the exported API need its types. The file contains only types.
copyFileSync('src/extensionApi/api.ts', `${outdir}/api.d.ts`);
writeReadme(`${outdir}/README.md`);
await buildRanks(`${outdir}/o200k.bin`);
if (process.argv.includes('--watch')) await watchBuilds(builds);
else {
  const built = await Promise.all(builds.map((options) => build(options)));
  writeLicences(
    `${outdir}/licences.txt`,
    built.map(({ metafile }) => metafile),
    // The rank table is made of this package's data.
    ['node_modules/js-tiktoken'],
  );
}
