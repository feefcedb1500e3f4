// Bundles the runner and the in-host suite, so that tests can import from src/.
import { copyFileSync, globSync, mkdirSync, mkdtempSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { build } from 'esbuild';
import { cacheFolder, root } from '../../scripts/vscode.mjs';

const here = join(root, 'test', 'e2e');

/** Creates a folder for bundles inside the project, so that imports of packages resolve. */
export function outputFolder() {
  mkdirSync(cacheFolder, { recursive: true });
  return mkdtempSync(join(cacheFolder, 'run-'));
}

const options = {
  bundle: true,
  platform: 'node',
  target: 'node22',
  sourcemap: 'inline',
  logLevel: 'warning',
  absWorkingDir: root,
};

/** Bundles `name.ts` as the program, and each scenario file separately. */
export async function bundleProgram(name, target, outdir) {
  const scenarios = globSync(join(target, 'scenarios', '*.ts')).toSorted();
  await build({
    ...options,
    format: 'esm',
    packages: 'external',
    splitting: true,
    outExtension: { '.js': '.mjs' },
    outdir,
    entryPoints: [
      { in: join(here, `${name}.ts`), out: name },
      ...scenarios.map((file) => ({ in: resolve(file), out: `scenarios/${basename(file, '.ts')}` })),
    ],
  });
  return join(outdir, `${name}.mjs`);
}

/**
 * Bundles the extension that uses the product's API.
 * @returns its folder
 */
export async function bundleSample(outdir) {
  const source = join(here, 'sample-extension');
  const folder = join(outdir, 'sample-extension');
  await build({
    ...options,
    format: 'cjs',
    external: ['vscode'],
    entryPoints: [join(source, 'main.ts')],
    outfile: join(folder, 'main.cjs'),
  });
  copyFileSync(join(source, 'package.json'), join(folder, 'package.json'));
  return folder;
}

/** Bundles the suite into a CommonJS file that exports `run()`, as VS Code requires. */
export async function bundleSuite(target, outdir) {
  const outfile = join(outdir, 'suite', 'index.cjs');
  const tests = globSync(join(target, 'suite', '*.test.ts')).toSorted();
  const contents = `import { runSuite } from './suite/index';
    export const run = () => runSuite(async () => { ${tests.map((file) => `await import(${JSON.stringify(resolve(file))});`).join('\n')} });`;
  await build({
    ...options,
    format: 'cjs',
    external: ['vscode', 'mocha'],
    outfile,
    stdin: { contents, resolveDir: here, loader: 'ts' },
  });
  return outfile;
}
