import { expect, it } from 'vitest';
import { findErrorLines } from './errorLines';

const found = (...lines: readonly string[]): string[] => {
  const text = lines.join('\n');
  return findErrorLines(text).map(({ start, end }) => text.slice(start, end));
};

it('error lines of compilers, test runners and shells are found', () => {
  const failures = [
    'src/a.ts(3,5): error TS2304: Cannot find name',
    'FAIL entire.io/cli [build failed]',
    'not ok 3 reads errors',
    'test parser::errors ... FAILED',
    'cat: x: No such file or directory',
    'Tests: 1 failed, 0 errors',
    '✗ throws on failure',
    '--- FAIL: TestSetup (0.01s)',
    'ok: false | failed: no value',
  ];
  expect(found('fine', ...failures, 'done')).toEqual(failures);
});

it('passed tests and counts of zero are not error lines', () => {
  expect(
    found(
      'test error::tests::clones_auth_failed ... ok',
      'agent test: (pass) retry > throws when the file was not found [1.00ms]',
      'ok 20 fails with a clear error # skip',
      '  ✓ throws an error',
      '--- PASS: TestErrorPaths (0.00s)',
      'tests/test_errors.py::test_fatal PASSED [ 10%]',
      'test result: ok. 1 passed; 0 failed; 1 ignored',
      'Found 0 errors.',
    ),
  ).toEqual([]);
});

it('passed tests do not use up the limit of error lines', () => {
  const passed = Array.from({ length: 20 }, (_, at) => `test error::case${at} ... ok`);
  expect(found(...passed, 'test error::last ... FAILED')).toEqual(['test error::last ... FAILED']);
});
