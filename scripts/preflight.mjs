// Checks the machine for what `npm test` needs, before any package is installed. Missing parts are
// listed with the command that installs them; everything else still runs.
import { spawnSync } from 'node:child_process';
import { statfsSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findChromium, hasCodeServer, hasPrebuiltTerminal, root } from './vscode.mjs';

/**
 * The oldest Node that can install the packages. One of them is the newer Node that runs everything
 * else.
 */
const OLDEST_NODE = [20, 19];
/** Free bytes needed for code-server with its packages, and for a run's files. */
const CODE_SERVER_BYTES = 700e6;
const RUN_BYTES = 500e6;
const TEMPORARY_BYTES = 1e9;

const COMPILERS = ['make', 'g++', 'python3'];

/** @returns {Promise<import('./preflight.mjs').Machine>} */
export async function inspectMachine() {
  const { chromium, chromiumProblem } = findBrowser();
  return {
    platform: process.platform,
    arch: process.arch,
    isGlibc: process.report?.getReport().header.glibcVersionRuntime !== undefined,
    node: process.versions.node,
    isOwnNode: process.execPath.startsWith(join(root, 'node_modules')),
    chromium,
    chromiumProblem,
    missingCompilers: COMPILERS.filter((name) => spawnSync(name, ['--version'], { stdio: 'ignore' }).status !== 0),
    hasCodeServer: hasCodeServer(),
    loopbackProblem: await findLoopbackProblem(),
    freeBytes: getFreeBytes(root),
    temporaryBytes: getFreeBytes(tmpdir()),
  };
}

function findBrowser() {
  try {
    const browserPath = findChromium();
    if (browserPath === null) return {};
    const { status, stdout, stderr, error } = spawnSync(browserPath, ['--version'], {
      encoding: 'utf8',
      timeout: 20_000,
    });
    if (status === 0) return { chromium: stdout.trim() };
    return {
      chromiumProblem: `${browserPath} does not start: ${error?.message ?? (stderr.trim().split('\n').at(-1) || `exit code ${status}`)}`,
    };
  } catch (error) {
    return { chromiumProblem: error instanceof Error ? error.message : String(error) };
  }
}

/** @returns {Promise<string | undefined>} */
const findLoopbackProblem = () =>
  new Promise((resolve) => {
    const server = createServer();
    server.on('error', (error) => resolve(error.message));
    server.listen(0, '127.0.0.1', () => server.close(() => resolve(undefined)));
  });

function getFreeBytes(folder) {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}

/**
 * Returns the parts that a machine lacks.
 * @param {import('./preflight.mjs').Machine} machine
 * @returns {import('./preflight.mjs').Finding[]}
 */
export function listFindings(machine) {
  const findings = [];
  const [major = 0, minor = 0] = machine.node.split('.').map(Number);
  if (major < OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor < OLDEST_NODE[1]))
    findings.push({
      problem: `Node ${machine.node} is too old: the project needs ${OLDEST_NODE.join('.')} or later`,
      mend: 'install Node 24 (https://nodejs.org)',
      loses: 'everything',
    });
  if (machine.loopbackProblem !== undefined)
    findings.push({
      problem: `no server can listen on 127.0.0.1 (${machine.loopbackProblem})`,
      mend: 'sudo ip link set lo up; in a sandbox, allow local servers',
      loses: 'VS Code',
    });
  const neededBytes = RUN_BYTES + (machine.hasCodeServer ? 0 : CODE_SERVER_BYTES);
  if (machine.freeBytes < neededBytes)
    findings.push(
      createDiskFinding('the disk of the project', machine.freeBytes, neededBytes, 'free some, or move the project'),
    );
  if (machine.temporaryBytes < TEMPORARY_BYTES)
    findings.push(
      createDiskFinding(
        tmpdir(),
        machine.temporaryBytes,
        TEMPORARY_BYTES,
        'free some, or set TMPDIR to a folder on another disk',
      ),
    );
  if (machine.platform === 'win32') {
    findings.push({
      problem: 'code-server, the VS Code of these tests, does not run on Windows',
      mend: 'use WSL, or "npm run test:electron"',
      loses: 'VS Code',
    });
    return findings;
  }
  if (machine.chromium === undefined)
    findings.push({
      problem: machine.chromiumProblem ?? 'there is no Chromium or Chrome on PATH',
      mend: describeBrowserFix(machine),
      loses: 'VS Code',
    });
  if (!machine.hasCodeServer && !hasPrebuiltTerminal(machine) && machine.missingCompilers.length > 0)
    findings.push({
      problem: `VS Code's terminal module does not come built for ${machine.platform} ${machine.arch}${machine.isGlibc || machine.platform !== 'linux' ? '' : ' without glibc'}, and there is no ${machine.missingCompilers.join(', no ')} to build it`,
      mend: machine.platform === 'darwin' ? 'xcode-select --install' : 'sudo apt-get install -y make g++ python3',
      loses: 'VS Code',
    });
  return findings;
}

function describeBrowserFix({ platform, chromiumProblem = '' }) {
  if (chromiumProblem.startsWith('CHROMIUM_PATH')) return 'unset CHROMIUM_PATH, or set it to a Chromium or Chrome';
  return platform === 'darwin'
    ? 'brew install --cask chromium; or set CHROMIUM_PATH'
    : 'sudo apt-get install -y chromium fonts-dejavu-core; or set CHROMIUM_PATH';
}

const formatGigabytes = (bytes) => `${(bytes / 1e9).toFixed(1)} GB`;

const createDiskFinding = (where, free, needed, mend) => ({
  problem: `${where} has ${formatGigabytes(free)} free, and the tests in VS Code need ${formatGigabytes(needed)}`,
  mend,
  loses: 'VS Code',
});

/** Says why the tests in VS Code are skipped, and how to fix it. */
export const describeSkippedTests = (missing) =>
  [
    'SKIPPED: every test in a real VS Code, because',
    ...missing.map(({ problem, mend }) => `  ${problem}. To fix it: ${mend}`),
  ].join('\n');

/** Describes on one line what was found. */
export const describeMachine = (machine) =>
  [
    `Node ${machine.node}${machine.isOwnNode === true ? ', from the project’s packages' : ''}`,
    machine.chromium ?? 'no browser',
    machine.hasCodeServer
      ? 'code-server installed'
      : hasPrebuiltTerminal(machine)
        ? 'code-server comes built: no compiler needed'
        : `compiler ${machine.missingCompilers.length === 0 ? 'there' : 'missing'}`,
    `${formatGigabytes(machine.freeBytes)} free`,
    machine.loopbackProblem === undefined ? '127.0.0.1 listens' : 'no loopback',
  ].join(' · ');
