import { describe, expect, it } from 'vitest';
import { DEFAULT_TOOLS } from '../../messages/tools';
import type { ApiMessage } from '../../messages/types';
import type { Draft } from '../draft/draft';
import { assistant, text, user, makeTestMarker } from '../../testing';
import type { KeptCopy } from './sources';
import { LINE_OPERATIONS, createRepeatedLinesStep, type LineOperation } from './repeatedLines';
import {
  makeCall,
  makeCodeLines,
  makeExchange,
  numberLines,
  getShownResult,
  runSteps,
  getShownText,
  TASK_MESSAGE,
} from './testing';

const condense = (
  messages: readonly ApiMessage[],
  keep: KeptCopy = 'latest',
  operations: readonly LineOperation[] = LINE_OPERATIONS,
): Draft => runSteps(createRepeatedLinesStep(DEFAULT_TOOLS, keep, operations), messages);

const FILE = { file_path: '/work/src/a.ts' };
const A = makeCodeLines('a', 1, 60);

describe('parameters that identify a call under Lossless', () => {
  const path = `/work/${'a-long-folder/'.repeat(12)}a.ts`;
  const edits = ['one', 'two', 'three'].flatMap((name) =>
    makeExchange(
      'Edit',
      { file_path: path, old_string: `${name}()`, new_string: `${name}(1)` },
      `The file ${path} was updated.`,
    ),
  );

  it('stay in each call, however long the path', () => {
    const draft = condense([TASK_MESSAGE, ...edits]);
    for (const message of [1, 3, 5])
      expect(draft.getText({ message, path: ['content', 0, 'input', 'file_path'] })).toBe(path);
  });

  it('are shown in markers without the command’s leading cd', () => {
    const output = Array.from({ length: 30 }, (_, index) => `result of the check number ${index} is well`).join('\n');
    const draft = condense([
      TASK_MESSAGE,
      ...makeExchange('Bash', { command: 'make check' }, output),
      ...makeExchange('Bash', { command: 'cd /work/app\nmake check' }, output),
    ]);
    expect(getShownResult(draft, 2)).toBe('[30 lines, shown in the later Bash "make check"]');
  });
});

describe('repeated lines of one file under Lossless', () => {
  const twoReads = [
    TASK_MESSAGE,
    ...makeExchange('Read', FILE, numberLines(A)),
    ...makeExchange('Read', { ...FILE, offset: 21 }, numberLines(A.slice(20, 50), 21)),
  ];

  it('stay in the later of two reads', () => {
    const draft = condense(twoReads);
    expect(getShownResult(draft, 2)).toBe(
      `${numberLines(A.slice(0, 20))}\n[lines 21-50, shown later]\n${numberLines(A.slice(50), 51)}`,
    );
    expect(getShownResult(draft, 4)).toBe(numberLines(A.slice(20, 50), 21));
  });

  it('refer to one place that shows all of them, even if other places show some', () => {
    const few = numberLines(A.slice(38, 40), 39);
    const draft = condense([
      TASK_MESSAGE,
      ...makeExchange('Read', FILE, numberLines(A)),
      ...makeExchange('Read', FILE, numberLines(A)),
      ...makeExchange('Read', { ...FILE, offset: 39, limit: 2 }, few),
    ]);
    expect(getShownResult(draft, 2)).toBe('[lines 1-60, shown later]');
    expect(getShownResult(draft, 4)).toBe(numberLines(A));
    expect(getShownResult(draft, 6)).toBe(few);
  });

  it('stay in the first read if the setting keeps first copies', () => {
    const draft = condense(twoReads, 'first');
    expect(getShownResult(draft, 2)).toBe(numberLines(A));
    expect(getShownResult(draft, 4)).toBe('[lines 21-50, shown above]');
  });

  it('are described by their new numbers if they have moved', () => {
    const moved = ['// a new line', ...A];
    const draft = condense([
      TASK_MESSAGE,
      ...makeExchange('Read', FILE, numberLines(A)),
      ...makeExchange('Read', FILE, numberLines(moved)),
    ]);
    expect(getShownResult(draft, 2)).toBe('[lines 1-60, shown later as 2-61]');
  });

  it('stay if an edit has changed them since', () => {
    const changed = A.with(30, '  const changed = true; // and nothing else');
    const draft = condense([
      TASK_MESSAGE,
      ...makeExchange('Read', FILE, numberLines(A)),
      ...makeExchange('Read', FILE, numberLines(changed)),
    ]);
    expect(getShownResult(draft, 2)).toBe(
      `[lines 1-30, shown later]\n${numberLines([A[30]!], 31)}\n[lines 32-60, shown later]`,
    );
  });

  it('are recognized across different ways to number them', () => {
    const tabbed = A.map((line, at) => `${at + 1}\t${line}`).join('\n');
    const barred = A.map((line, at) => `${at + 1} | ${line}`).join('\n');
    const draft = condense([
      TASK_MESSAGE,
      ...makeExchange('read_file', { path: 'a.ts' }, barred),
      ...makeExchange('Bash', { command: 'cat -n a.ts' }, tabbed),
    ]);
    expect(getShownResult(draft, 2)).toBe('[lines 1-60, shown later]');
  });

  it('are described by one marker if they are in several places', () => {
    const draft = condense([
      TASK_MESSAGE,
      ...makeExchange('Read', FILE, numberLines(A)),
      ...makeExchange('Read', { ...FILE, limit: 30 }, numberLines(A.slice(0, 30))),
      ...makeExchange('Read', { ...FILE, offset: 31 }, numberLines(A.slice(30), 31)),
    ]);
    expect(getShownResult(draft, 2)).toBe('[lines 1-60, shown later as 1-30 and later as 31-60]');
  });

  it('stay if they save too little, belong to a failed call, or are in the task', () => {
    const short = numberLines(A.slice(0, 2));
    const messages = [
      user(A.join('\n')),
      ...makeExchange('Read', FILE, short),
      ...makeExchange('Read', FILE, short),
      ...makeExchange('Read', FILE, numberLines(A), { is_error: true }),
    ];
    expect(condense(messages).edits).toEqual([]);
  });
});

describe('lines of edits under Lossless', () => {
  const before = A.slice(10, 25);
  const after = before.map((line) => line.replace('compute', 'produce'));
  const edited = [...A.slice(0, 10), ...after, ...A.slice(25)];
  const edit = { ...FILE, old_string: before.join('\n'), new_string: after.join('\n') };
  const echo = `The file has been updated. Here's the result of running \`cat -n\` on a snippet:\n${numberLines(edited.slice(6, 29), 7)}`;

  it('are removed from the result of an edit if the edit and a read show them', () => {
    const draft = condense([
      TASK_MESSAGE,
      ...makeExchange('Read', FILE, numberLines(A)),
      ...makeExchange('Edit', edit, echo),
    ]);
    expect(getShownResult(draft, 4)).toBe(
      `${echo.slice(0, echo.indexOf('\n'))}\n[lines 7-25, shown above as 7-10 and in the call’s new_string]\n[lines 26-29, shown above]`,
    );
    expect(getShownText(draft, 3, 'content', 0, 'input', 'new_string')).toBe(edit.new_string);
  });

  it('are removed from the old text if a read shows them', () => {
    const draft = condense([
      TASK_MESSAGE,
      ...makeExchange('Read', FILE, numberLines(A)),
      ...makeExchange('Edit', edit, 'done'),
    ]);
    expect(getShownText(draft, 3, 'content', 0, 'input', 'old_string')).toBe('[15 lines, shown above as 11-25]');
    expect(getShownText(draft, 3, 'content', 0, 'input', 'file_path')).toBe(FILE.file_path);
  });

  it('are removed from the new text if a later read shows them', () => {
    const draft = condense([
      TASK_MESSAGE,
      ...makeExchange('Edit', edit, 'done'),
      ...makeExchange('Read', FILE, numberLines(edited)),
    ]);
    expect(getShownText(draft, 1, 'content', 0, 'input', 'new_string')).toBe('[15 lines, shown later as 11-25]');
  });

  it('are removed from a written file if it is read back', () => {
    const draft = condense([
      TASK_MESSAGE,
      ...makeCall('Write', { ...FILE, content: A.join('\n') }),
      ...makeExchange('Read', FILE, numberLines(A)),
    ]);
    expect(getShownText(draft, 1, 'content', 0, 'input', 'content')).toBe('[60 lines, shown later as 1-60]');
  });

  it('are removed from a failed edit if it was made again', () => {
    const draft = condense([
      TASK_MESSAGE,
      ...makeCall('Edit', edit, 'no match', { is_error: true }),
      ...makeCall('Edit', edit),
    ]);
    expect(getShownText(draft, 1, 'content', 0, 'input', 'new_string')).toBe('[15 lines, shown in the later Edit]');
    expect(getShownText(draft, 3, 'content', 0, 'input', 'new_string')).toBe(edit.new_string);
  });
});

describe('repeated runs of lines in other results under Lossless', () => {
  it('are removed from a search if a read shows them', () => {
    const found = A.slice(4, 24).map((line, at) => `src/a.ts-${at + 5}-${line}`);
    const draft = condense([
      TASK_MESSAGE,
      ...makeExchange('Grep', { pattern: 'a9' }, found.join('\n')),
      ...makeExchange('Read', FILE, numberLines(A)),
    ]);
    expect(getShownResult(draft, 2)).toBe('[lines 5-24 of src/a.ts, shown later]');
  });

  it('are named in markers by their command, without its leading cd', () => {
    const log = A.join('\n');
    const draft = condense([
      TASK_MESSAGE,
      ...makeExchange('Bash', { command: 'cd /work && make' }, `one\n${log}`),
      ...makeExchange('Bash', { command: 'cd /work && make a-target-with-a-name-that-is-far-too-long' }, `two\n${log}`),
    ]);
    expect(getShownResult(draft, 2)).toBe(
      'one\n[60 lines, shown in the later Bash "make a-target-with-a-name-that-is-far-to…"]',
    );
  });

  it('are named in markers by the task whose output was requested, if there are several tasks', () => {
    const log = A.join('\n');
    const draft = condense([
      TASK_MESSAGE,
      ...makeExchange('TaskOutput', { task_id: 'a1', block: true }, `one\n${log}`),
      ...makeExchange('TaskOutput', { task_id: 'b2', block: true }, `two\n${log}`),
      ...makeExchange('TaskOutput', { task_id: 'c3', block: true }, 'three'),
    ]);
    expect(getShownResult(draft, 2)).toBe('one\n[60 lines, shown in the later TaskOutput "b2"]');
  });

  it('stay in the parameters of a read or search, which markers quote', () => {
    const args = makeCodeLines('path', 1, 20).join('\n');
    const messages = [
      TASK_MESSAGE,
      ...makeCall('read_file', { args }, 'one'),
      ...makeCall('read_file', { args }, 'two'),
    ];
    expect(condense(messages).edits).toEqual([]);
  });

  it('are named in markers by the search’s pattern, another tool’s name, or the part of a result', () => {
    const draft = condense([
      TASK_MESSAGE,
      ...makeExchange('Probe', {}, [...A, ...makeCodeLines('b', 1, 30)].join('\n')),
      ...makeExchange('Grep', { pattern: 'x' }, A.join('\n')),
      ...makeExchange('Other', { query: '  ' }, makeCodeLines('b', 1, 30).join('\n')),
    ]);
    expect(getShownResult(draft, 2)).toBe('[90 lines, shown in the later Grep "x" and in the later Other]');
    const other = condense([
      TASK_MESSAGE,
      ...makeExchange('Probe', {}, `${A.join('\n')}\nend`),
      ...makeExchange('Other', {}, A.join('\n')),
    ]);
    expect(getShownResult(other, 2)).toBe('[60 lines, shown in the later Other]\nend');
  });

  it('are removed together with blank lines between two runs, but with no other lines', () => {
    const [first, second] = [A.slice(0, 20), A.slice(20, 40)];
    const draft = condense([
      TASK_MESSAGE,
      ...makeExchange('Probe', {}, [...first, '', '', ...second].join('\n')),
      ...makeExchange('Probe', {}, first.join('\n')),
      ...makeExchange('Probe', {}, second.join('\n')),
    ]);
    expect(getShownResult(draft, 2)).toBe('[42 lines, shown in the later Probe]');
  });

  it('stay if they contain a marker', () => {
    const marked = `${makeTestMarker('90 lines, shown later')} ${A.join(' ')}`;
    const messages = [
      TASK_MESSAGE,
      ...makeExchange('Probe', {}, `one\n${marked}`),
      ...makeExchange('Probe', {}, `two\n${marked}`),
    ];
    expect(condense(messages).edits).toEqual([]);
  });

  it('are found in texts of agents that write calls as XML', () => {
    const write = `Writing.\n\n<write_to_file>\n<path>src/a.ts</path>\n<content>\n${A.join('\n')}\n</content>\n</write_to_file>`;
    const messages = [
      TASK_MESSAGE,
      assistant(text(write)),
      user(text("[write_to_file for 'src/a.ts'] Result:"), text('saved')),
      assistant(text('<read_file>\n<path>src/a.ts</path>\n</read_file>')),
      user(text("[read_file for 'src/a.ts'] Result:"), text(A.map((line, at) => `${at + 1} | ${line}`).join('\n'))),
    ];
    const draft = condense(messages);
    expect(getShownText(draft, 1, 'content', 0, 'text')).toContain('lines, shown later as 1-60]\n</content>');
  });
});

describe('a Lossless operation that is turned off', () => {
  it('leaves its texts whole, but other texts may still refer to them', () => {
    const messages = [
      TASK_MESSAGE,
      ...makeCall('Write', { ...FILE, content: A.join('\n') }),
      ...makeExchange('Read', FILE, numberLines(A)),
    ];
    const draft = condense(messages, 'latest', ['oneViewPerFile']);
    expect(getShownText(draft, 1, 'content', 0, 'input', 'content')).toBe(A.join('\n'));
    expect(getShownResult(draft, 4)).toBe('[lines 1-60, shown in the Write above]');
  });
});

describe('markers for repeated lines under Lossless', () => {
  it('on one side of an edit refer to the other side', () => {
    const messages = [
      TASK_MESSAGE,
      ...makeCall('Edit', {
        file_path: 'a.ts',
        old_string: A.slice(0, 20).join('\n'),
        new_string: ['new', ...A.slice(0, 20), 'end'].join('\n'),
      }),
    ];
    const draft = condense(messages);
    expect(getShownText(draft, 1, 'content', 0, 'input', 'old_string')).toBe('[20 lines, shown in new_string]');
  });

  it('in a parameter refer to the call’s own result, and keep what differs between the sides of an edit', () => {
    const body = A.slice(0, 20).join('\n');
    const answered = condense([TASK_MESSAGE, ...makeExchange('issue', { body }, `created\n${body}`)]);
    expect(getShownText(answered, 1, 'content', 0, 'input', 'body')).toBe('[20 lines, shown in its result]');
    const old = ['changed line of the old side', ...A.slice(0, 20)].join('\n');
    const draft = condense([
      TASK_MESSAGE,
      ...makeExchange('Grep', { pattern: 'old' }, old.slice(0, old.indexOf('\n'))),
      ...makeCall('Edit', { ...FILE, old_string: old, new_string: ['new', ...A.slice(0, 20)].join('\n') }),
    ]);
    expect(getShownText(draft, 3, 'content', 0, 'input', 'old_string')).toBe(
      'changed line of the old side\n[20 lines, shown in new_string]',
    );
  });

  it('do not count a blank line after the last numbered one', () => {
    const messages = [
      TASK_MESSAGE,
      ...makeExchange('Read', FILE, `${numberLines(A)}\n`),
      ...makeExchange('Read', FILE, `${numberLines(A)}\n\n`),
    ];
    expect(getShownResult(condense(messages), 2)).toBe('[lines 1-60, shown later]\n');
  });

  it('refer to a single place if it has all the lines', () => {
    const messages = [
      TASK_MESSAGE,
      ...makeExchange('Read', FILE, numberLines(A)),
      ...makeExchange('Read', FILE, numberLines(A)),
      ...makeExchange('Grep', { pattern: 'a20' }, `src/a.ts:20:${A[19]!}\nsrc/a.ts:40:${A[39]!}`),
    ];
    expect(getShownResult(condense(messages), 2)).toBe('[lines 1-60, shown later]');
  });

  it('are split if the lines are in three places or far apart', () => {
    const parts = [A.slice(0, 20), A.slice(20, 40), A.slice(40)];
    const messages = [
      TASK_MESSAGE,
      ...makeExchange('Probe', {}, A.join('\n')),
      ...parts.flatMap((part, at) => makeExchange('Grep', { pattern: `x${at}` }, part.join('\n'))),
    ];
    expect(getShownResult(condense(messages), 2)).toBe(
      '[40 lines, shown in the later Grep "x0" and in the later Grep "x1"]\n[20 lines, shown in the later Grep "x2"]',
    );
    const apart = [...A.slice(0, 10), ...makeCodeLines('b', 1, 60), ...A.slice(10, 20)];
    const spread = [
      TASK_MESSAGE,
      ...makeExchange('Read', FILE, numberLines(A.slice(0, 20))),
      ...makeExchange('Read', FILE, numberLines(apart)),
    ];
    expect(getShownResult(condense(spread), 2)).toBe('[lines 1-10, shown later]\n[lines 11-20, shown later as 71-80]');
  });

  it('state the enclosing range of lines if other lines are among them', () => {
    const spread = [...A.slice(0, 10), 'one line more', ...A.slice(10, 20)];
    const messages = [
      TASK_MESSAGE,
      ...makeExchange('Read', FILE, numberLines(A.slice(0, 20))),
      ...makeExchange('Read', FILE, numberLines(spread)),
    ];
    const draft = condense(messages);
    expect(getShownResult(draft, 2)).toBe('[lines 1-20, shown later within 1-21]');
  });

  it('leave the XML elements around each file if one call read several files', () => {
    const file = (path: string, lines: readonly string[]): string =>
      `<file><path>${path}</path>\n<content lines="1-${lines.length}">\n${numberLines(lines).replaceAll('→', ' | ')}\n</content>\n</file>`;
    const B = makeCodeLines('b', 1, 30);
    const both = `<files>\n${file('src/a.ts', A)}\n${file('src/b.ts', B)}\n</files>`;
    const args = '<file><path>src/a.ts</path></file><file><path>src/b.ts</path></file>';
    const messages = [
      TASK_MESSAGE,
      ...makeExchange('read_file', { args }, both),
      ...makeExchange('read_file', { args }, `${both}\nend`),
    ];
    const draft = condense(messages);
    const where = 'shown in the later read_file "src/a.ts, src/b.ts"';
    expect(getShownResult(draft, 2)).toBe(
      [
        '<files>\n<file><path>src/a.ts</path>\n<content lines="1-60">',
        `[lines 1-60, ${where} (lines 1-60)]\n</content>\n</file>\n<file><path>src/b.ts</path>\n<content lines="1-30">`,
        `[lines 1-30, ${where} (lines 1-30)]\n</content>\n</file>\n</files>`,
      ].join('\n'),
    );
  });
});

describe('a line that a later text repeats', () => {
  // This line is long enough to be worth a marker of its own.
  const common = `  return answer(${makeCodeLines('common', 1, 9).join('').replaceAll(/\s+/g, ' ')});`;

  it('is removed from all earlier texts, however many there are', () => {
    const often = makeCodeLines('a', 1, 12).flatMap((line) => [line, common]);
    const messages = [
      TASK_MESSAGE,
      ...makeExchange('Probe', {}, often.join('\n')),
      ...makeExchange('Grep', { pattern: 'common' }, common),
    ];
    const draft = condense(messages);
    expect(getShownResult(draft, 2)).toBe(
      often.join('\n').replaceAll(common, '[1 line, shown in the later Grep "common"]'),
    );
    expect(getShownResult(draft, 4)).toBe(common);
  });
});
