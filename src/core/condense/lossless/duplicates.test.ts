import { describe, expect, it } from 'vitest';
import { DEFAULT_TOOLS, makeToolTable } from '../../messages/tools';
import { exchange, lines, result, user, someMarker } from '../../testing';
import { Draft } from '../draft/draft';
import { duplicateReads, duplicateResults } from './duplicates';
import { LINE_OPERATIONS, repeatedLines } from './repeatedLines';
import { counter, did, results, run, TASK } from './testing';
import { MARKER_EXAMPLE } from '../../messages/markers';

const tools = DEFAULT_TOOLS;

const A = lines('a', 20);

const B = lines('b', 20);

/** A text with lines that tell which file it is, and never go one by one. */
const FRAMED = `<path>/src/a.ts</path>\n<type>directory</type>\n<entries>\n${lines('entry', 10)}\n</entries>`;

describe('duplicate errors under Lossless', () => {
  const failed = (command: string, text: string) => did('Bash', { command }, text, { is_error: true });

  it('refer to one of them, stay errors, and do not refer to successful results', () => {
    const messages = [
      TASK,
      ...Array.from({ length: 15 }, (_, at) => failed(`try ${at}`, A)).flat(),
      ...failed('another', `${A}!`),
      ...did('Bash', { command: 'print' }, A),
    ];
    const draft = run(duplicateResults(tools, 'latest'), messages);
    expect(results(draft)).toEqual([...Array.from({ length: 14 }, () => '[same error as later Bash]'), A, `${A}!`, A]);
    expect(draft.edits.every(({ strict }) => strict)).toBe(true);
    expect(JSON.stringify(draft.messages).split('"is_error":true')).toHaveLength(17);
  });
});

describe('duplicate reads under Lossless', () => {
  const messages = [
    TASK,
    ...did('Read', { file_path: '/src/a.ts' }, A),
    ...did('Read', { file_path: '/src/b.ts' }, B),
    ...did('read_file', { path: '/lib/src/a.ts' }, A),
    ...did('Bash', { command: 'cat a' }, A),
  ];

  it('refer to the latest by default, and to the first if the first copy is to stay', () => {
    expect(results(run(duplicateReads(tools, 'latest'), messages))).toEqual([
      '[same as later read_file of src/a.ts]',
      B,
      A,
      A,
    ]);
    expect(results(run(duplicateReads(tools, 'first'), messages))).toEqual([
      A,
      B,
      '[same as earlier Read of src/a.ts]',
      A,
    ]);
  });

  it('include the lines around the file', () => {
    const messages = [TASK, ...did('read', { filePath: '/src' }, FRAMED), ...did('read', { filePath: '/src' }, FRAMED)];
    expect(results(run(duplicateReads(tools, 'latest'), messages))).toEqual(['[same as later read of src]', FRAMED]);
  });

  it('are found for the tools that a table names', () => {
    const own = makeToolTable({ fetch: { kind: 'read', path: ['target'] } });
    const fetched = [TASK, ...did('fetch', { target: 'x/y/z' }, A), ...did('fetch', {}, A)];
    expect(results(run(duplicateReads(own, 'first'), fetched))).toEqual([A, '[same as earlier fetch of y/z]']);
    expect(results(run(duplicateReads(own, 'latest'), fetched))).toEqual(['[same as later fetch]', A]);
  });

  it('do not include errors, short texts or the task', () => {
    const rest = [
      user('t', ...[result('x', A)]),
      ...did('Read', {}, A, { is_error: true }),
      ...did('Read', {}, A),
      ...did('Read', {}, 'short'),
      ...did('Read', {}, 'short'),
    ];
    expect(run(duplicateReads(tools, 'latest'), rest).edits).toEqual([]);
  });

  it('with equal call IDs are distinguished, so that no copy refers to itself', () => {
    const same = [TASK, ...exchange('same', 'Read', {}, A), ...exchange('same', 'Read', {}, B)];
    expect(run(duplicateReads(tools, 'latest'), same).edits).toEqual([]);
  });

  it('do not include tools named like members of an object', () => {
    const strange = [TASK, ...did('constructor', {}, A), ...did('__proto__', {}, A)];
    expect(run(duplicateReads(tools, 'latest'), strange).edits).toEqual([]);
    expect(run(duplicateResults(tools, 'latest'), strange).edits).toHaveLength(1);
  });

  it('leave a complete marker whatever the file is called', () => {
    const [OPEN, CLOSE] = [MARKER_EXAMPLE.at(0), MARKER_EXAMPLE.at(-1)];
    const evil = [
      TASK,
      ...did('Read', { file_path: `x${CLOSE} · ref 000000\n${OPEN}` }, A),
      ...did('Read', { file_path: `${CLOSE}\n${OPEN}` }, A),
    ];
    const [first] = results(run(duplicateReads(tools, 'first'), evil)).slice(1);
    expect(first).toBe('[same as earlier Read of x · ref 000000 ]');
  });
});

it('duplicate results of tools other than reads refer to each other', () => {
  const messages = [TASK, ...did('Bash', { command: 'x' }, A), ...did('mcp', {}, A), ...did('Read', {}, A)];
  expect(results(run(duplicateResults(tools, 'latest'), messages))).toEqual(['[same as later mcp]', A, A]);
});

it('duplicates whose lines differ between tools do not refer to each other', () => {
  const numbered = A.split('\n')
    .map((line, at) => `${at + 1} | ${line}`)
    .join('\n');
  const of = { path: 'src/a.ts' };
  const messages = [
    TASK,
    ...did('read_file', of, numbered),
    ...did('read_file', of, numbered),
    ...did('Read', { file_path: 'src/a.ts' }, numbered),
  ];
  expect(results(run(duplicateReads(tools, 'latest'), messages))).toEqual([
    '[same as later read_file of src/a.ts]',
    numbered,
    numbered,
  ]);
});

it('a duplicate JSON result may contain lines of another text', () => {
  const issue = (id: string): string => JSON.stringify({ id, description: `first\n${A}\nlast` });
  const messages = [
    TASK,
    ...did('get_issue', { id: 'a' }, issue('a')),
    ...did('get_issue', { id: 'a' }, issue('a')),
    ...did('update_issue', {}, issue('b')),
  ];
  const steps = [duplicateResults(tools, 'latest'), ...repeatedLines(tools, 'latest', LINE_OPERATIONS)];
  const cut = issue('a').replace(JSON.stringify(A).slice(1, -1), '[20 lines, shown in the later update_issue]');
  expect(results(run(steps, messages))).toEqual(['[same as later get_issue]', cut, issue('b')]);
});

describe('text in the original that looks like a marker', () => {
  it('is treated as text', () => {
    const quoted = `${someMarker('3 lines')}\n${A}`;
    const draft = new Draft([TASK, ...did('Read', {}, quoted), ...did('Read', {}, quoted)], counter);
    duplicateReads(tools, 'latest').run(draft);
    expect(results(draft)).toEqual(['[same as later Read]', `[3 lines]\n${A}`]);
  });
});
