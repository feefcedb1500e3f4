// Everything there is: types, lint, format, build, unit and integration tests with coverage, and the real VS Code, in two lanes
// side by side. Begins with what the machine lacks, runs all that does without it, and ends with what was skipped and one line,
// "N passed, N failed[, N skipped]"; exit code 1 where anything failed, and in CI where anything was skipped.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { freemem, setPriority } from 'node:os';
import { createInterface } from 'node:readline';
import { findings, skipWords, thisMachine, wellWords } from './preflight.mjs';

/** VS Code with its browser takes about 3 GB at once, the linter and the unit tests beside it 4. */
const BYTES_FOR_BOTH_LANES = 8e9;

const begun = Date.now();
const machine = await thisMachine();
const missing = findings(machine);
console.log(`Preflight: ${wellWords(machine)}`);
for (const { problem, mend } of missing) console.log(`  MISSING: ${problem}. To mend it: ${mend}`);
if (missing.some(({ loses }) => loses === 'everything')) process.exit(1);

await import('./install.mjs');

const results = 'test-results';
const vitestJson = `${results}/vitest.json`;
rmSync(vitestJson, { force: true });
mkdirSync(results, { recursive: true });

const counts = { passed: 0, failed: 0, skipped: 0 };
const timings = [];
const seconds = (since) => `${((Date.now() - since) / 1000).toFixed(1)} s`;

/**
 * Runs a command, each line of its output passed on behind the step's name, and adds what its last "N passed, N failed" says to the
 * counts; a step that counts nothing is itself what passed or failed.
 * @returns {Promise<boolean>} whether it ended well
 */
function step(name, command, args, { counted = true, nice = 0 } = {}) {
  return new Promise((resolve) => {
    const started = Date.now();
    console.log(`[${name}] begins`);
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    // The linter and the unit tests only calculate; in VS Code a test waits for what a busy machine draws late.
    if (nice > 0 && child.pid !== undefined) setPriority(child.pid, nice);
    let said;
    for (const stream of [child.stdout, child.stderr])
      createInterface(stream).on('line', (line) => {
        console.log(`[${name}] ${line}`);
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
      resolve(isOk);
    });
  });
}

const bin = (name) => `node_modules/.bin/${name}`;

async function calculating() {
  const nice = 5;
  await step('types', bin('tsc'), ['--noEmit'], { nice });
  await step('types of the webview', bin('tsc'), ['--noEmit', '-p', 'webview-ui'], { nice });
  await step('format', bin('prettier'), ['--check', '--log-level', 'warn', '.'], { nice });
  await step('lint', bin('eslint'), ['.', '--max-warnings', '0'], { nice });
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${vitestJson}`];
  const isOk = await step('unit', bin('vitest'), ['run', '--coverage', ...reporters], { nice, counted: false });
  if (!existsSync(vitestJson)) {
    counts.failed++;
    return;
  }
  const { numPassedTests, numFailedTests, numPendingTests } = JSON.parse(readFileSync(vitestJson, 'utf8'));
  counts.passed += numPassedTests;
  // A threshold of the coverage that is missed, or a file that could not be loaded.
  counts.failed += numFailedTests > 0 ? numFailedTests : isOk ? 0 : 1;
  counts.skipped += numPendingTests;
  if (numPendingTests > 0)
    skips.push(
      `SKIPPED: ${numPendingTests} unit tests that skip themselves (conversations outside of the repository).`,
    );
}

async function editor() {
  if (await step('build', process.execPath, ['esbuild.mjs', '--production']))
    await step('VS Code', process.execPath, ['test/e2e/run.mjs']);
}

const skips = missing.length > 0 ? [skipWords(missing)] : [];
if (freemem() >= BYTES_FOR_BOTH_LANES) await Promise.all([editor(), calculating()]);
else {
  await calculating();
  await editor();
}

console.log(`\nSteps: ${timings.join(', ')}; all ${seconds(begun)}`);
for (const skip of skips) console.log(skip);
const { passed, failed, skipped } = counts;
console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
const isIncomplete = missing.length > 0 && process.env.CI === 'true';
process.exitCode = failed > 0 || isIncomplete ? 1 : 0;
