// VS Code for tests: code-server (VS Code's workbench and extension host on npm), and a Chromium to
// open it in.
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { delimiter, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { getChannel } from './changelog.mjs';

/**
 * Finds the nearest folder with a package.json, since this file is also bundled into the test
 * runner.
 */
export const root = (() => {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, 'package.json'))) folder = resolve(folder, '..');
  return folder;
})();
/** Downloads and other files for tests in VS Code; ignored by git. */
export const cacheFolder = join(root, '.vscode-test');
export const codeServerVersion = '4.139.1';

const codeServerFolder = join(cacheFolder, 'code-server');
const STAMP_FILE_NAME = 'context-condenser-stamp';
/**
 * The workbench needs three of code-server's native modules. node-pty ships prebuilt
 * (`hasPrebuiltTerminal`); the other two, for logging and watching, are replaced by JavaScript, so no
 * compiler is needed.
 */
const replacements = { '@vscode/spdlog': 'spdlog.cjs', '@vscode/native-watchdog': 'watchdog.cjs' };

/**
 * Returns the path of Node 24 for code-server and vsce: the current one if new enough, otherwise
 * the one from `npm ci`.
 */
export function getNode24Path() {
  if (Number(process.versions.node.split('.')[0]) === 24) return process.execPath;
  const ownNodePath = join(root, 'node_modules', 'node', 'bin', process.platform === 'win32' ? 'node.exe' : 'node');
  if (!existsSync(ownNodePath)) throw new Error('Node 24 is not installed: run "npm ci" in the project first.');
  return ownNodePath;
}

/**
 * True if node-pty 1.2 comes prebuilt for this machine (see the folders in its `prebuilds/`). The
 * builds for Linux need glibc.
 * @param {{ platform: string, arch: string, isGlibc: boolean }} machine
 */
export const hasPrebuiltTerminal = ({ platform, arch, isGlibc }) =>
  ['x64', 'arm64'].includes(arch) && (platform === 'darwin' || (platform === 'linux' && isGlibc));

/**
 * Finds the folder whose `include/node` has the headers of `getNode24Path()` from npm, so that node-gyp
 * downloads none.
 */
function findHeaders() {
  const prefix = process.platform === 'darwin' && process.arch === 'arm64' ? 'node-bin' : 'node';
  const name = `${prefix}-${process.platform}-${process.arch}`;
  const folders = [
    join(root, 'node_modules', 'node', 'node_modules', name),
    join(root, 'node_modules', name),
    resolve(dirname(process.execPath), '..'),
  ];
  return folders.find((folder) => existsSync(join(folder, 'include', 'node', 'node_api.h')));
}

/** Makes the workbench's native modules work. */
async function provideNativeModules(vscode) {
  for (const [name, file] of Object.entries(replacements))
    copyFileSync(join(root, 'scripts', 'codeServer', file), join(vscode, 'node_modules', name, 'index.js'));
  const canLoad = () => {
    const { status } = spawnSync(getNode24Path(), ['-e', 'require("node-pty").spawn("true", [])'], {
      cwd: vscode,
      env: environment(),
      stdio: 'ignore',
    });
    return status === 0;
  };
  // node-pty's install script makes its helper executable, and compiles if there is no prebuilt
  // version.
  await npm(['rebuild', 'node-pty'], vscode);
  if (!canLoad()) await npm(['rebuild', 'node-pty', '--build-from-source'], vscode);
  if (!canLoad()) throw new Error('node-pty, VS Code’s terminal, was built and does not load.');
}

/**
 * Uses the README that the build generates for VS Code's details page (readme.mjs), if there is
 * one.
 */
export const getReadmeArguments = (extension) =>
  existsSync(join(extension, 'dist', 'README.md')) ? ['--readme-path', 'dist/README.md'] : [];

/** Returns the arguments with which Node 24 (`getNode24Path()`) runs vsce. */
export function getPackageArguments(vsix, extension = root) {
  const { repository, version } = JSON.parse(readFileSync(join(extension, 'package.json'), 'utf8'));
  return [
    join(root, 'node_modules', '@vscode', 'vsce', 'vsce'),
    'package',
    '--no-dependencies',
    ...(repository === undefined ? ['--allow-missing-repository'] : []),
    ...(getChannel(version) === 'pre-release' ? ['--pre-release'] : []),
    '--no-rewrite-relative-links',
    ...getReadmeArguments(extension),
    '-o',
    vsix,
  ];
}

/** The package created by `npm run package` and `npm start`. */
export const vsix = join(root, 'dist', 'context-condenser.vsix');

/** Packages the build as {@link vsix}. */
export function packExtension() {
  const { status, error } = spawnSync(getNode24Path(), getPackageArguments(vsix), {
    cwd: root,
    stdio: ['ignore', 2, 2],
    env: environment(),
  });
  if (status !== 0) throw new Error(`Packaging the extension failed (${error?.message ?? `exit code ${status}`}).`);
}

/**
 * Returns the environment with Node 24 first on PATH and without variables of an outer `npm run`.
 */
export function environment() {
  const env = Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) => !/^(npm_(package|lifecycle)_|npm_config_local_prefix$|INIT_CWD$)/.test(name),
    ),
  );
  return { ...env, PATH: `${dirname(getNode24Path())}${delimiter}${process.env.PATH ?? ''}` };
}

function npm(args, cwd) {
  return new Promise((done, failed) => {
    const flags = ['--no-audit', '--no-fund', '--loglevel=error'];
    const nodedir = findHeaders();
    const env = { ...environment(), ...(nodedir !== undefined && { npm_config_nodedir: nodedir }) };
    const child = spawn('npm', [...args, ...flags], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    child.stdout.on('data', (chunk) => (output += chunk));
    child.stderr.on('data', (chunk) => (output += chunk));
    child.on('error', failed);
    child.on('close', (code) => {
      if (code === 0) done();
      else failed(new Error(`"npm ${args.join(' ')}" ended with ${code}:\n${output.slice(-4000)}`));
    });
  });
}

const getEntry = (folder) => join(folder, 'node_modules', 'code-server', 'out', 'node', 'entry.js');
const isInstalled = (folder) =>
  existsSync(getEntry(folder)) &&
  existsSync(join(folder, STAMP_FILE_NAME)) &&
  readFileSync(join(folder, STAMP_FILE_NAME), 'utf8') === codeServerVersion;

/** True if {@link ensureCodeServer} has nothing to do. */
export const hasCodeServer = () => isInstalled(codeServerFolder);

/**
 * Installs code-server into `.vscode-test/code-server` if missing. It is installed into a
 * temporary folder that is renamed at the end, so failed and concurrent installs are harmless.
 * @returns its entry script, to run with Node 24
 */
export async function ensureCodeServer(log = console.error) {
  if (isInstalled(codeServerFolder)) return getEntry(codeServerFolder);
  if (process.platform === 'win32')
    throw new Error('code-server does not run on Windows: use WSL, or "npm run test:electron".');
  const startTimeMs = Date.now();
  log(`Installing code-server ${codeServerVersion} into .vscode-test (once, about a minute) …`);
  mkdirSync(cacheFolder, { recursive: true });
  const temporaryFolder = mkdtempSync(join(cacheFolder, 'installing-'));
  try {
    writeFileSync(join(temporaryFolder, 'package.json'), '{"private":true}');
    await npm(['install', `code-server@${codeServerVersion}`, '--ignore-scripts'], temporaryFolder);
    const vscode = join(temporaryFolder, 'node_modules', 'code-server', 'lib', 'vscode');
    await npm(['install', '--omit=dev', '--ignore-scripts'], vscode);
    await npm(['install', '--omit=dev', '--ignore-scripts'], join(vscode, 'extensions'));
    await provideNativeModules(vscode);
    execFileSync(getNode24Path(), [getEntry(temporaryFolder), '--version'], {
      env: environment(),
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    writeFileSync(join(temporaryFolder, STAMP_FILE_NAME), codeServerVersion);
    if (isInstalled(codeServerFolder)) return getEntry(codeServerFolder);
    rmSync(codeServerFolder, { recursive: true, force: true });
    renameSync(temporaryFolder, codeServerFolder);
  } catch (error) {
    if (isInstalled(codeServerFolder)) return getEntry(codeServerFolder);
    throw new Error(
      'code-server could not be installed. It needs npm with a reachable registry; where node-pty does not come built (Linux without glibc, other processors), also python3, make and a C++ compiler.\n' +
        (error instanceof Error ? error.message : String(error)),
      { cause: error },
    );
  } finally {
    rmSync(temporaryFolder, { recursive: true, force: true });
  }
  log(`Installed code-server in ${Math.round((Date.now() - startTimeMs) / 1000)} s.`);
  return getEntry(codeServerFolder);
}

/**
 * Prefers the headless shell, which draws no window and saves a seventh of the browser's CPU time.
 */
const browserNames = [
  'chromium-headless-shell',
  'chromium',
  'chromium-browser',
  'google-chrome',
  'google-chrome-stable',
];
const macBrowsers = [
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
];

/**
 * Finds Chromium or Chrome in `CHROMIUM_PATH` or PATH; null if there is none.
 * @throws Error if `CHROMIUM_PATH` doesn't exist
 */
export function findChromium() {
  const pathFromEnvironment = process.env.CHROMIUM_PATH;
  if (pathFromEnvironment !== undefined && pathFromEnvironment !== '') {
    if (!existsSync(pathFromEnvironment))
      throw new Error(`CHROMIUM_PATH names ${pathFromEnvironment}, which does not exist`);
    return pathFromEnvironment;
  }
  const folders = (process.env.PATH ?? '').split(delimiter).filter((folder) => folder !== '');
  const candidatePaths = browserNames.flatMap((name) => folders.map((folder) => join(folder, name)));
  return [...candidatePaths, ...macBrowsers].find((path) => existsSync(path)) ?? null;
}
