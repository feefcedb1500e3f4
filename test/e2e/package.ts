import assert from 'node:assert/strict';
import { existsSync, globSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { environment, getNode24Path, getPackageArguments } from '../../scripts/vscode.mjs';
import { runProcess } from './workbench/processes';

/** Maximum size of the VSIX in bytes, so that unwanted libraries are noticed. */
const limit = 4.5 * 1024 * 1024;

export interface Manifest {
  readonly name: string;
  readonly publisher: string;
  readonly version: string;
  readonly enabledApiProposals?: unknown;
}

export const readManifest = (folder: string): Manifest =>
  JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;

/** Packages the extension as users get it. */
export async function packageExtension(extension: string): Promise<string> {
  const vsix = join(extension, 'dist', `${readManifest(extension).name}.vsix`);
  mkdirSync(dirname(vsix), { recursive: true });
  await runProcess(getNode24Path(), getPackageArguments(vsix, extension), {
    cwd: extension,
    env: environment(),
  });
  return vsix;
}

/** Signatures and field offsets in the directory of a zip file and its entries. */
const LIST_END = { signature: 0x06054b50, entries: 10, listAt: 16 };
const ENTRY = { signature: 0x02014b50, nameLength: 28, extraLength: 30, commentLength: 32, name: 46 };

/** Lists the paths in a VSIX, because `vsce ls` would take as long as packaging. */
export function packedFiles(vsix: string): string[] {
  const zip = readFileSync(vsix);
  const end = zip.lastIndexOf(Buffer.from(Uint32Array.of(LIST_END.signature).buffer));
  assert.ok(end >= 0, `${vsix} is no zip file`);
  const files: string[] = [];
  let at = zip.readUInt32LE(end + LIST_END.listAt);
  for (let left = zip.readUInt16LE(end + LIST_END.entries); left > 0; left--) {
    assert.equal(zip.readUInt32LE(at), ENTRY.signature, `${vsix} is broken`);
    const after = at + ENTRY.name + zip.readUInt16LE(at + ENTRY.nameLength);
    const name = zip.toString('utf8', at + ENTRY.name, after);
    if (name.startsWith('extension/')) files.push(name.slice('extension/'.length));
    at = after + zip.readUInt16LE(at + ENTRY.extraLength) + zip.readUInt16LE(at + ENTRY.commentLength);
  }
  assert.ok(files.includes('package.json'), `${vsix} has no package.json`);
  return files;
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
    pattern:
      /^(src|webview-ui|scripts|\.(ci|git|github|githooks|vscode|devcontainer|vscode-test)|test-results|coverage)\//,
  },
  { what: 'a secret', pattern: /(^|\/)\.(env|npmrc)/ },
];

/** Fails for files that users should not get. */
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

/** Fails for uses of proposed APIs, which code-server allows, but users' VS Code does not. */
export function checkNoProposedApi(extension: string): void {
  assert.equal(readManifest(extension).enabledApiProposals, undefined, 'package.json asks for proposed APIs');
  const typings = globSync('{src,types,typings}/**/vscode.proposed*', { cwd: extension });
  assert.deepEqual(typings, [], 'typings of proposed APIs');
  const users = globSync('{src,webview-ui}/**/*.{ts,tsx}', { cwd: extension }).filter((file) =>
    readFileSync(join(extension, file), 'utf8').includes('vscode.proposed'),
  );
  assert.deepEqual(users, [], 'sources that name proposed APIs');
}

/** Lists the files of the installed extension. */
export function installedFiles(
  extensionsDir: string,
  { publisher, name, version }: Manifest,
): { folder: string; files: string[] } {
  const folder = join(extensionsDir, `${publisher}.${name}-${version}`);
  assert.ok(existsSync(folder), `${publisher}.${name} was not installed`);
  const files = globSync('**/*', { cwd: folder, withFileTypes: true }).filter((entry) => entry.isFile());
  return { folder, files: files.map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1)) };
}
