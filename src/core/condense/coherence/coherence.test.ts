import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ListedFacts, renderRangeFacts } from '../summary/factSheet';
import { createSummaryMessage, formatSummaryText, SUMMARY_EDIT_INFO } from '../summary/summaryMessage';
import type { ApiMessage } from '../../messages/types';
import { assistant, makeToolExchange, user } from '../../testing';
import { createCounter } from '../../testingCounter';
import { isToolResult } from '../../messages/blocks';
import { Draft } from '../draft/draft';
import type { Edit } from '../edits/edits';
import { losslessConfigSchema } from '../lossless/run';
import { losslessProvider } from '../providers/lossless';
import { createSmartProvider } from '../providers/smart';
import {
  parseMinimumCoherence,
  describeCoherence,
  measureCoherence,
  describeFloorBreaches,
  computeKeptPercent,
  type CoherenceReport,
} from './coherence';

const FILLER = 'A line of output that nobody needs to see again, for it says nothing new.\n'.repeat(12);
const OUTPUT = `${FILLER}src/a.ts:3: error TS2304: Cannot find name "x".\n${FILLER}`;

const MESSAGES: readonly ApiMessage[] = [
  user('Mend the build.'),
  ...makeToolExchange('1', 'Read', { file_path: '/p/src/a.ts' }, 'const a = 1;'),
  ...makeToolExchange('2', 'Bash', { command: 'npm run build' }, OUTPUT),
  ...makeToolExchange('3', 'TodoWrite', { todos: [{ content: 'Declare x', status: 'pending' }] }, 'done'),
  user(`Never touch the tests. ${FILLER}`),
  assistant('I see.'),
];

const cutWhole = (draft: Draft, message: number, path: readonly (string | number)[]): void => {
  const place = { message, path };
  const requests = [{ start: 0, end: draft.getText(place).length, marker: 'all of it' }];
  draft.cutText('test', place, requests, {
    contentType: 'toolResults',
    operation: 'cut',
    reason: 'test',
    strict: false,
  });
};

/** Returns a proxy that calls `tell` whenever something in the value is read. */
function watchReads<T extends object>(value: T, tell: () => void): T {
  return new Proxy(value, {
    get: (target, key): unknown => {
      const inner: unknown = Reflect.get(target, key);
      // Reading a message's role and flags does not count, since this happens each time.
      if (key === 'content' || !('role' in target)) tell();
      return typeof inner === 'object' && inner !== null ? watchReads(inner, tell) : inner;
    },
  });
}

describe('the report on facts kept by a condensation', () => {
  it('finds files, error lines, instructions and to-dos', () => {
    const report = measureCoherence(MESSAGES, []);
    expect(report.files).toMatchObject({ kept: 1, recallable: 0, lost: 0 });
    expect(report.errors).toMatchObject({ kept: 1, recallable: 0, lost: 0 });
    expect(report.instructions).toMatchObject({ kept: 2, recallable: 0, lost: 0 });
    expect(report.todos).toMatchObject({ kept: 1, recallable: 0, lost: 0 });
    expect(describeFloorBreaches(report, { files: 100, errors: 100, instructions: 100, todos: 100 })).toEqual([]);
  });

  it('does not take numbered file lines after an edit for errors', () => {
    const input = { file_path: '/p/src/a.ts', old_string: 'a', new_string: 'b' };
    const shown = 'Updated. A snippet:\n     7→if (!x) throw new Error(x);\nwarning: the linter failed';
    const report = measureCoherence([user('Edit.'), ...makeToolExchange('1', 'Edit', input, shown)], []);
    expect(report.errors).toMatchObject({ kept: 1, recallable: 0, lost: 0 });
  });

  it('does not take numbered file lines that a command printed for errors', () => {
    const code = (at: number): string => (at === 8 ? 'throw new Error(x);' : `let x${at};`);
    const numbered = (between: string): string => [7, 8, 9].map((at) => `${at}${between}${code(at)}`).join('\n');
    for (const [command, output] of [
      ["sed -n '7,9p' src/a.ts", [7, 8, 9].map(code).join('\n')],
      ['rg -n Error src', 'src/a.ts:8:throw new Error(x);\nsrc/b.ts:3:throw new Error(y);'],
      ['./show src/a.ts', numbered(': ')],
      ['./show src/a.ts', numbered('\t')],
      ['./show src/a.ts', numbered(' | ')],
    ] as const) {
      const messages = [user('Look.'), ...makeToolExchange('1', 'Bash', { command }, output)];
      const report = measureCoherence(messages, []);
      expect(report.errors, output).toMatchObject({ kept: 0, recallable: 0, lost: 0 });
    }
  });

  it('recognizes an error line that has lost its colors', async () => {
    const coloured = `${FILLER}\u001b[31merror\u001b[0m: no such file\n${FILLER}`;
    const messages = [user('Build.'), ...makeToolExchange('1', 'Bash', { command: 'make' }, coloured)];
    const draft = new Draft(messages, createCounter());
    const { edits } = await losslessProvider.condense(
      { messages, edits: [], counter: draft.counter },
      losslessConfigSchema.parse({}),
      {},
    );
    expect(edits.length).toBeGreaterThan(0);
    const report = measureCoherence(messages, edits);
    expect(report.errors).toMatchObject({ kept: 1, recallable: 0, lost: 0 });
  });

  it('ends a truncated example with an ellipsis', () => {
    const error = `error TS2304: Cannot find name "x". ${'It was looked for here. '.repeat(8)}`.trim();
    const messages = [user('Build.'), ...makeToolExchange('1', 'Bash', { command: 'make' }, error)];
    const draft = new Draft(messages, createCounter());
    cutWhole(draft, 2, ['content', 0, 'content']);
    const [example = ''] = measureCoherence(messages, draft.edits).errors.recallableExamples;
    expect(example).toMatch(/^error TS2304: .*…$/);
    expect(example.length).toBeLessThanOrEqual(120);
  });

  it('reports facts that can only be recalled by reference', () => {
    const draft = new Draft(MESSAGES, createCounter());
    cutWhole(draft, 4, ['content', 0, 'content']);
    cutWhole(draft, 7, ['content']);
    const report = measureCoherence(MESSAGES, draft.edits);
    expect(report.errors).toMatchObject({ kept: 0, recallable: 1, lost: 0 });
    expect(report.errors.recallableExamples).toEqual(['src/a.ts:3: error TS2304: Cannot find name "x".']);
    expect(report.instructions).toMatchObject({ kept: 1, recallable: 1, lost: 0 });
    expect(computeKeptPercent(report.instructions)).toBe(50);
    expect(describeFloorBreaches(report, { files: 100, instructions: 60 })).toEqual([
      'only 50% of the instructions would remain; the minimum is 60%',
    ]);
  });

  it('counts a line as recallable if a reference leads to a part of it', () => {
    const draft = new Draft(MESSAGES, createCounter());
    const place = { message: 4, path: ['content', 0, 'content'] };
    draft.cutText('test', place, [{ start: 0, end: OUTPUT.indexOf('Cannot find'), marker: 'a part' }], {
      contentType: 'toolResults',
      operation: 'cut',
      reason: 'test',
      strict: false,
    });
    const report = measureCoherence(MESSAGES, draft.edits);
    expect(report.errors).toMatchObject({ kept: 0, recallable: 1, lost: 0 });
  });

  it('reports facts as lost if no reference in the condensed conversation leads to them', () => {
    const draft = new Draft(MESSAGES, createCounter());
    const place = { message: 4, path: ['content', 0, 'content'] };
    const text = draft.getText(place);
    draft.cutText('test', place, [{ start: 0, end: text.length - 40, marker: null }], {
      contentType: 'toolResults',
      operation: 'cut',
      reason: 'test',
      strict: false,
    });
    const report = measureCoherence(MESSAGES, draft.edits);
    expect(report.errors).toMatchObject({ kept: 0, recallable: 0, lost: 1 });
    expect(describeCoherence(report)).toEqual([
      'The model still sees: 1 of 1 files, 0 of 1 error lines, 2 of 2 instructions, 1 of 1 to-dos',
      'Lost: error lines “src/a.ts:3: error TS2304: Cannot find name "x".”',
    ]);
    // A tool's escape sequences must not act as commands in the reader's terminal.
    const lostExamples = ['\u001b[96msrc/a.ts\u001b[0m: \u001b]0;title\u0007error'];
    expect(describeCoherence({ ...report, errors: { ...report.errors, lostExamples } }).at(-1)).toBe(
      'Lost: error lines “src/a.ts: error”',
    );
  });

  it('gives examples of missing facts, on one line and without keys', () => {
    const messages = [
      user('Begin.'),
      ...Array.from({ length: 7 }, (_, index) => user(`Rule ${index}:\nthe password=hunter2222 stays. ${FILLER}`)),
    ];
    const draft = new Draft(messages, createCounter());
    for (let message = 1; message < messages.length; message++) cutWhole(draft, message, ['content']);
    const [, byReference = ''] = describeCoherence(measureCoherence(messages, draft.edits));
    expect(byReference).toMatch(
      /^Only by reference: instructions “Rule \d: the password=\[key\] stays\. A line .+ and 2 more$/,
    );
    expect(describeCoherence(measureCoherence([], []))).toEqual([]);
  });

  it('finds every file and open error that the fact sheet of a summary lists, in any folder', () => {
    const name = fc.constantFrom('src', 'a', 'my lib', 'index.ts', 'x.py', 'b');
    const path = fc
      .tuple(fc.constantFrom('/', '/w/', 'C:\\w\\', ''), fc.array(name, { minLength: 1, maxLength: 4 }))
      .map(([root, names]) => root + names.join(root.includes('\\') ? '\\' : '/'));
    const failure = fc
      .tuple(path, fc.constantFrom('', '<error>', '\t'), fc.constantFrom(' ', '  ', '\t'), fc.nat({ max: 9 }))
      .map(([file, start, blank, lines]) => `${FILLER.slice(0, lines * 75)}${start}${file}:3:${blank}error: no x`);
    fc.assert(
      fc.property(
        fc.array(path, { minLength: 1, maxLength: 8 }),
        fc.array(failure, { maxLength: 4 }),
        (paths, outputs) => {
          const messages = [
            user('Mend the build.'),
            ...paths.flatMap((file, at) => makeToolExchange(`f${at}`, 'Read', { file_path: file }, 'const a = 1;')),
            ...outputs.flatMap((output, at) =>
              makeToolExchange(`c${at}`, 'Bash', { command: `tool${at}` }, output, { is_error: true }),
            ),
            assistant('I see.'),
          ];
          const draft = new Draft(messages, createCounter());
          const range = { start: 1, end: messages.length };
          const facts = renderRangeFacts(draft, range, { factTokens: 100_000, keepUserMessages: true });
          const message = createSummaryMessage(formatSummaryText('The build was mended.', facts));
          draft.replaceWithSummary('Summary', range, message, SUMMARY_EDIT_INFO);
          const report = measureCoherence(messages, draft.edits);
          expect([report.files.lostExamples, report.errors.lostExamples], facts).toEqual([[], []]);
        },
      ),
    );
  });

  it('does not find a file in a fact sheet that lists only a file with a longer name', () => {
    const sheet = new ListedFacts('### Files changed (below /w/)\n- src/a.tsx (2 times)\n- b.ts');
    expect(['/w/src/a.tsx', '/w/b.ts', 'b.ts'].map((file) => sheet.hasFile(file))).toEqual([true, true, true]);
    expect(['/w/src/a.ts', '/w/a.tsx', '/v/b.ts'].map((file) => sheet.hasFile(file))).toEqual([false, false, false]);
  });

  it("finds facts in a summary, and facts that the summary's reference leads to", () => {
    const draft = new Draft(MESSAGES, createCounter());
    const summary = user('Changed src/a.ts in /p. The person said:\n1. Mend the build.\n2. Something else.');
    draft.replaceWithSummary('Summary', { start: 1, end: 8 }, { ...summary, isSummary: true }, { reason: 'test' });
    const report = measureCoherence(MESSAGES, draft.edits);
    expect(report.instructions.kept).toBe(1);
    expect(report.instructions.recallable + report.instructions.lost).toBe(1);
    expect(report.errors.kept).toBe(0);
  });

  it('looks for to-dos in the call that set them, not in a newer call that failed', () => {
    const todos = [{ content: 'Declare y', status: 'pending' }];
    const refused = makeToolExchange('4', 'TodoWrite', { todos }, 'no', { is_error: true });
    const messages = [...MESSAGES, ...refused, user('Go on.')];
    const draft = new Draft(messages, createCounter());
    draft.replaceWithSummary(
      'Summary',
      { start: 5, end: 7 },
      { ...user('The plan was written.'), isSummary: true },
      { reason: 'test' },
    );
    const report = measureCoherence(messages, draft.edits);
    expect(report.todos).toMatchObject({ kept: 0, lost: 1 });
  });

  it('makes Smart drop each pass after which fewer facts are kept than the minimum', async () => {
    const pass = (id: string, operation: object) =>
      ({
        id,
        name: id,
        mode: 'individual',
        selection: { type: 'preserve_recent', count: 0 },
        individualConfig: { defaults: { toolResults: operation } },
      }) as const;
    const smart = createSmartProvider();
    const checked = smart.validateConfig({
      version: 1,
      losslessPrelude: { enabled: false },
      coherenceFloor: { errors: 100, unknown: 3 },
      passes: [pass('all', { operation: 'suppress' }), pass('most', { operation: 'truncate', maxLines: 2 })],
    });
    if (!checked.valid) throw new Error('unreachable');
    const context = { messages: MESSAGES, edits: [], counter: createCounter() };
    const { edits, steps } = await smart.condense(context, checked.config, {});
    expect(steps.find(({ name }) => name === 'all')?.outcome).toEqual({
      kind: 'failed',
      reason: 'only 0% of the error lines would remain; the minimum is 100%',
    });
    expect(edits.map(({ step }) => step)).toContain('most');
    expect(measureCoherence(MESSAGES, edits).errors.kept).toBe(1);
  });

  it('ignores invalid values in the settings for the minimum of kept facts', () => {
    expect(parseMinimumCoherence({ files: 80, errors: 101, todos: 'all', other: 1 })).toEqual({ files: 80 });
    expect(parseMinimumCoherence(7)).toEqual({});
  });

  it('reads only content that is new or changed since the last report', () => {
    const all = [
      user('Mend the build.'),
      ...Array.from({ length: 50 }, (_, at) =>
        at % 2 === 0
          ? makeToolExchange(`${at}`, 'Read', { file_path: `/p/src/${at}.ts` }, `const a${at} = 1;\n${FILLER}`)
          : makeToolExchange(
              `${at}`,
              'Bash',
              { command: `make ${at}` },
              `${FILLER}src/${at}.ts: error: no ${at}\n${FILLER}`,
            ),
      ).flat(),
    ];
    const read = new Set<number>();
    const watched = all.map((message, index) => watchReads(message, () => read.add(index)));
    const reportAt = (count: number, edits: readonly Edit[]): CoherenceReport => {
      read.clear();
      return measureCoherence(watched.slice(0, count), edits);
    };
    const draft = new Draft(all, createCounter());
    const results = all.flatMap(({ content }, index) =>
      Array.isArray(content) && isToolResult(content[0]) ? [index] : [],
    );
    const cut = (places: readonly number[]): void => {
      for (const index of places) cutWhole(draft, index, ['content', 0, 'content']);
    };
    cut(results.slice(0, 30));
    reportAt(81, draft.edits);
    expect(read.size).toBe(81);
    cut(results.slice(30, 32));
    const report = reportAt(85, draft.edits);
    expect([...read].sort((a, b) => a - b)).toEqual([...results.slice(30, 32), 81, 82, 83, 84]);
    // The report equals that of a conversation that was never seen before.
    expect(report).toEqual(measureCoherence(structuredClone(all.slice(0, 85)), draft.edits));
    reportAt(85, draft.edits);
    expect(read.size).toBe(0);
  });

  it('takes linear time and reports a limited number of facts', () => {
    const many = Array.from({ length: 3_000 }, (_, at) =>
      makeToolExchange(`${at}`, 'Read', { file_path: `/p/${at}.ts` }, 'x'),
    ).flat();
    expect(measureCoherence([user('Task.'), ...many], []).files.kept).toBe(2_000);
  });
});
