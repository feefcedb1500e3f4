import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../scripts/vscode.mjs';
import type { Report } from './report';
import type { SuiteResult } from './suite/index';

/**
 * VS Code runs a suite only for a development extension. This one is empty, so that the installed
 * VSIX is tested.
 */
export const hostExtension = join(root, 'test', 'e2e', 'suite', 'host');

/** Reads the suite's output, which has one result per line. */
export function suiteResults(file: string): readonly SuiteResult[] {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, 'utf8').split('\n');
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as SuiteResult);
}

/** Adds the suite's results to the report, and compares them with its exit code. */
export function addSuiteResults(report: Report, file: string, exitCode: number): void {
  const results = suiteResults(file);
  rmSync(file, { force: true });
  const tests = results.filter((result) => result.kind === 'test');
  for (const result of results) if (result.kind === 'figure') console.log(`     ${result.text}`);
  for (const test of tests) report.add(`in host: ${test.name}`, test.seconds, test.error);
  const failed = tests.filter((test) => test.error !== undefined).length;
  if (!results.some((result) => result.kind === 'end'))
    report.add('in host: the suite ran to its end', 0, `exit code ${exitCode}, after ${tests.length} tests`);
  else if ((exitCode === 0) !== (failed === 0))
    report.add('in host: the exit code agrees', 0, `exit code ${exitCode}, ${failed} failed`);
}
