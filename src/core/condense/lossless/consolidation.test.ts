import { describe, expect, it } from 'vitest';
import { DEFAULT_TOOLS } from '../../messages/tools';
import { lines } from '../../testing';
import { repeatedCommands, repeatedListings, similarResults } from './consolidation';
import { did, results, run, TASK } from './testing';

const tools = DEFAULT_TOOLS;

const A = lines('a', 20);

const B = lines('b', 20);

describe('Lossless, for repeated listings and searches,', () => {
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

  it('keeps the lines that the latest lacks, and refers to it for the rest', () => {
    expect(results(run(repeatedListings(tools, 'latest'), messages))).toEqual([
      '[12 lines as in later LS of src]\ngone.ts',
      earlier,
      later,
      '[20 lines as in later Grep]',
      `${A}\nmore`,
      A,
      earlier,
    ]);
  });

  it('refers for one pattern to the search that shares most lines, wherever they look', () => {
    const found = (from: number, to: number): string =>
      Array.from({ length: to - from }, (_, at) => `src/f${from + at}.ts:${at}: const foo${from + at} = make();`).join(
        '\n',
      );
    const search = (path: string, text: string, regex = 'foo') => did('search_files', { path, regex }, text);
    const outcome = run(repeatedListings(tools, 'latest'), [
      TASK,
      ...search('src', found(0, 60)),
      ...search('src', found(0, 60), 'bar'),
      ...search('.', `${found(0, 90)}\n90 found`),
      ...search('lib', found(200, 220)),
    ]);
    expect(results(outcome)).toEqual([
      '[60 lines as in later search_files of .]',
      found(0, 60),
      `${found(0, 90)}\n90 found`,
      found(200, 220),
    ]);
  });

  it('still refers to their own repetition if another search for the pattern follows', () => {
    const messages = [
      TASK,
      ...did('Grep', { pattern: 'x', path: 'src' }, A),
      ...did('Grep', { pattern: 'x', path: 'src' }, A),
      ...did('Grep', { pattern: 'x', path: 'lib' }, B),
    ];
    expect(results(run(repeatedListings(tools, 'latest'), messages))).toEqual([
      '[20 lines as in later Grep of src]',
      A,
      B,
    ]);
  });

  it('refers to the first one if the first copy is to stay', () => {
    expect(results(run(repeatedListings(tools, 'first'), messages)).slice(0, 5)).toEqual([
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
      TASK,
      ...did('Bash', test, A),
      ...did('Bash', { ...test, cwd: 'lib' }, A),
      ...did('shell', { command: ['npm', 'test'], workdir: 'x' }, A),
      ...did('shell', { command: ['npm', 'test'], workdir: 'x' }, B),
      ...did('Bash', test, B),
      ...did('Bash', {}, A),
      ...did('Bash', {}, A),
      ...did('mcp', { ...test, id: 1 }, A),
      ...did('mcp', { ...test, id: 1 }, A),
    ];
    const gone = '[older output, this command ran again later]';
    expect(results(run(repeatedCommands(tools), messages))).toEqual([gone, A, gone, B, B, A, A, A, A]);
  });

  it('keeps failed outputs, marked as errors or not', () => {
    const messages = [
      TASK,
      ...did('Bash', test, A, { is_error: true }),
      ...did('Bash', test, `Exit code: 1\n${A}`),
      ...did('Bash', test, `${A}\nProcess exited with code 127`),
      ...did('Bash', test, `Error: no such file\n${A}`),
      ...did('Bash', test, `Exit code: 0\n${A}`),
      ...did('Bash', test, B),
    ];
    const kept = results(run(repeatedCommands(tools), messages));
    expect(kept.map((one) => one.startsWith('['))).toEqual([false, false, false, false, true, false]);
  });
});

describe('Lossless, for small similar results,', () => {
  const saved = (name: string): string =>
    `The file /src/${name}.ts has been updated. ${'All checks of the editor passed. '.repeat(6)}`;
  it('of one writing tool keeps the latest, with the count', () => {
    const messages = [
      TASK,
      ...['a', 'b', 'c', 'd'].flatMap((name) => did('Edit', { file_path: name }, saved(name))),
      ...did('Edit', {}, `${saved('e')} But it is another text.`),
      ...did('Edit', {}, saved('f'), { is_error: true }),
    ];
    const one = '[done, 1 of 4 alike]';
    expect(results(run(similarResults(tools), messages))).toEqual([
      one,
      one,
      one,
      saved('d'),
      `${saved('e')} But it is another text.`,
      saved('f'),
    ]);
  });

  it('removes none if they are answers and not confirmations', () => {
    const answer = (city: string, degrees: number): string =>
      `In '${city}' it is ${degrees} degrees. ${'And more weather. '.repeat(10)}`;
    const messages = [
      TASK,
      ...[1, 2, 3, 4].flatMap((n) => [...did('weather', {}, answer(`c${n}`, n)), ...did('Read', {}, answer('x', n))]),
    ];
    expect(run(similarResults(tools), messages).edits).toEqual([]);
  });

  it('removes none if they are few, long, or already contain a marker', () => {
    const few = [TASK, ...['a', 'b'].flatMap((name) => did('Edit', {}, saved(name)))];
    expect(run(similarResults(tools), few).edits).toEqual([]);
    const long = [TASK, ...['a', 'b', 'c'].flatMap((name) => did('Edit', {}, saved(name).repeat(5)))];
    expect(run(similarResults(tools), long).edits).toEqual([]);
  });
});
