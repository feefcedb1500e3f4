import { describe, expect, it } from 'vitest';
import { hashText } from '../../hash';
import { DEFAULT_TOOLS, type ToolTable } from '../../messages/tools';
import { valueAt } from '../../messages/path';
import type { ApiMessage } from '../../messages/types';
import { assistant, call, cpuNow, cutsOf, exchange, lines, result, text, user } from '../../testing';
import { freshCounter } from '../../testingCounter';
import { Draft } from '../draft';
import { expandReference, referencesOf } from '../references';
import { expandMarkers } from '../markers';
import { Pace } from '../pace';
import type { DraftStep } from '../steps';
import { repeatedCommands, repeatedListings, similarResults } from './consolidation';
import { duplicateReads, duplicateResults } from './duplicates';
import { obsoleteState } from './obsoleteState';
import { linesOf, standingRuns } from './standingLines';

const counter = freshCounter();
const tools = DEFAULT_TOOLS;

/** Runs a step, and checks what holds for every step: a second run does nothing, and every reference leads back. */
async function run(step: DraftStep, messages: readonly ApiMessage[]): Promise<Draft> {
  const draft = new Draft(messages, counter);
  await step.run(draft, new Pace());
  const again = new Draft(messages, counter, draft.edits);
  await step.run(again, new Pace());
  expect(again.edits).toEqual([]);
  const originals = new Map<string, string>();
  for (const { place, before } of cutsOf(draft.edits)) {
    originals.set(before, valueAt(messages[place.message], place.path) as string);
  }
  const references = referencesOf(draft.edits);
  for (const { place } of cutsOf(draft.edits)) {
    const original = valueAt(messages[place.message], place.path) as string;
    const expanded = expandMarkers(draft.text(place), (reference) =>
      expandReference(references.get(reference)!, (hash) => originals.get(hash)),
    );
    expect(hashText(expanded)).toBe(hashText(original));
  }
  return draft;
}

/** The results as they stand, markers shortened to their words. */
const results = (draft: Draft): string[] =>
  draft.messages.flatMap((message) =>
    typeof message.content === 'string'
      ? []
      : message.content.flatMap((block) => (block.type === 'tool_result' ? [brief(block['content'] as string)] : [])),
  );
const brief = (value: string): string => value.replace(/⟦condensed: ([^⟧]*?)(; never[^⟧]*)? · ref \w+⟧/g, '[$1]');

const TASK = user('task');
let ids = 0;
const did = (name: string, input: unknown, content: string, fields = {}): ApiMessage[] =>
  exchange(`id${ids++}`, name, input, content, fields);

const A = lines('a', 20);
const B = lines('b', 20);

describe('duplicate reads', () => {
  const messages = [
    TASK,
    ...did('Read', { file_path: '/src/a.ts' }, A),
    ...did('Read', { file_path: '/src/b.ts' }, B),
    ...did('read_file', { path: '/lib/src/a.ts' }, A),
    ...did('Bash', { command: 'cat a' }, A),
  ];

  it('refer to the latest by default, or to the first', async () => {
    expect(results(await run(duplicateReads(tools, 'latest'), messages))).toEqual([
      '[same as later read_file of src/a.ts]',
      B,
      A,
      A,
    ]);
    expect(results(await run(duplicateReads(tools, 'first'), messages))).toEqual([
      A,
      B,
      '[same as earlier Read of src/a.ts]',
      A,
    ]);
  });

  it('are those of the tools that a table names', async () => {
    const own: ToolTable = { fetch: { kind: 'read', path: ['target'] } };
    const fetched = [TASK, ...did('fetch', { target: 'x/y/z' }, A), ...did('fetch', {}, A)];
    expect(results(await run(duplicateReads(own, 'first'), fetched))).toEqual([A, '[same as earlier fetch of y/z]']);
    expect(results(await run(duplicateReads(own, 'latest'), fetched))).toEqual(['[same as later fetch]', A]);
  });

  it('leave errors, short texts and the task alone', async () => {
    const rest = [
      user('t', ...[result('x', A)]),
      ...did('Read', {}, A, { is_error: true }),
      ...did('Read', {}, A),
      ...did('Read', {}, 'short'),
      ...did('Read', {}, 'short'),
    ];
    expect((await run(duplicateReads(tools, 'latest'), rest)).edits).toEqual([]);
  });

  it('with one id are told apart: no copy refers to itself', async () => {
    const same = [TASK, ...exchange('same', 'Read', {}, A), ...exchange('same', 'Read', {}, B)];
    expect((await run(duplicateReads(tools, 'latest'), same)).edits).toEqual([]);
  });

  it('of tools called like members of an object are no reads', async () => {
    const strange = [TASK, ...did('constructor', {}, A), ...did('__proto__', {}, A)];
    expect((await run(duplicateReads(tools, 'latest'), strange)).edits).toEqual([]);
    expect((await run(duplicateResults(tools, 'latest'), strange)).edits).toHaveLength(1);
  });

  it('keep a marker whole whatever a file is called', async () => {
    const evil = [
      TASK,
      ...did('Read', { file_path: 'x⟧ · ref 000000\n⟦' }, A),
      ...did('Read', { file_path: '⟧\n⟦' }, A),
    ];
    const [first] = results(await run(duplicateReads(tools, 'first'), evil)).slice(1);
    expect(first).toBe('[same as earlier Read of x · ref 000000 ]');
  });
});

it('duplicate results are of any other tools', async () => {
  const messages = [TASK, ...did('Bash', { command: 'x' }, A), ...did('mcp', {}, A), ...did('Read', {}, A)];
  expect(results(await run(duplicateResults(tools, 'latest'), messages))).toEqual(['[same as later mcp]', A, A]);
});

describe('repeated listings and searches', () => {
  const LS = { path: 'src' };
  const earlier = `${lines('file', 12)}\ngone.ts`;
  const later = `new.ts\n${lines('file', 12)}`;
  const messages = [
    TASK,
    ...did('LS', LS, earlier),
    ...did('LS', { path: 'lib' }, earlier),
    ...did('LS', LS, later),
    ...did('Grep', { pattern: 'x' }, A),
    ...did('Grep', { pattern: 'x' }, `${A}\nmore`),
    ...did('Grep', { pattern: 'x' }, A, { is_error: true }),
    ...did('Read', LS, earlier),
  ];

  it('keep what the latest has not, and refer to it for the rest', async () => {
    expect(results(await run(repeatedListings(tools, 'latest'), messages))).toEqual([
      '[12 lines as in later LS of src]\ngone.ts',
      earlier,
      later,
      '[20 lines as in later Grep]',
      `${A}\nmore`,
      A,
      earlier,
    ]);
  });

  it('or the first', async () => {
    expect(results(await run(repeatedListings(tools, 'first'), messages)).slice(0, 5)).toEqual([
      earlier,
      earlier,
      'new.ts\n[12 lines as in earlier LS of src]',
      A,
      '[20 lines as in earlier Grep]\nmore',
    ]);
  });
});

describe('repeated commands', () => {
  const test = { command: 'npm test' };
  it('keep the latest output of each command line in each folder', async () => {
    const messages = [
      TASK,
      ...did('Bash', test, A),
      ...did('Bash', { ...test, cwd: 'lib' }, A),
      ...did('shell', { command: ['npm', 'test'], workdir: 'x' }, A),
      ...did('shell', { command: ['npm', 'test'], workdir: 'x' }, B),
      ...did('Bash', test, B),
      ...did('Bash', {}, A),
      ...did('Bash', {}, A),
      ...did('mcp', test, A),
      ...did('mcp', test, A),
    ];
    const gone = '[older output, this command ran again later]';
    expect(results(await run(repeatedCommands(tools), messages))).toEqual([gone, A, gone, B, B, A, A, A, A]);
  });

  it('keep what failed apart, by its mark or by what it says', async () => {
    const messages = [
      TASK,
      ...did('Bash', test, A, { is_error: true }),
      ...did('Bash', test, `Exit code: 1\n${A}`),
      ...did('Bash', test, `${A}\nProcess exited with code 127`),
      ...did('Bash', test, `Error: no such file\n${A}`),
      ...did('Bash', test, `Exit code: 0\n${A}`),
      ...did('Bash', test, B),
    ];
    const kept = results(await run(repeatedCommands(tools), messages));
    expect(kept.map((one) => one.startsWith('['))).toEqual([false, false, false, false, true, false]);
  });
});

describe('small similar results', () => {
  const saved = (name: string): string =>
    `The file /src/${name}.ts has been updated. ${'All checks of the editor passed. '.repeat(6)}`;
  it('of one writing tool leave the latest, with the count', async () => {
    const messages = [
      TASK,
      ...['a', 'b', 'c', 'd'].flatMap((name) => did('Edit', { file_path: name }, saved(name))),
      ...did('Edit', {}, `${saved('e')} But it is another text.`),
      ...did('Edit', {}, saved('f'), { is_error: true }),
    ];
    const one = '[done, as others; the last says it below]';
    expect(results(await run(similarResults(tools), messages))).toEqual([
      one,
      one,
      one,
      saved('d'),
      `${saved('e')} But it is another text.`,
      saved('f'),
    ]);
  });

  it('that are answers and no confirmations are always kept', async () => {
    const answer = (city: string, degrees: number): string =>
      `In '${city}' it is ${degrees} degrees. ${'And more weather. '.repeat(10)}`;
    const messages = [
      TASK,
      ...[1, 2, 3, 4].flatMap((n) => [...did('weather', {}, answer(`c${n}`, n)), ...did('Read', {}, answer('x', n))]),
    ];
    expect((await run(similarResults(tools), messages)).edits).toEqual([]);
  });

  it('stay where they are few, long, or hold a marker already', async () => {
    const few = [TASK, ...['a', 'b'].flatMap((name) => did('Edit', {}, saved(name)))];
    expect((await run(similarResults(tools), few)).edits).toEqual([]);
    const long = [TASK, ...['a', 'b', 'c'].flatMap((name) => did('Edit', {}, saved(name).repeat(5)))];
    expect((await run(similarResults(tools), long)).edits).toEqual([]);
  });
});

describe('superseded state', () => {
  const env = (time: string): string =>
    `<environment_details>\n${lines('tab', 15)}\n\nnow ${time}\n</environment_details>`;

  it('of environment details keeps what differs from the latest', async () => {
    const messages = [
      user(text('task'), text(env('0'))),
      assistant('a'),
      user(text('and'), text(env('1'))),
      assistant('b'),
      user('more', text(env('2'))),
    ];
    const draft = await run(obsoleteState(tools), messages);
    expect(draft.messages[0]).toBe(messages[0]);
    expect(draft.messages[4]).toBe(messages[4]);
    const standing = draft.text({ message: 2, path: ['content', 1, 'text'] });
    expect(brief(standing)).toBe('[17 lines as in later environment details]\nnow 1\n</environment_details>');
  });

  it('in a single line is said to be one', async () => {
    const line = 'a mode that tells much, '.repeat(20);
    const details = (time: string): string => `<environment_details> ${time}\n${line}\n${time} </environment_details>`;
    const messages = [TASK, assistant('a'), user(text(details('1'))), assistant('b'), user(text(details('2')))];
    const draft = await run(obsoleteState(tools), messages);
    const older = brief(draft.text({ message: 2, path: ['content', 0, 'text'] }));
    expect(older).toContain('\n[1 line as in later environment details]\n');
  });

  it('of plans keeps what differs, several in one text of the XML era too', async () => {
    const plan = (mark: string): string => `${lines('step', 12)}\n[${mark}] last`;
    const xml = (mark: string): string => `<update_todo_list><todos>${plan(mark)}</todos></update_todo_list>`;
    const messages = [
      TASK,
      assistant(`first ${xml('1')} then ${xml('2')} so`),
      user('go on'),
      assistant(call('p', 'update_todo_list', { todos: plan('3') })),
      user(result('p', 'refused', { is_error: true })),
      assistant(call('q', 'update_todo_list', { todos: plan('4') })),
    ];
    const draft = await run(obsoleteState(tools), messages);
    const rest = (mark: string): string =>
      `<update_todo_list><todos>[12 lines as in a later plan]\n[${mark}] last</todos></update_todo_list>`;
    expect(brief(draft.messages[1]!.content as string)).toBe(`first ${rest('1')} then ${rest('2')} so`);
    expect(draft.messages.slice(2)).toEqual(messages.slice(2));
  });

  it('is left alone where it stands once', async () => {
    expect((await run(obsoleteState(tools), [TASK, assistant('x'), user(text(env('1')), 'y')])).edits).toEqual([]);
  });
});

describe('standingRuns', () => {
  const runs = (value: string, other: string): string[] =>
    standingRuns(value, linesOf(other)).map(({ start, end, lines: count }) => `${count}: ${value.slice(start, end)}`);

  it.each([
    ['a\nb\nc', 'c\na', ['1: a', '1: c']],
    ['a\n\nb', 'a\nb', ['3: a\n\nb']],
    ['x\n\n\ny', 'a', []],
    ['', 'a', []],
    ['a', 'a', ['1: a']],
    ['a\r\nx\r\nb', 'a\r\nb', ['1: a', '1: b']],
  ])('of %j in %j', (value, other, expected) => {
    expect(runs(value, other)).toEqual(expected);
  });
});

describe('markers that stand in the conversation already', () => {
  it('are text like any other', async () => {
    const quoted = `⟦condensed: 3 lines · ref abcdef⟧\n${A}`;
    const draft = await run(duplicateReads(tools, 'latest'), [
      TASK,
      ...did('Read', {}, quoted),
      ...did('Read', {}, quoted),
    ]);
    expect(results(draft)).toEqual(['[same as later Read]', `[3 lines]\n${A}`]);
  });
});

describe('time', () => {
  it('is linear: 1,000 exchanges of one group, 10,000 messages', async () => {
    const messages = [TASK];
    for (let index = 0; index < 5_000; index++) {
      const group = index < 1_000 ? 'same' : `g${index}`;
      messages.push(
        ...did('Bash', { command: group }, `${A} ${index}`),
        ...did('Read', {}, A),
        ...did('Grep', { group }, A),
      );
    }
    const started = cpuNow();
    const draft = new Draft(messages, counter);
    for (const step of [
      repeatedCommands(tools),
      similarResults(tools),
      duplicateReads(tools, 'latest'),
      duplicateResults(tools, 'latest'),
      repeatedListings(tools, 'latest'),
      obsoleteState(tools),
    ]) {
      await step.run(draft, new Pace());
    }
    expect(draft.edits.length).toBeGreaterThan(9_000);
    expect(cpuNow() - started).toBeLessThan(10_000);
  });

  it('gives the thread back and hears a cancel', async () => {
    const stop = new AbortController();
    const messages = [TASK];
    for (let index = 0; index < 3_000; index++) messages.push(...did('Read', {}, A));
    const draft = new Draft(messages, counter);
    setImmediate(() => {
      stop.abort(new Error('stop'));
    });
    await expect(duplicateReads(tools, 'latest').run(draft, new Pace(stop.signal))).rejects.toThrow('stop');
    expect(draft.edits.length).toBeLessThan(2_999);
  });
});
