/** Checks the dependencies, and what they may do. */
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { writeLicences } from '../../scripts/licences.mjs';
import { temporaryFolder } from '../support/temporaryFolder';

/** Packages whose scripts `npm ci` runs, with the reason. Review each new one. */
const INSTALL_SCRIPTS: Readonly<Record<string, string>> = {
  '@google/genai': 'an echo',
  '@vscode/vsce-sign': 'copies its binary to where vsce looks for it; packaging needs no signature',
  esbuild: 'puts its binary in the place of a slower shim',
  node: 'brings the Node that tests and builds run with: this one is needed',
  protobufjs: 'warns of version schemes',
};

it('npm ci runs no install scripts of packages that were not reviewed', () => {
  const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as {
    packages: Record<string, { readonly hasInstallScript?: boolean; readonly optional?: boolean }>;
  };
  const names = Object.entries(packages)
    .filter(([path, { hasInstallScript, optional }]) => path !== '' && hasInstallScript === true && optional !== true)
    .map(([path]) => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length));
  expect([...new Set(names)].sort()).toEqual(Object.keys(INSTALL_SCRIPTS).sort());
});

it('third-party notices in a package are included with its license', () => {
  const file = join(temporaryFolder(), 'licences.txt');
  const folder = 'node_modules/@vscode/webview-ui-toolkit';
  writeLicences(file, [{ inputs: { [`${folder}/dist/index.js`]: { bytes: 0, imports: [] } } }]);
  const text = readFileSync(file, 'utf8');
  const notices = readdirSync(folder).filter((name) => /notice/i.test(name));
  expect(notices).not.toEqual([]);
  for (const name of notices) {
    expect(text).toContain(readFileSync(join(folder, name), 'utf8').replaceAll('\r', '').trim());
  }
});
