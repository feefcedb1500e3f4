import { describe, expect, it } from 'vitest';
import { DEFAULT_TOOLS } from '../../messages/tools';
import { makeLines } from '../../testing';
import { createRepeatedCommandsStep, createRepeatedListingsStep, createSimilarResultsStep } from './consolidation';
import { makeExchange, listShownResults, runSteps, TASK_MESSAGE } from './testing';

const tools = DEFAULT_TOOLS;

const A = makeLines('a', 20);

const B = makeLines('b', 20);

describe('Lossless, for repeated listings and searches,', () => {
  const LS = { path: 'src' };
  const earlier = `${makeLines('file', 12)}\ngone.ts`;
  const later = `new.ts\n${makeLines('file', 12)}`;
  const messages = [
    TASK_MESSAGE,
    ...makeExchange('LS', LS, earlier),
    ...makeExchange('LS', { path: 'lib' }, earlier),
    ...makeExchange('LS', LS, later),
    ...makeExchange('Grep', { pattern: 'x' }, A),
    ...makeExchange('Grep', { pattern: 'x' }, `${A}\nmore`),
    ...makeExchange('Grep', { pattern: 'x' }, A, { is_error: true }),
    ...makeExchange('Read', LS, earlier),
  ];

  it('keeps the lines that the latest result lacks, and refers to the latest for the other lines', () => {
    expect(listShownResults(runSteps(createRepeatedListingsStep(tools, 'latest'), messages))).toEqual([
      '[12 lines as in later LS of src]\ngone.ts',
      earlier,
      later,
      '[20 lines as in later Grep]',
      `${A}\nmore`,
      A,
      earlier,
    ]);
  });

  it('refers, for each pattern, to the search that shares the most lines, whatever folder was searched', () => {
    const found = (from: number, to: number): string =>
      Array.from({ length: to - from }, (_, at) => `src/f${from + at}.ts:${at}: const foo${from + at} = make();`).join(
        '\n',
      );
    const search = (path: string, text: string, regex = 'foo') => makeExchange('search_files', { path, regex }, text);
    const outcome = runSteps(createRepeatedListingsStep(tools, 'latest'), [
      TASK_MESSAGE,
      ...search('src', found(0, 60)),
      ...search('src', found(0, 60), 'bar'),
      ...search('.', `${found(0, 90)}\n90 found`),
      ...search('lib', found(200, 220)),
    ]);
    expect(listShownResults(outcome)).toEqual([
      '[60 lines as in later search_files of .]',
      found(0, 60),
      `${found(0, 90)}\n90 found`,
      found(200, 220),
    ]);
  });

  it('refers to a repetition of the same search even if another search for the pattern follows', () => {
    const messages = [
      TASK_MESSAGE,
      ...makeExchange('Grep', { pattern: 'x', path: 'src' }, A),
      ...makeExchange('Grep', { pattern: 'x', path: 'src' }, A),
      ...makeExchange('Grep', { pattern: 'x', path: 'lib' }, B),
    ];
    expect(listShownResults(runSteps(createRepeatedListingsStep(tools, 'latest'), messages))).toEqual([
      '[20 lines as in later Grep of src]',
      A,
      B,
    ]);
  });

  it('refers to the first result if the setting keeps first copies', () => {
    expect(listShownResults(runSteps(createRepeatedListingsStep(tools, 'first'), messages)).slice(0, 5)).toEqual([
      earlier,
      earlier,
      'new.ts\n[12 lines as in earlier LS of src]',
      A,
      '[20 lines as in earlier Grep]\nmore',
    ]);
  });
});

describe('Lossless, for repeated commands,', () => {
  const test = { command: 'npm test' };
  it('keeps the latest output of each command line in each folder', () => {
    const messages = [
      TASK_MESSAGE,
      ...makeExchange('Bash', test, A),
      ...makeExchange('Bash', { ...test, cwd: 'lib' }, A),
      ...makeExchange('shell', { command: ['npm', 'test'], workdir: 'x' }, A),
      ...makeExchange('shell', { command: ['npm', 'test'], workdir: 'x' }, B),
      ...makeExchange('Bash', test, B),
      ...makeExchange('Bash', {}, A),
      ...makeExchange('Bash', {}, A),
      ...makeExchange('mcp', { ...test, id: 1 }, A),
      ...makeExchange('mcp', { ...test, id: 1 }, A),
    ];
    const gone = '[older output, this command ran again later]';
    expect(listShownResults(runSteps(createRepeatedCommandsStep(tools), messages))).toEqual([
      gone,
      A,
      gone,
      B,
      B,
      A,
      A,
      A,
      A,
    ]);
  });

  it('keeps the outputs of failed commands, whether or not they are marked as errors', () => {
    const messages = [
      TASK_MESSAGE,
      ...makeExchange('Bash', test, A, { is_error: true }),
      ...makeExchange('Bash', test, `Exit code: 1\n${A}`),
      ...makeExchange('Bash', test, `${A}\nProcess exited with code 127`),
      ...makeExchange('Bash', test, `Error: no such file\n${A}`),
      ...makeExchange('Bash', test, `Exit code: 0\n${A}`),
      ...makeExchange('Bash', test, B),
    ];
    const kept = listShownResults(runSteps(createRepeatedCommandsStep(tools), messages));
    expect(kept.map((one) => one.startsWith('['))).toEqual([false, false, false, false, true, false]);
  });
});

describe('Lossless, for small similar results,', () => {
  const saved = (name: string): string =>
    `The file /src/${name}.ts has been updated. ${'All checks of the editor passed. '.repeat(6)}`;
  it("keeps only the latest of one writing tool's similar results, and states their number in place of the others", () => {
    const messages = [
      TASK_MESSAGE,
      ...['a', 'b', 'c', 'd'].flatMap((name) => makeExchange('Edit', { file_path: name }, saved(name))),
      ...makeExchange('Edit', {}, `${saved('e')} But it is another text.`),
      ...makeExchange('Edit', {}, saved('f'), { is_error: true }),
    ];
    const one = '[done, 1 of 4 alike]';
    expect(listShownResults(runSteps(createSimilarResultsStep(tools), messages))).toEqual([
      one,
      one,
      one,
      saved('d'),
      `${saved('e')} But it is another text.`,
      saved('f'),
    ]);
  });

  it('removes none if the results are answers and not confirmations', () => {
    const answer = (city: string, degrees: number): string =>
      `In '${city}' it is ${degrees} degrees. ${'And more weather. '.repeat(10)}`;
    const messages = [
      TASK_MESSAGE,
      ...[1, 2, 3, 4].flatMap((n) => [
        ...makeExchange('weather', {}, answer(`c${n}`, n)),
        ...makeExchange('Read', {}, answer('x', n)),
      ]),
    ];
    expect(runSteps(createSimilarResultsStep(tools), messages).edits).toEqual([]);
  });

  it('removes none if the results are few, long, or already contain a marker', () => {
    const few = [TASK_MESSAGE, ...['a', 'b'].flatMap((name) => makeExchange('Edit', {}, saved(name)))];
    expect(runSteps(createSimilarResultsStep(tools), few).edits).toEqual([]);
    const long = [TASK_MESSAGE, ...['a', 'b', 'c'].flatMap((name) => makeExchange('Edit', {}, saved(name).repeat(5)))];
    expect(runSteps(createSimilarResultsStep(tools), long).edits).toEqual([]);
  });
});
