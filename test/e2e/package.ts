import assert from 'node:assert/strict';
import { existsSync, globSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { environment, node24, packageArguments, readmeArguments, root } from '../../scripts/vscode.mjs';
import { run } from './workbench/processes';

const vsce = join(root, 'node_modules', '@vscode', 'vsce', 'vsce');
const limit = 4 * 1024 * 1024;

export interface Manifest {
  readonly name: string;
  readonly publisher: string;
  readonly version: string;
  readonly enabledApiProposals?: unknown;
}

export const manifestOf = (folder: string): Manifest =>
  JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;

/** The files that `vsce` would pack. */
export async function listFiles(extension: string): Promise<string[]> {
  const out = await run(node24(), [vsce, 'ls', '--no-dependencies', ...readmeArguments(extension)], {
    cwd: extension,
    env: environment(),
  });
  return out
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && existsSync(join(extension, line)));
}

/** Packs the extension as users get it, unless the VSIX is newer than all that would go into it. */
export async function packageExtension(extension: string, files: readonly string[]): Promise<string> {
  const vsix = join(extension, 'dist', `${manifestOf(extension).name}.vsix`);
  const inputs = [...files, '.vscodeignore', 'package.json']
    .map((file) => join(extension, file))
    .filter((file) => existsSync(file));
  const newest = Math.max(...inputs.map((file) => statSync(file).mtimeMs));
  if (existsSync(vsix) && statSync(vsix).mtimeMs > newest) return vsix;
  mkdirSync(dirname(vsix), { recursive: true });
  await run(node24(), packageArguments(vsix, extension), {
    cwd: extension,
    env: environment(),
  });
  return vsix;
}

const unwanted = [
  { what: 'a source', pattern: /(?<!\.d)\.tsx?$/ },
  { what: 'a source map', pattern: /\.map$/ },
  { what: 'a test', pattern: /\.test\.|(^|\/)tests?\// },
  { what: 'a package of npm', pattern: /(^|\/)node_modules\// },
  {
    what: 'a build file',
    pattern: /(^|\/)(tsconfig.*\.json|esbuild\.mjs|oxlint\.config\..*|vitest\.config\..*|package-lock\.json)$/,
  },
  {
    what: 'a folder of the project',
    pattern: /^(src|webview-ui|scripts|\.ci|\.git|\.vscode-test|test-results|coverage)\//,
  },
  { what: 'a secret', pattern: /(^|\/)\.(env|npmrc)/ },
];

/** Throws for each file that a user should not get. */
export function checkFiles(files: readonly string[]): void {
  const wrong = files.flatMap((file) =>
    unwanted.filter(({ pattern }) => pattern.test(file)).map(({ what }) => `${file} (${what})`),
  );
  assert.deepEqual(wrong, [], 'files that do not belong into the package');
}

export function checkSize(vsix: string): void {
  const { size } = statSync(vsix);
  assert.ok(size <= limit, `the VSIX has ${size} bytes, the limit is ${limit}`);
}

/** code-server lets proposed APIs through, and users' VS Code does not: so their use is looked for here. */
export function checkNoProposedApi(extension: string): void {
  assert.equal(manifestOf(extension).enabledApiProposals, undefined, 'package.json asks for proposed APIs');
  const typings = globSync('{src,types,typings}/**/vscode.proposed*', { cwd: extension });
  assert.deepEqual(typings, [], 'typings of proposed APIs');
  const users = globSync('{src,webview-ui}/**/*.{ts,tsx}', { cwd: extension }).filter((file) =>
    readFileSync(join(extension, file), 'utf8').includes('vscode.proposed'),
  );
  assert.deepEqual(users, [], 'sources that name proposed APIs');
}

/** The files of the installed extension: what a user really has on disk. */
export function installedFiles(
  extensionsDir: string,
  { publisher, name, version }: Manifest,
): { folder: string; files: string[] } {
  const folder = join(extensionsDir, `${publisher}.${name}-${version}`);
  assert.ok(existsSync(folder), `${publisher}.${name} was not installed`);
  const files = globSync('**/*', { cwd: folder, withFileTypes: true }).filter((entry) => entry.isFile());
  return { folder, files: files.map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1)) };
}
