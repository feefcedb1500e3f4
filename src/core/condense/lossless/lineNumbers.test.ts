import { describe, expect, it } from 'vitest';
import { DEFAULT_TOOLS } from '../../messages/tools';
import { text, user, makeTestMarker } from '../../testing';
import { createLineNumbersStep } from './lineNumbers';
import { makeCodeLines, makeExchange, numberLines, getShownResult, runSteps, TASK_MESSAGE } from './testing';

const A = makeCodeLines('a', 1, 20);
const cut = (tool: string, content: string, fields = {}): string =>
  getShownResult(
    runSteps(createLineNumbersStep(DEFAULT_TOOLS), [TASK_MESSAGE, ...makeExchange(tool, {}, content, fields)]),
    2,
  );

describe('line numbers in results under Lossless', () => {
  it('stay only on the first line of consecutive lines', () => {
    expect(cut('Read', numberLines(A, 7))).toBe(`     7→${A.join('\n')}`);
    expect(cut('read_file', A.map((line, at) => `${at + 1} | ${line}`).join('\n'))).toBe(`1 | ${A.join('\n')}`);
  });

  it('stay on the last line before other text', () => {
    const noted = cut('Read', `${numberLines(A, 7)}\n\n(truncated)`);
    expect(noted).toBe(`     7→${A.slice(0, -1).join('\n')}\n    26→${A.at(-1) ?? ''}\n\n(truncated)`);
  });

  it('stay on every fiftieth line', () => {
    const shown = cut('Read', numberLines(A, 40));
    expect(shown.split('\n')).toEqual([
      `    40→${A[0] ?? ''}`,
      ...A.slice(1, 10),
      `    50→${A[10] ?? ''}`,
      ...A.slice(11),
    ]);
  });

  it('start again after lines were skipped', () => {
    const shown = cut('Read', `${numberLines(A.slice(0, 10), 1)}\n${numberLines(A.slice(10), 31)}`);
    expect(shown.split('\n')).toEqual([
      `     1→${A[0] ?? ''}`,
      ...A.slice(1, 9),
      `    10→${A[9] ?? ''}`,
      `    31→${A[10] ?? ''}`,
      ...A.slice(11),
    ]);
  });

  it('stay if the line’s own text looks numbered', () => {
    const lines = A.with(5, '     9→a line of a file about line numbers');
    expect(cut('Read', numberLines(lines))).toContain('     6→     9→a line of');
  });

  it('stay on the first two lines of other tools’ results, so that the lines are recognized again', () => {
    const shown = cut('Bash', A.map((line, at) => `${at + 1}\t${line}`).join('\n'));
    expect(shown).toBe(`1\t${A[0] ?? ''}\n2\t${A.slice(1).join('\n')}`);
  });

  it('stay in tables and errors, and if they have leading zeros', () => {
    const table = A.map((line, at) => `${at * 3 + 2}\t${line}`).join('\n');
    expect(cut('Bash', table)).toBe(table);
    const zeros = A.map((line, at) => `0${at}→${line}`).join('\n');
    expect(cut('Read', zeros)).toBe(zeros);
    const huge = A.map((line, at) => `12345678901${at}→${line}`).join('\n');
    expect(cut('Read', huge)).toBe(huge);
    expect(cut('Read', numberLines(A), { is_error: true })).toBe(numberLines(A));
  });

  it('stay in the task', () => {
    const messages = [user(text(`[read_file for 'a'] Result:`), text(numberLines(A)))];
    expect(runSteps(createLineNumbersStep(DEFAULT_TOOLS), messages).edits).toEqual([]);
  });
});

describe('paths of search results under Lossless', () => {
  const PATH = 'src/core/condense/lines/lines.ts';

  it('stay only on the first matching line of a file', () => {
    const shown = cut(
      'Grep',
      ['Found 4 matches', `${PATH}:7:one`, `${PATH}:19:two`, `${PATH}:20:three`, 'src/other.ts:1:four'].join('\n'),
    );
    expect(shown).toBe(['Found 4 matches', `${PATH}:7:one`, '19:two', '20:three', 'src/other.ts:1:four'].join('\n'));
  });

  it('are removed from the following lines of the same file, which keep their numbers', () => {
    const shown = cut(
      'Grep',
      [`${PATH}-6-before`, `${PATH}:7:match`, `${PATH}-8-after`, `${PATH}-9-more`, '--', `${PATH}:31:again`].join('\n'),
    );
    expect(shown).toBe([`${PATH}-6-before`, '7:match', '8-after', '9-more', '--', '31:again'].join('\n'));
  });

  it('stay once in each spelling that the results use', () => {
    const root = `/work/${PATH}`;
    const shown = cut('Grep', [`${root}-6-before`, `${PATH}:7:match`, `${root}-8-after`, `${root}-9-more`].join('\n'));
    expect(shown).toBe([`${root}-6-before`, `${PATH}:7:match`, '8-after', '9-more'].join('\n'));
  });

  it('are removed from a context line that looks like a match, which keeps its number', () => {
    const shown = cut('Grep', [`${PATH}:7:one`, `${PATH}-8-9:nine`, `${PATH}-9-ten`].join('\n'));
    expect(shown).toBe([`${PATH}:7:one`, '8-9:nine', '9-ten'].join('\n'));
  });

  it('are repeated after a marker that does not name the removed lines, so that the reference check restores nothing', () => {
    const gap = makeTestMarker('37 lines truncated', 'e9a2a5');
    const named = makeTestMarker('lines 9-40 of lines.ts, shown later', 'e9a2a5');
    const shown = (marker: string): string => {
      const numbers = [7, 8, 41, 42, 43];
      return cut('Grep', numbers.map((n) => `${PATH}:${n}:line ${n}${n === 8 ? marker : ''}`).join('\n'));
    };
    const { length } = shown('');
    expect(shown(gap).split('\n')[2]).toBe(`${PATH}:41:line 41`);
    expect(shown(named).split('\n')[2]).toBe('41:line 41');
    expect(length).toBe(`${PATH}:`.length + '7:line 7\n8:line 8\n41:line 41\n42:line 42\n43:line 43'.length);
  });

  it('are repeated after other text', () => {
    const lines = [`${PATH}:7:one`, `${PATH}:8:two`, 'a note', `${PATH}:9:three`, `${PATH}:10:four`];
    expect(cut('Grep', lines.join('\n'))).toBe(
      [`${PATH}:7:one`, '8:two', 'a note', `${PATH}:9:three`, '10:four'].join('\n'),
    );
  });
});
