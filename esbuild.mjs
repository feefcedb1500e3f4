// Bundles what ships into dist/ (or --outdir FOLDER): the extension, the command line, the workers, and the rank table. With --watch it does
// so again at each change, until it is ended.
import { build } from 'esbuild';
import { copyFileSync, mkdirSync } from 'node:fs';
import { inParts } from './scripts/bundleParts.mjs';
import { lazyEntries, lazyPackages } from './scripts/lazyPackages.mjs';
import { writeLicences } from './scripts/licences.mjs';
import { buildRanks } from './scripts/ranks.mjs';
import { writeReadme } from './scripts/readme.mjs';
import { watchBuilds } from './scripts/watch.mjs';

const production = process.argv.includes('--production');
const outdir = process.argv.includes('--outdir')
  ? (process.argv[process.argv.indexOf('--outdir') + 1] ?? 'dist')
  : 'dist';

/** Entry points by output name; each is one CommonJS file. */
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
  // `require` is what VS Code hands to an extension's files: import() of a bundle becomes one.
  supported: { 'dynamic-import': false },
  external: ['vscode'],
  minify: production,
  sourcemap: production ? false : 'linked',
  charset: 'utf8',
  // The texts stand in a file of their own.
  legalComments: 'none',
  metafile: true,
  logLevel: 'warning',
};
/** One configuration of esbuild for each kind of bundle. */
const builds = [
  { ...program, entryPoints: entries, plugins: [lazyPackages('./')] },
  // Lowered so far that a Node which is too old can parse it, and say so (src/cli/main.ts).
  { ...program, target: 'node12', entryPoints: { cli: 'src/cli/main.ts' }, plugins: [lazyPackages('./')] },
  { ...program, entryPoints: lazyEntries, plugins: [lazyPackages('../')] },
  // What the extension loads at first use. Cut where the schemas' library, the shell's parser, the first schemas and the agent's part
  // begin, each part takes the thread for 40 ms at most (`npm run bench -- --only start`).
  inParts(
    { ...program, plugins: [lazyPackages('./')] },
    { commands: 'src/commands/index.ts', panel: 'src/panel/index.ts' },
    [
      'src/core/messages/toolsSchema.ts',
      'src/core/messages/commands/sh.ts',
      'src/core/condense/providers/smart/config.ts',
      'src/agent/runtime.ts',
    ],
  ),
  // The settings panel's page: one script, one style sheet, for the Chromium of the oldest VS Code that is supported.
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
    // In the script itself: the page's policy lets it load nothing else.
    sourcemap: production ? false : 'inline',
    charset: 'utf8',
    legalComments: 'none',
    metafile: true,
    logLevel: 'warning',
  },
];
// The types of the exported API, for extensions that use it: the file has types alone.
copyFileSync('src/extensionApi/api.ts', `${outdir}/api.d.ts`);
writeReadme(`${outdir}/README.md`);
await buildRanks(`${outdir}/o200k.bin`);
if (process.argv.includes('--watch')) await watchBuilds(builds);
else {
  const built = await Promise.all(builds.map((options) => build(options)));
  writeLicences(
    `${outdir}/licences.txt`,
    built.map(({ metafile }) => metafile),
    // The rank table is made of its data.
    ['node_modules/js-tiktoken'],
  );
}
