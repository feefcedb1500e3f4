import { describe, expect, it } from 'vitest';
import { losslessProvider } from '../../src/core/condense/providers/lossless';
import { truncationProvider } from '../../src/core/condense/providers/truncation';
import type { ApiMessage } from '../../src/core/messages/types';
import { estimateShare } from '../bench/bootstrap';
import { createUneditedView } from '../../src/core/condense/edits/view';
import { keepEverything, maskResults, providerPolicy, slidingWindow } from '../bench/policies';
import { measureRetention, type CondensingPolicy } from '../bench/retention';
import { generateConversation } from '../generators/conversation';
import { freshCounter } from '../generators/setups';

const turn = (id: number, tool: string, input: object, content: string): ApiMessage[] => [
  { role: 'assistant', content: [{ type: 'tool_use', id: `t${id}`, name: tool, input }] },
  { role: 'user', content: [{ type: 'tool_result', tool_use_id: `t${id}`, content }] },
];

const FILE = '     1→export const first = prepare(1);\n     2→export const second = prepare(2);';

/** Creates a conversation that reads a file in the first turn and edits it in the last. */
const readThenEdit = (between: readonly ApiMessage[] = []): ApiMessage[] => [
  { role: 'user', content: 'Please change it.' },
  ...turn(1, 'Read', { file_path: '/w/src/a.ts' }, FILE),
  ...turn(2, 'Read', { file_path: '/w/src/b.ts' }, '     1→export const other = 1;'),
  ...between,
  ...turn(
    3,
    'Edit',
    { file_path: '/w/src/a.ts', old_string: 'export const second = prepare(2);', new_string: 'x' },
    'ok',
  ),
];

const options = { minTurns: 1, cuts: [0.7] };

/** Removes one result. If `strict` is undefined, no edit refers to the removed result. */
const without =
  (message: number, strict?: boolean): CondensingPolicy =>
  (prefix) => ({
    ...createUneditedView(prefix),
    messages: prefix.map((each, index) =>
      index === message && typeof each.content !== 'string'
        ? { ...each, content: each.content.map((block) => ({ ...block, content: 'gone' })) }
        : each,
    ),
    edits:
      strict === undefined
        ? []
        : [
            {
              place: { message, path: ['content', 0, 'content'] },
              kind: 'cut',
              cuts: [{ start: 0, end: FILE.length, text: 'gone', ...(strict ? {} : { recoverable: true }) }],
            } as never,
          ],
  });

describe('the measure of needed lines', () => {
  it('is 100 % if nothing was removed', async () => {
    const report = await measureRetention([readThenEdit()], keepEverything, options);
    expect(report.lines).toMatchObject({ needed: 1, verbatim: { share: 1 }, recallable: { share: 1 } });
    expect(report.removed.share).toBe(0);
  });

  it('misses the lines that condensing removes', async () => {
    const report = await measureRetention([readThenEdit()], without(2), options);
    expect(report.lines.verbatim.share).toBe(0);
    expect(report.lines.recallable.share).toBe(0);
    expect(report.lost).toContain('lines: export const second = prepare(2);');
  });

  it('does not count lines that were shown again before they were used', async () => {
    const again = turn(9, 'Read', { file_path: '/w/src/a.ts' }, FILE);
    const report = await measureRetention([readThenEdit(again)], without(2), { minTurns: 1, cuts: [0.5] });
    expect(report.lines.needed).toBe(0);
  });

  it('does not accept an equal line in another file as kept', async () => {
    const twin = turn(9, 'Read', { file_path: '/w/src/twin.ts' }, FILE);
    const cut = { minTurns: 1, cuts: [0.8] };
    expect((await measureRetention([readThenEdit(twin)], without(2), cut)).lines.verbatim.share).toBe(0);
    expect((await measureRetention([readThenEdit(twin)], without(2, false), cut)).lines.verbatim.share).toBe(0);
    // An edit that refers to the other file doesn't help either, because editing requires the line
    // in its own file.
    expect((await measureRetention([readThenEdit(twin)], without(2, true), cut)).lines.verbatim.share).toBe(0);
  });

  it('does not count a line as kept because of an edit that claims a copy which is not there', async () => {
    expect((await measureRetention([readThenEdit()], without(2, true), options)).lines.verbatim.share).toBe(0);
  });

  it('counts text as recallable if a reference in the condensed conversation leads to it', async () => {
    const policy = providerPolicy(
      truncationProvider,
      { preserveRecentCount: 0, toolResults: { mode: 'suppress' }, minimumTokens: 0 },
      freshCounter(),
    );
    const long = readThenEdit();
    const results = `${FILE}\n${Array.from({ length: 40 }, (_, line) => `export const more${line} = prepare(${line});`).join('\n')}`;
    long[2] = turn(1, 'Read', {}, results)[1]!;
    const report = await measureRetention([long], policy, options);
    expect(report.lines.verbatim.share).toBe(0);
    expect(report.lines.recallable.share).toBe(1);
  });

  it('understands calls written as XML', async () => {
    const xml: ApiMessage[] = [
      { role: 'user', content: 'Please change it.' },
      { role: 'assistant', content: 'I read. <read_file><path>src/a.ts</path></read_file>' },
      {
        role: 'user',
        content: [{ type: 'text', text: `[read_file for 'src/a.ts'] Result:\n1 | export const second = prepare(2);` }],
      },
      {
        role: 'assistant',
        content:
          '<apply_diff><path>src/a.ts</path><diff><<<<<<< SEARCH\n:start_line:1\n-------\nexport const second = prepare(2);\n=======\nx\n>>>>>>> REPLACE</diff></apply_diff>',
      },
    ];
    const report = await measureRetention([xml], keepEverything, { minTurns: 1, cuts: [0.5] });
    expect(report.lines).toMatchObject({ needed: 1, verbatim: { share: 1 } });
  });

  it('tells good ways of condensing from bad ones on whole conversations', async () => {
    const conversations = [1, 2, 3].map((seed) => generateConversation({ seed, targetTokens: 40_000 }));
    const measureShare = async (policy: CondensingPolicy): Promise<number> =>
      (await measureRetention(conversations, policy)).lines.verbatim.share;
    expect(await measureShare(keepEverything)).toBe(1);
    expect(await measureShare(providerPolicy(losslessProvider, { strictOnly: true }, freshCounter()))).toBeGreaterThan(
      0.99,
    );
    const masked = await measureShare(maskResults(10));
    expect(masked).toBeLessThan(0.95);
    expect(await measureShare(slidingWindow(0.5))).toBeLessThan(0.9);
  });
});

describe('the bootstrap interval', () => {
  const sessions = [
    { part: 9, whole: 10 },
    { part: 5, whole: 10 },
    { part: 7, whole: 10 },
  ];

  it('contains the share and is deterministic for a seed', () => {
    const estimate = estimateShare(sessions, 500, 1);
    expect(estimate.share).toBeCloseTo(0.7);
    expect(estimate.low).toBeLessThan(0.7);
    expect(estimate.high).toBeGreaterThan(0.7);
    expect(estimateShare(sessions, 500, 1)).toEqual(estimate);
  });

  it('has no share if nothing was counted', () => {
    expect(estimateShare([], 10, 1).share).toBeNaN();
  });
});
