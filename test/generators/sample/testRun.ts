import type { ClaudeCodeTools } from '../claudeCodeTools';
import type { Random } from '../random';
import type { Call } from '../session';
import type { Workspace } from '../workspace';

interface Case {
  readonly file: string;
  readonly name: string;
}

/**
 * Simulates the project's `npm test`. The new format breaks a test, which fails until it is
 * changed.
 */
export function testRun(tools: ClaudeCodeTools, workspace: Workspace, random: Random): Call {
  const cases = workspace.paths
    .filter((path) => path.startsWith('test/'))
    .flatMap((file) => listCases(workspace, file));
  const isNewFormat = workspace.text('src/store.ts').includes('FORMAT_VERSION = 3');
  const isOldTest = workspace.text('test/cli.test.ts').includes('expect(file.version).toBe(2)');
  const isFailing = ({ name }: Case): boolean =>
    isNewFormat && isOldTest && name.endsWith('keeps notes in one JSON file');
  const failedCases = cases.filter(isFailing);
  const output = [
    '',
    '> quicknotes@0.4.1 test',
    '> vitest run --reporter=verbose',
    '',
    '',
    ` RUN  v2.1.4 ${workspace.root}`,
    '',
    ...cases.map((each) => ` ${isFailing(each) ? '×' : '✓'} ${each.file} > ${each.name} ${random.between(1, 19)}ms`),
    '',
    ...failedCases.flatMap((each) => failure(workspace, each)),
    ` Test Files  ${failedCases.length > 0 ? '1 failed | 2 passed' : '3 passed'} (3)`,
    `      Tests  ${failedCases.length > 0 ? '1 failed | ' : ''}${cases.length - failedCases.length} passed (${cases.length})`,
    `   Start at  10:${random.between(10, 59)}:${random.between(10, 59)}`,
    `   Duration  ${random.between(600, 900)}ms (transform ${random.between(90, 160)}ms, setup 0ms, collect ${random.between(150, 260)}ms)`,
    '',
  ];
  return tools.bash('npm test', 'Run all tests', output.join('\n'), failedCases.length > 0 ? 1 : 0);
}

function listCases(workspace: Workspace, file: string): Case[] {
  const cases: Case[] = [];
  let suite = '';
  for (const line of workspace.lines(file)) {
    suite = /^describe\('([^']+)'/.exec(line)?.[1] ?? suite;
    const name = /^ {2}it\('([^']+)'/.exec(line)?.[1];
    if (name !== undefined) cases.push({ file, name: `${suite} > ${name}` });
  }
  return cases;
}

const failure = (workspace: Workspace, { file, name }: Case): string[] => [
  '⎯⎯⎯⎯⎯⎯⎯ Failed Tests 1 ⎯⎯⎯⎯⎯⎯⎯',
  '',
  ` FAIL  ${file} > ${name}`,
  'AssertionError: expected 3 to be 2 // Object.is equality',
  '',
  '- Expected',
  '+ Received',
  '',
  '- 2',
  '+ 3',
  '',
  ` ❯ ${file}:${workspace.lineOf(file, 'expect(file.version)')}:26`,
  '',
];
