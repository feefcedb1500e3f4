// Everything there is: types, lint, format, build, unit and integration tests with coverage, and the real VS Code.
// Ends with one line, "N passed, N failed", and exit code 1 where anything failed.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';

const results = 'test-results';
const vitestJson = `${results}/vitest.json`;
rmSync(vitestJson, { force: true });
mkdirSync(results, { recursive: true });

/** Runs a command, its output passed on; gives its exit code and the last "N passed, N failed" that it printed. */
const run = (name, command, args) =>
  new Promise((resolve) => {
    console.log(`\n== ${name}`);
    const started = Date.now();
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'], env: process.env });
    let counted;
    let tail = '';
    child.stdout.on('data', (chunk) => {
      process.stdout.write(chunk);
      const lines = (tail + chunk.toString()).split('\n');
      tail = lines.pop() ?? '';
      for (const line of lines) counted = /^(\d+) passed, (\d+) failed/.exec(line) ?? counted;
    });
    child.on('error', (error) => console.error(error.message));
    child.on('close', (code) => {
      console.log(
        `-- ${name}: ${code === 0 ? 'ok' : `exit code ${code}`}, ${((Date.now() - started) / 1000).toFixed(1)} s`,
      );
      resolve({ ok: code === 0, passed: Number(counted?.[1] ?? 0), failed: Number(counted?.[2] ?? 0) });
    });
  });

let passed = 0;
let failed = 0;
const step = async (name, command, ...args) => {
  const result = await run(name, command, args);
  passed += result.passed;
  // A step that counts nothing is itself what passed or failed.
  if (result.passed + result.failed === 0) passed += result.ok ? 1 : 0;
  failed += result.failed > 0 ? result.failed : result.ok ? 0 : 1;
};

const bin = (name) => `node_modules/.bin/${name}`;
// It takes as long as the three beside it together.
const lint = step('Lint', bin('eslint'), '.', '--max-warnings', '0');
await step('Types', bin('tsc'), '--noEmit');
await step('Types of the webview', bin('tsc'), '--noEmit', '-p', 'webview-ui');
await step('Format', bin('prettier'), '--check', '--log-level', 'warn', '.');
await lint;
await step('Build', process.execPath, 'esbuild.mjs', '--production');
const unit = await run('Unit and integration tests', bin('vitest'), [
  'run',
  '--coverage',
  '--reporter=default',
  '--reporter=json',
  `--outputFile.json=${vitestJson}`,
]);
if (existsSync(vitestJson)) {
  const report = JSON.parse(readFileSync(vitestJson, 'utf8'));
  passed += report.numPassedTests;
  failed += report.numFailedTests;
  if (!unit.ok && report.numFailedTests === 0) failed += 1;
} else failed += 1;
await step('End to end in VS Code', process.execPath, 'test/e2e/run.mjs');

console.log(`\n${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 ? 1 : 0;
