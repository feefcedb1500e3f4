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

describe('errors', () => {
  const failed = (command: string, text: string) => did('Bash', { command }, text, { is_error: true });

  it('that are the same to the byte refer to one of them; they stay errors, and apart from what succeeded', () => {
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

describe('duplicate reads', () => {
  const messages = [
    TASK,
    ...did('Read', { file_path: '/src/a.ts' }, A),
    ...did('Read', { file_path: '/src/b.ts' }, B),
    ...did('read_file', { path: '/lib/src/a.ts' }, A),
    ...did('Bash', { command: 'cat a' }, A),
  ];

  it('refer to the latest by default, or to the first', () => {
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

  it('go with the lines around the file', () => {
    const messages = [TASK, ...did('read', { filePath: '/src' }, FRAMED), ...did('read', { filePath: '/src' }, FRAMED)];
    expect(results(run(duplicateReads(tools, 'latest'), messages))).toEqual(['[same as later read of src]', FRAMED]);
  });

  it('are those of the tools that a table names', () => {
    const own = makeToolTable({ fetch: { kind: 'read', path: ['target'] } });
    const fetched = [TASK, ...did('fetch', { target: 'x/y/z' }, A), ...did('fetch', {}, A)];
    expect(results(run(duplicateReads(own, 'first'), fetched))).toEqual([A, '[same as earlier fetch of y/z]']);
    expect(results(run(duplicateReads(own, 'latest'), fetched))).toEqual(['[same as later fetch]', A]);
  });

  it('leave errors, short texts and the task alone', () => {
    const rest = [
      user('t', ...[result('x', A)]),
      ...did('Read', {}, A, { is_error: true }),
      ...did('Read', {}, A),
      ...did('Read', {}, 'short'),
      ...did('Read', {}, 'short'),
    ];
    expect(run(duplicateReads(tools, 'latest'), rest).edits).toEqual([]);
  });

  it('with one id are told apart: no copy refers to itself', () => {
    const same = [TASK, ...exchange('same', 'Read', {}, A), ...exchange('same', 'Read', {}, B)];
    expect(run(duplicateReads(tools, 'latest'), same).edits).toEqual([]);
  });

  it('of tools called like members of an object are no reads', () => {
    const strange = [TASK, ...did('constructor', {}, A), ...did('__proto__', {}, A)];
    expect(run(duplicateReads(tools, 'latest'), strange).edits).toEqual([]);
    expect(run(duplicateResults(tools, 'latest'), strange).edits).toHaveLength(1);
  });

  it('keep a marker whole whatever a file is called', () => {
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

it('duplicate results are of any other tools', () => {
  const messages = [TASK, ...did('Bash', { command: 'x' }, A), ...did('mcp', {}, A), ...did('Read', {}, A)];
  expect(results(run(duplicateResults(tools, 'latest'), messages))).toEqual(['[same as later mcp]', A, A]);
});

it('duplicates are read alike: what numbers lines for one tool is text for another', () => {
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

it('duplicate results may be JSON whose lines stand in another text, too', () => {
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

describe('markers that stand in the conversation already', () => {
  it('are text like any other', () => {
    const quoted = `${someMarker('3 lines')}\n${A}`;
    const draft = new Draft([TASK, ...did('Read', {}, quoted), ...did('Read', {}, quoted)], counter);
    duplicateReads(tools, 'latest').run(draft);
    expect(results(draft)).toEqual(['[same as later Read]', `[3 lines]\n${A}`]);
  });
});
