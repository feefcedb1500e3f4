// npm test               everything there is but the long lane: types, lint, format, build, unit and integration tests with coverage,
//                        and the real VS Code; side by side where there are more than two cores and 8 GB are free
// npm run test:quick     types, lint of what changed since main, the tests that changed and those beside what changed
// npm run test:long      before a release: the property tests from more seeds and with more runs, the monkey, the long
//                        scenarios, and real agents behind the gateway
// Begins with what the machine lacks, runs all that does without it, and ends with what failed or was skipped and one line,
// "N passed, N failed[, N skipped]"; exit code 1 where anything failed, and in CI where the machine lacked something.
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { availableParallelism, freemem, setPriority } from 'node:os';
import { dirname, join, relative, resolve as resolvePath } from 'node:path';
import { createInterface } from 'node:readline';
import { stripVTControlCharacters } from 'node:util';
import { findings, skipWords, thisMachine, wellWords } from './preflight.mjs';

/** VS Code with its browser takes about 3 GB at once, the linter and the unit tests beside it 4. */
const BYTES_FOR_BOTH_LANES = 8e9;
/** The long lane runs more of these: each property test, from each of these seeds. */
const PROPERTY_TESTS = [
  ...['invariants', 'property', 'properties', 'statements', 'incremental', 'exchanges', 'arrivals', 'losslessRuns'],
  ...[
    'damage',
    'editJson',
    'rewriteJson',
    'clineInput',
    'maskSecrets',
    'bodies',
    'beginnings',
    'draft.test',
    'truncate.test',
  ],
];
const SEEDS = [2, 3, 5];
const LONG_RUNS = 200;
const MONKEY = { MONKEY_STEPS: '1000', MONKEY_SEED: '7' };
/** Of what only calculates while VS Code runs beside it: there a test waits for what a busy machine draws late. */
const NICE_BESIDE_VSCODE = 10;
let calculatingNice = 0;
/** So many of the slowest files are named. */
const SLOWEST = 10;
/** What failed is told again at the end, since of a long output often only the end is kept: so many lines of each test, and of a step that names none. */
const LINES_OF_FAILURE = 6;
const LINES_OF_STEP = 15;
const results = 'test-results';

const mode = ['quick', 'long'].find((name) => process.argv.includes(`--${name}`)) ?? 'whole';
const begun = Date.now();
const machine = await thisMachine();
// Nothing of the quick lane runs in VS Code.
const missing = findings(machine).filter(({ loses }) => mode !== 'quick' || loses === 'everything');
console.log(`Preflight: ${wellWords(machine)}`);
for (const { problem, mend } of missing) console.log(`  MISSING: ${problem}. To mend it: ${mend}`);
if (missing.some(({ loses }) => loses === 'everything')) process.exit(1);

await import('./install.mjs');
mkdirSync(results, { recursive: true });

const counts = { passed: 0, failed: 0, skipped: 0 };
const failures = [];
const skips = missing.length > 0 ? [skipWords(missing)] : [];
const timings = [];
const seconds = (since) => `${((Date.now() - since) / 1000).toFixed(1)} s`;

/** What a step says of each test that failed or, where it names none, its last lines. */
function failuresOf(name, lines) {
  const starts = lines.flatMap((line, at) => (/^ *FAIL(?:ED)?\b/.test(line) ? [at] : []));
  const pieces = starts.map((at, i) => lines.slice(at, Math.min(at + LINES_OF_FAILURE, starts[i + 1] ?? lines.length)));
  const told = pieces.length > 0 ? pieces : [lines.slice(-LINES_OF_STEP)];
  return told.map((piece) => `FAILED in "${name}": ${piece.join('\n  ').trim()}`);
}

/**
 * Runs a command, each line of its output passed on behind the step's name, and adds what its last "N passed, N failed" says to the
 * counts; a step that counts nothing is itself what passed or failed.
 * @returns {Promise<boolean>} whether it ended well
 */
function step(name, command, args, { counted = true, nice = 0, env = {} } = {}) {
  return new Promise((resolve) => {
    const started = Date.now();
    console.log(`[${name}] begins`);
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, ...env } });
    if (nice > 0 && child.pid !== undefined) setPriority(child.pid, nice);
    let said;
    const lines = [];
    for (const stream of [child.stdout, child.stderr])
      createInterface(stream).on('line', (line) => {
        console.log(`[${name}] ${line}`);
        lines.push(stripVTControlCharacters(line));
        said = /^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?/.exec(line) ?? said;
      });
    child.on('error', (error) => console.log(`[${name}] ${error.message}`));
    child.on('close', (code) => {
      const isOk = code === 0;
      console.log(`[${name}] ${isOk ? 'ok' : `exit code ${code}`}, ${seconds(started)}`);
      timings.push(`${name} ${seconds(started)}`);
      if (counted && said) {
        counts.passed += Number(said[1]);
        counts.failed += Number(said[2]);
        counts.skipped += Number(said[3] ?? 0);
        if (!isOk && said[2] === '0' && said[3] === undefined) counts.failed++;
      } else if (counted) counts[isOk ? 'passed' : 'failed']++;
      if (!isOk) failures.push(...failuresOf(name, lines));
      resolve(isOk);
    });
  });
}

const bin = (name) => `node_modules/.bin/${name}`;
/** With a memory of what was checked for the next time. One checker of TypeScript's usual four: they do a third of their work twice. */
const types = (name, ...project) => {
  const memory = ['--incremental', '--tsBuildInfoFile', `${results}/${name}.tsbuildinfo`];
  return step(name, bin('tsc'), ['--noEmit', '--checkers', '1', ...memory, ...project], { nice: calculatingNice });
};
const typesOfAll = async () => {
  await types('types');
  await types('webview-types', '-p', 'webview-ui');
};

const lint = (files = []) =>
  step('lint', 'npm', ['run', '--silent', 'lint', '--', ...files], { nice: calculatingNice });

/** Runs vitest and counts its tests. */
async function unit(name, args, options = {}) {
  const file = `${results}/${name}.json`;
  rmSync(file, { force: true });
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${file}`];
  const isOk = await step(name, bin('vitest'), ['run', ...reporters, ...args], { ...options, counted: false });
  if (!existsSync(file)) {
    counts.failed++;
    return;
  }
  const { numPassedTests, numFailedTests, numPendingTests, testResults } = JSON.parse(readFileSync(file, 'utf8'));
  const times = testResults.map(({ name: path, startTime, endTime }) => [endTime - startTime, relative('.', path)]);
  const slowest = times.toSorted(([a], [b]) => b - a).slice(0, SLOWEST);
  console.log(`[${name}] slowest: ${slowest.map(([ms, path]) => `${path} ${(ms / 1000).toFixed(1)} s`).join(', ')}`);
  counts.passed += numPassedTests;
  // Else a threshold of the coverage is missed, or a file could not be loaded.
  counts.failed += numFailedTests > 0 ? numFailedTests : isOk ? 0 : 1;
  counts.skipped += numPendingTests;
  if (numPendingTests > 0) {
    const which = numPendingTests === 1 ? '1 test that skips itself' : `${numPendingTests} tests that skip themselves`;
    skips.push(`SKIPPED in "${name}": ${which}; look for “skipped” in the output above.`);
  }
}

const checks = () =>
  Promise.all([
    typesOfAll(),
    lint().then(() => step('format', bin('oxfmt'), ['--check', '--threads', '1'], { nice: calculatingNice })),
  ]);

/** The tests in test/ and those of many cases, then those beside the code, which tell the coverage; both on the same bundles. */
async function unitTests() {
  const bundles = resolvePath(results, 'bundles');
  await step('bundles', process.execPath, ['esbuild.mjs', '--outdir', bundles], { counted: false });
  const options = { nice: calculatingNice, env: { RANKS_FILE: join(bundles, 'o200k.bin') } };
  const workers = '--maxWorkers=2';
  await unit('whole', ['--project=whole', workers], options);
  await unit('unit', ['--coverage', '--project=!whole', workers], options);
}

async function editor(...flags) {
  if (await step('build', process.execPath, ['esbuild.mjs', '--production']))
    await step('VS Code', process.execPath, ['test/e2e/run.mjs', ...flags]);
}

/** The files that changed since the branch left main, uncommitted ones included. */
function changedFiles() {
  const git = (...args) => execFileSync('git', args, { encoding: 'utf8' }).split('\n').filter(Boolean);
  let base = 'HEAD';
  for (const main of ['main', 'origin/main']) {
    try {
      [base] = git('merge-base', 'HEAD', main);
      break;
    } catch {
      // There is no such branch.
    }
  }
  const known = git('diff', '--name-only', '--diff-filter=d', base);
  return [...known, ...git('ls-files', '--others', '--exclude-standard')];
}

const lanes = {
  async whole() {
    // Each lane fills two cores: at once they would take an eighth more of the processor's time than one behind the other.
    const isAlone = availableParallelism() <= 2 || freemem() < BYTES_FOR_BOTH_LANES;
    const vscode = isAlone ? undefined : editor();
    if (vscode) calculatingNice = NICE_BESIDE_VSCODE;
    await checks();
    await unitTests();
    await (vscode ?? editor());
  },

  async quick() {
    const files = changedFiles();
    const sources = files.filter((file) => /\.(?:tsx?|mjs)$/.test(file));
    const isTest = (file) => /\.test\.tsx?$/.test(file) && !file.startsWith('test/e2e/');
    const folders = new Set(sources.filter((file) => !isTest(file)).map((file) => dirname(file)));
    const beside = [...folders].flatMap((folder) => readdirSync(folder).map((name) => join(folder, name)));
    const tests = [...new Set([...sources, ...beside].filter(isTest))];
    await Promise.all([typesOfAll(), sources.length > 0 && lint(sources)]);
    if (files.length > 0) await step('format', bin('oxfmt'), ['--check', '--no-error-on-unmatched-pattern', ...files]);
    if (tests.length > 0) await unit('unit', tests);
  },

  async long() {
    for (const seed of SEEDS) {
      const name = `properties-seed-${seed}`;
      const FC_CASES = `${results}/${name}.cases`;
      rmSync(FC_CASES, { force: true });
      const env = { FC_SEED: String(seed), FC_RUNS: String(LONG_RUNS), FC_CASES };
      await unit(name, ['--testTimeout', '3600000', ...PROPERTY_TESTS], { env });
      const runs = existsSync(FC_CASES) ? readFileSync(FC_CASES, 'utf8').trim().split('\n').map(Number) : [];
      const cases = runs.reduce((sum, count) => sum + count, 0);
      console.log(`[${name}] ${runs.length} properties, ${cases.toLocaleString('en')} cases`);
    }
    const whole = [
      ...[
        'test/unit/presets.corpus',
        'test/unit/corpusWide',
        'test/integration/cli',
        'test/integration/wires',
        'test/integration/ledger.crash',
      ],
      'test/integration/giveBack.crash',
      ...['src/core/tokens/o200k', 'src/live/thresholds'],
    ];
    await unit('all cases', ['--testTimeout', '3600000', ...whole], { env: { LONG_TESTS: '1' } });
    await unit('killed gateways', ['test/integration/gatewayKill.test.ts'], { env: { GATEWAY_KILLS: '100' } });
    await unit('monkey', ['test/integration/monkey.test.ts'], { env: MONKEY });
    await editor('--long');
    // Installs them from npm, into a folder that git ignores; what can't be installed is skipped in words.
    await step('agents', process.execPath, ['test/agents/run.mjs', '--json', `${results}/agents.json`]);
  },
};
await lanes[mode]();

console.log(`\nSteps: ${timings.join(', ')}; all ${seconds(begun)}`);
for (const words of [...failures, ...skips]) console.log(words);
const { passed, failed, skipped } = counts;
console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
const isIncomplete = missing.length > 0 && process.env.CI === 'true';
process.exitCode = failed > 0 || isIncomplete ? 1 : 0;
