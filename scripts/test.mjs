// npm test              types, lint, format, unused exports, commit subjects, the unit and panel
//                       tests, and a smoke test of the packaged extension in VS Code
// npm run test:quick    types, lint, format and tests of what changed since main
// npm run test:system   the tests with processes, threads, kills and many cases
// npm run test:vscode   all scenarios in VS Code; `-- --smoke` runs those of `npm test`, and
//                       `-- TEXT…` those whose names contain one of these texts
// npm run test:all      all of the above with many more cases of each property, and coverage;
//                       `-- --rest` counts what `npm test` just ran without running it again
// npm run test:long     before a release: properties from more seeds, every case, the long
//                       scenarios, and real agents behind the gateway
//
// First reports what the machine lacks and runs everything that works without it, then lists what
// failed or was skipped. The last line is "N passed, N failed[, N skipped]". The exit code is 1 if
// anything failed, and in CI also if the machine lacks something.
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, freemem, setPriority } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs, stripVTControlCharacters } from 'node:util';
import { listFindings, describeSkippedTests, inspectMachine, describeMachine } from './preflight.mjs';

/** VS Code with its browser needs about 3 GB, linter and tests 4 GB. */
const BYTES_TO_RUN_BESIDE_VSCODE = 8e9;
/** VS Code's scenarios wait for rendering, so the other tests get less priority. */
const NICE_BESIDE_VSCODE = 10;
/** Cases per property in `test:all`; `npm test` runs the number in test/support/setup.ts. */
const MANY_CASES = 200;
/** Seeds per property in `test:long`; other lanes use 1. */
const LONG_SEEDS = [2, 3, 5];
const SLOWEST_FILES = 10;
/**
 * Failures are repeated at the end, with this many lines per test or per step without tests, since
 * often only the end of an output is kept.
 */
const LINES_PER_FAILURE = 6;
const LINES_PER_STEP = 15;
const resultsFolder = 'test-results';
const LANES = ['test', 'quick', 'system', 'vscode', 'all', 'long'];

const { values: flags, positionals } = parseArgs({
  options: { smoke: { type: 'boolean', default: false }, rest: { type: 'boolean', default: false } },
  allowPositionals: true,
});
const [lane = 'test', ...names] = positionals;
if (!LANES.includes(lane)) throw new Error(`There is no lane "${lane}": ${LANES.join(', ')}`);

const startTimeMs = Date.now();
const machine = await inspectMachine();
const usesVsCode = lane !== 'quick' && lane !== 'system';
const missingRequirements = listFindings(machine).filter(({ loses }) => usesVsCode || loses === 'everything');
console.log(`Preflight: ${describeMachine(machine)}`);
for (const { problem, mend } of missingRequirements) console.log(`  MISSING: ${problem}. To fix it: ${mend}`);
if (missingRequirements.some(({ loses }) => loses === 'everything')) process.exit(1);

await import('./install.mjs');
mkdirSync(resultsFolder, { recursive: true });

/** Results per step: `{ name, passed, failed, skipped }`. */
const steps = [];
const times = [];
const failures = [];
const skips = missingRequirements.length > 0 ? [describeSkippedTests(missingRequirements)] : [];
let nice = 0;

/** Returns the failed tests in a step's output, or its last lines. */
function findFailures(name, lines) {
  const failureStarts = lines.flatMap((line, at) => (/^ *FAIL(?:ED)?\b/.test(line) ? [at] : []));
  const failureExcerpts = failureStarts.map((at, i) =>
    lines.slice(at, Math.min(at + LINES_PER_FAILURE, failureStarts[i + 1] ?? lines.length)),
  );
  const reportedExcerpts = failureExcerpts.length > 0 ? failureExcerpts : [lines.slice(-LINES_PER_STEP)];
  return reportedExcerpts.map((piece) => `FAILED in "${name}": ${piece.join('\n  ').trim()}`);
}

/**
 * Runs a command and prefixes its output with the step's name. Takes the counts from the last line
 * "N passed, N failed" that the command prints; without such a line, the step counts as one test.
 * @param {(isOk: boolean) => object[]} [count] returns the results to record if they are not in the
 *   output
 * @returns {Promise<boolean>} true if it succeeded
 */
function runStep(name, command, args, { env = {}, count } = {}) {
  return new Promise((resolve) => {
    const stepStartMs = Date.now();
    console.log(`[${name}] begins`);
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, ...env } });
    if (nice > 0 && child.pid !== undefined) setPriority(child.pid, nice);
    let reportedCounts;
    const outputLines = [];
    for (const stream of [child.stdout, child.stderr])
      createInterface(stream).on('line', (line) => {
        console.log(`[${name}] ${line}`);
        outputLines.push(stripVTControlCharacters(line));
        reportedCounts = /^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?/.exec(line) ?? reportedCounts;
      });
    child.on('error', (error) => console.log(`[${name}] ${error.message}`));
    child.on('close', (code) => {
      const isOk = code === 0;
      const seconds = (Date.now() - stepStartMs) / 1000;
      console.log(`[${name}] ${isOk ? 'ok' : `exit code ${code}`}, ${seconds.toFixed(1)} s`);
      times.push(`${name} ${seconds.toFixed(1)} s`);
      const [passed, failed, skipped] = reportedCounts
        ? reportedCounts.slice(1).map((digits) => Number(digits ?? 0))
        : [Number(isOk), Number(!isOk), 0];
      const stepCounts = { name, passed, failed: isOk || skipped > 0 ? failed : Math.max(failed, 1), skipped };
      steps.push(...(count?.(isOk) ?? [stepCounts]));
      if (!isOk) failures.push(...findFailures(name, outputLines));
      resolve(isOk);
    });
  });
}

const getBinPath = (name) => `node_modules/.bin/${name}`;

/**
 * Runs the type checker incrementally and with one checker, since TypeScript's usual four repeat a
 * third of the work.
 */
const checkTypes = (name, ...project) => {
  const incrementalOptions = ['--incremental', '--tsBuildInfoFile', `${resultsFolder}/${name}.tsbuildinfo`];
  return runStep(name, getBinPath('tsc'), ['--noEmit', '--checkers', '1', ...incrementalOptions, ...project]);
};
const checkAllTypes = async () => {
  await checkTypes('types');
  await checkTypes('webview-types', '-p', 'webview-ui');
};
const runLint = (files = []) => runStep('lint', 'npm', ['run', '--silent', 'lint', '--', ...files]);

const runChecks = () =>
  Promise.all([
    checkAllTypes(),
    runStep('commit subjects', process.execPath, ['scripts/commitSubjects.mjs']),
    runLint().then(async () => {
      await runStep('format', getBinPath('oxfmt'), ['--check', '--threads', '1']);
      await runStep('unused exports', 'npm', ['run', '--silent', 'unused']);
    }),
  ]);

/** Returns the vitest project of a test file. */
const getTestKind = (path) =>
  path.startsWith('webview-ui/') ? 'panel' : path.endsWith('.system.test.ts') ? 'system' : 'unit';

/** Runs vitest and counts its tests by kind. */
async function runVitest(name, args, env = {}) {
  const file = `${resultsFolder}/${name.replaceAll(' ', '-')}.json`;
  rmSync(file, { force: true });
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${file}`];
  const workers = `--maxWorkers=${Math.max(2, availableParallelism() - 1)}`;
  const readTestCounts = (isOk) => {
    if (!existsSync(file)) return [{ name, passed: 0, failed: 1, skipped: 0 }];
    const countsByKind = new Map();
    const durations = [];
    for (const { name: path, startTime, endTime, status, assertionResults } of JSON.parse(readFileSync(file, 'utf8'))
      .testResults) {
      const relativePath = relative('.', path);
      durations.push([endTime - startTime, relativePath]);
      const kind = getTestKind(relativePath);
      const counts = countsByKind.get(kind) ?? { name: kind, files: 0, passed: 0, failed: 0, skipped: 0 };
      countsByKind.set(kind, counts);
      counts.files++;
      for (const { status: result } of assertionResults)
        counts[result === 'passed' || result === 'failed' ? result : 'skipped']++;
      // A file that fails to load has no tests, so it counts as one failure.
      if (status === 'failed' && !assertionResults.some((test) => test.status === 'failed')) counts.failed++;
    }
    const slowest = durations.toSorted(([a], [b]) => b - a).slice(0, SLOWEST_FILES);
    console.log(`[${name}] slowest: ${slowest.map(([ms, path]) => `${path} ${(ms / 1000).toFixed(1)} s`).join(', ')}`);
    const kindCounts = [...countsByKind.values()];
    for (const { name: kind, files, passed, failed, skipped } of kindCounts) {
      console.log(`[${name}] ${kind}: ${files} files, ${passed} passed, ${failed} failed, ${skipped} skipped`);
      if (skipped > 0)
        skips.push(`SKIPPED: ${skipped} ${kind} tests that skip themselves; “skipped” in the output above says which.`);
    }
    // Coverage is below its threshold, or an error occurred outside tests.
    if (!isOk && kindCounts.every(({ failed }) => failed === 0))
      kindCounts.push({ name, passed: 0, failed: 1, skipped: 0 });
    return kindCounts;
  };
  return runStep(name, getBinPath('vitest'), ['run', ...reporters, workers, ...args], { env, count: readTestCounts });
}

async function runVscodeTests(...args) {
  if (await runStep('build', process.execPath, ['esbuild.mjs', '--production']))
    await runStep(args.includes('--smoke') ? 'smoke' : 'VS Code', process.execPath, ['test/e2e/run.mjs', ...args]);
}

/** Returns the files changed since the branch left main, including uncommitted ones. */
function changedFiles() {
  const git = (...args) => execFileSync('git', args, { encoding: 'utf8' }).split('\n').filter(Boolean);
  let baseCommit = 'HEAD';
  for (const main of ['main', 'origin/main']) {
    try {
      [baseCommit] = git('merge-base', 'HEAD', main);
      break;
    } catch {
      // The branch doesn't exist.
    }
  }
  const changedTrackedFiles = git('diff', '--name-only', '--diff-filter=d', baseCommit);
  return [...changedTrackedFiles, ...git('ls-files', '--others', '--exclude-standard')];
}

/** Runs checks and vitest in parallel with VS Code if there is room, otherwise before it. */
async function runEverything(calculations, editor) {
  // Each of the two fully uses two cores; running them in parallel would take an eighth more CPU
  // time.
  const hasRoom = availableParallelism() > 2 && freemem() >= BYTES_TO_RUN_BESIDE_VSCODE;
  const editorRun = hasRoom ? editor() : undefined;
  if (editorRun) nice = NICE_BESIDE_VSCODE;
  await calculations();
  await (editorRun ?? editor());
}

const createManyCasesEnvironment = () => ({ FC_RUNS: String(MANY_CASES), ...process.env });
const findTestFilesWith = (text) =>
  ['src', 'test', 'webview-ui/src']
    .flatMap((folder) => readdirSync(folder, { recursive: true }).map((name) => join(folder, name)))
    .filter((file) => /\.test\.tsx?$/.test(file) && readFileSync(file, 'utf8').includes(text));

const lanes = {
  test: () =>
    runEverything(
      async () => {
        await runChecks();
        await runVitest('vitest', ['--project', 'unit', '--project', 'panel']);
      },
      () => runVscodeTests('--smoke'),
    ),

  async quick() {
    const files = changedFiles();
    const sources = files.filter((file) => /\.(?:tsx?|mjs)$/.test(file));
    const isTest = (file) => /\.test\.tsx?$/.test(file) && !file.startsWith('test/e2e/');
    const folders = new Set(sources.filter((file) => !isTest(file)).map((file) => dirname(file)));
    const siblings = [...folders].flatMap((folder) => readdirSync(folder).map((name) => join(folder, name)));
    const tests = [...new Set([...sources, ...siblings].filter(isTest))];
    await Promise.all([checkAllTypes(), sources.length > 0 && runLint(sources)]);
    if (files.length > 0)
      await runStep('format', getBinPath('oxfmt'), ['--check', '--no-error-on-unmatched-pattern', ...files]);
    if (tests.length > 0) await runVitest('vitest', tests);
  },

  system: () => runVitest('vitest', ['--project', 'system', ...names]),

  vscode: () => runVscodeTests(...(flags.smoke ? ['--smoke'] : []), ...names.flatMap((name) => ['--only', name])),

  all: () =>
    runEverything(
      async () => {
        if (!flags.rest) await runChecks();
        await runVitest('vitest', ['--coverage'], createManyCasesEnvironment());
      },
      () => runVscodeTests(),
    ),

  async long() {
    const noTimeLimit = ['--testTimeout', '3600000'];
    for (const seed of LONG_SEEDS)
      await runVitest(`properties from seed ${seed}`, [...noTimeLimit, ...findTestFilesWith("from 'fast-check'")], {
        FC_SEED: String(seed),
        FC_RUNS: String(MANY_CASES),
      });
    await runVitest('all cases', [...noTimeLimit, ...findTestFilesWith("support/long'")], { LONG_TESTS: '1' });
    await runVscodeTests('--long');
    // Installs the agents from npm into a folder that git ignores, and reports those that can't be
    // installed as skipped.
    await runStep('agents', process.execPath, ['test/agents/run.mjs', '--json', `${resultsFolder}/agents.json`]);
    const readingArguments = ['--parts', 'reading', '--json', `${resultsFolder}/reading.json`];
    await runStep('agents reading', process.execPath, ['test/agents/run.mjs', '--built', ...readingArguments]);
    const accountArguments = ['--parts', 'account', '--json', `${resultsFolder}/account.json`];
    await runStep('agents account', process.execPath, ['test/agents/run.mjs', '--built', ...accountArguments]);
  },
};

/** `npm test` leaves its result here for `test:all -- --rest`. */
const testOutcome = `${resultsFolder}/test.json`;
if (flags.rest && !existsSync(testOutcome)) throw new Error('--rest comes after `npm test`, which has not run here.');
await lanes[lane]();
const getElapsedSeconds = () => (Date.now() - startTimeMs) / 1000;
if (lane === 'test')
  writeFileSync(testOutcome, JSON.stringify({ steps, times, failures, skips, seconds: getElapsedSeconds() }));

let totalSeconds = getElapsedSeconds();
if (flags.rest) {
  const previousOutcome = JSON.parse(readFileSync(testOutcome, 'utf8'));
  totalSeconds += previousOutcome.seconds;
  times.unshift(...previousOutcome.times);
  failures.unshift(...previousOutcome.failures);
  // Tests that ran again with more cases count once, with the failures of both runs.
  const repeatedSteps = new Set(steps.map(({ name }) => name));
  steps.push(
    ...previousOutcome.steps.map((one) => (repeatedSteps.has(one.name) ? { ...one, passed: 0, skipped: 0 } : one)),
  );
}
console.log(`\nTimes: ${times.join(', ')}; all ${totalSeconds.toFixed(1)} s`);
for (const problemText of [...failures, ...skips]) console.log(problemText);
const [passed, failed, skipped] = ['passed', 'failed', 'skipped'].map((key) =>
  steps.reduce((sum, one) => sum + one[key], 0),
);
console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
const isIncomplete = missingRequirements.length > 0 && process.env.CI === 'true';
process.exitCode = failed > 0 || isIncomplete ? 1 : 0;
