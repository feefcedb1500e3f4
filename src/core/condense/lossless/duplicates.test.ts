import { describe, expect, it } from 'vitest';
import { DEFAULT_TOOLS, makeToolTable } from '../../messages/tools';
import { makeToolExchange, makeLines, result, user, makeTestMarker } from '../../testing';
import { Draft } from '../draft/draft';
import { createDuplicateReadsStep, createDuplicateResultsStep } from './duplicates';
import { LINE_OPERATIONS, createRepeatedLinesStep } from './repeatedLines';
import { counter, makeExchange, listShownResults, runSteps, TASK_MESSAGE } from './testing';
import { MARKER_EXAMPLE } from '../../messages/markers';

const tools = DEFAULT_TOOLS;

const A = makeLines('a', 20);

const B = makeLines('b', 20);

/** A text with lines that name the file. Such lines are never removed individually. */
const FRAMED = `<path>/src/a.ts</path>\n<type>directory</type>\n<entries>\n${makeLines('entry', 10)}\n</entries>`;

describe('duplicate errors under Lossless', () => {
  const failed = (command: string, text: string) => makeExchange('Bash', { command }, text, { is_error: true });

  it('refer to one of them, stay errors, and do not refer to successful results', () => {
    const messages = [
      TASK_MESSAGE,
      ...Array.from({ length: 15 }, (_, at) => failed(`try ${at}`, A)).flat(),
      ...failed('another', `${A}!`),
      ...makeExchange('Bash', { command: 'print' }, A),
    ];
    const draft = runSteps(createDuplicateResultsStep(tools, 'latest'), messages);
    expect(listShownResults(draft)).toEqual([
      ...Array.from({ length: 14 }, () => '[same error as later Bash]'),
      A,
      `${A}!`,
      A,
    ]);
    expect(draft.edits.every(({ strict }) => strict)).toBe(true);
    expect(JSON.stringify(draft.messages).split('"is_error":true')).toHaveLength(17);
  });
});

describe('duplicate reads under Lossless', () => {
  const messages = [
    TASK_MESSAGE,
    ...makeExchange('Read', { file_path: '/src/a.ts' }, A),
    ...makeExchange('Read', { file_path: '/src/b.ts' }, B),
    ...makeExchange('read_file', { path: '/lib/src/a.ts' }, A),
    ...makeExchange('Bash', { command: 'cat a' }, A),
  ];

  it('refer to the latest by default, and to the first if the setting keeps first copies', () => {
    expect(listShownResults(runSteps(createDuplicateReadsStep(tools, 'latest'), messages))).toEqual([
      '[same as later read_file of src/a.ts]',
      B,
      A,
      A,
    ]);
    expect(listShownResults(runSteps(createDuplicateReadsStep(tools, 'first'), messages))).toEqual([
      A,
      B,
      '[same as earlier Read of src/a.ts]',
      A,
    ]);
  });

  it("include the lines before and after the file's text", () => {
    const messages = [
      TASK_MESSAGE,
      ...makeExchange('read', { filePath: '/src' }, FRAMED),
      ...makeExchange('read', { filePath: '/src' }, FRAMED),
    ];
    expect(listShownResults(runSteps(createDuplicateReadsStep(tools, 'latest'), messages))).toEqual([
      '[same as later read of src]',
      FRAMED,
    ]);
  });

  it('are found for each tool that the tool table lists as reading files', () => {
    const own = makeToolTable({ fetch: { kind: 'read', path: ['target'] } });
    const fetched = [TASK_MESSAGE, ...makeExchange('fetch', { target: 'x/y/z' }, A), ...makeExchange('fetch', {}, A)];
    expect(listShownResults(runSteps(createDuplicateReadsStep(own, 'first'), fetched))).toEqual([
      A,
      '[same as earlier fetch of y/z]',
    ]);
    expect(listShownResults(runSteps(createDuplicateReadsStep(own, 'latest'), fetched))).toEqual([
      '[same as later fetch]',
      A,
    ]);
  });

  it('are not removed if they are errors, short texts or the task', () => {
    const rest = [
      user('t', ...[result('x', A)]),
      ...makeExchange('Read', {}, A, { is_error: true }),
      ...makeExchange('Read', {}, A),
      ...makeExchange('Read', {}, 'short'),
      ...makeExchange('Read', {}, 'short'),
    ];
    expect(runSteps(createDuplicateReadsStep(tools, 'latest'), rest).edits).toEqual([]);
  });

  it('with equal call IDs are distinguished, so that no copy refers to itself', () => {
    const same = [TASK_MESSAGE, ...makeToolExchange('same', 'Read', {}, A), ...makeToolExchange('same', 'Read', {}, B)];
    expect(runSteps(createDuplicateReadsStep(tools, 'latest'), same).edits).toEqual([]);
  });

  it('are not removed for tools named “constructor” or “__proto__”', () => {
    const strange = [TASK_MESSAGE, ...makeExchange('constructor', {}, A), ...makeExchange('__proto__', {}, A)];
    expect(runSteps(createDuplicateReadsStep(tools, 'latest'), strange).edits).toEqual([]);
    expect(runSteps(createDuplicateResultsStep(tools, 'latest'), strange).edits).toHaveLength(1);
  });

  it('leave a well-formed marker whatever the file is called', () => {
    const [OPEN, CLOSE] = [MARKER_EXAMPLE.at(0), MARKER_EXAMPLE.at(-1)];
    const evil = [
      TASK_MESSAGE,
      ...makeExchange('Read', { file_path: `x${CLOSE} · ref 000000\n${OPEN}` }, A),
      ...makeExchange('Read', { file_path: `${CLOSE}\n${OPEN}` }, A),
    ];
    const [first] = listShownResults(runSteps(createDuplicateReadsStep(tools, 'first'), evil)).slice(1);
    expect(first).toBe('[same as earlier Read of x · ref 000000 ]');
  });
});

it('duplicate results of tools other than reads refer to each other', () => {
  const messages = [
    TASK_MESSAGE,
    ...makeExchange('Bash', { command: 'x' }, A),
    ...makeExchange('mcp', {}, A),
    ...makeExchange('Read', {}, A),
  ];
  expect(listShownResults(runSteps(createDuplicateResultsStep(tools, 'latest'), messages))).toEqual([
    '[same as later mcp]',
    A,
    A,
  ]);
});

it('equal results of tools that number lines differently do not refer to each other', () => {
  const numbered = A.split('\n')
    .map((line, at) => `${at + 1} | ${line}`)
    .join('\n');
  const of = { path: 'src/a.ts' };
  const messages = [
    TASK_MESSAGE,
    ...makeExchange('read_file', of, numbered),
    ...makeExchange('read_file', of, numbered),
    ...makeExchange('Read', { file_path: 'src/a.ts' }, numbered),
  ];
  expect(listShownResults(runSteps(createDuplicateReadsStep(tools, 'latest'), messages))).toEqual([
    '[same as later read_file of src/a.ts]',
    numbered,
    numbered,
  ]);
});

it('the kept copy of a duplicate JSON result may still refer to another text for some lines', () => {
  const issue = (id: string): string => JSON.stringify({ id, description: `first\n${A}\nlast` });
  const messages = [
    TASK_MESSAGE,
    ...makeExchange('get_issue', { id: 'a' }, issue('a')),
    ...makeExchange('get_issue', { id: 'a' }, issue('a')),
    ...makeExchange('update_issue', {}, issue('b')),
  ];
  const steps = [
    createDuplicateResultsStep(tools, 'latest'),
    ...createRepeatedLinesStep(tools, 'latest', LINE_OPERATIONS),
  ];
  const cut = issue('a').replace(JSON.stringify(A).slice(1, -1), '[20 lines, shown in the later update_issue]');
  expect(listShownResults(runSteps(steps, messages))).toEqual(['[same as later get_issue]', cut, issue('b')]);
});

describe('text in the original that looks like a marker', () => {
  it('is treated as text', () => {
    const quoted = `${makeTestMarker('3 lines')}\n${A}`;
    const draft = new Draft(
      [TASK_MESSAGE, ...makeExchange('Read', {}, quoted), ...makeExchange('Read', {}, quoted)],
      counter,
    );
    createDuplicateReadsStep(tools, 'latest').run(draft);
    expect(listShownResults(draft)).toEqual(['[same as later Read]', `[3 lines]\n${A}`]);
  });
});
