/**
 * If an agent's program shows a part of a file, this counts as a display of the file, like a read.
 */
import { describe, expect, it } from 'vitest';
import { readConversation } from '../../../conversations/read';
import { listToolExchanges } from '../../messages/exchanges';
import { DEFAULT_TOOLS } from '../../messages/tools';
import { assistant, shortenMarkers, text, user } from '../../testing';
import { collectConversationFacts } from '../summary/factSheet';
import { createDuplicateReadsStep } from './duplicates';
import { LINE_OPERATIONS, createRepeatedLinesStep } from './repeatedLines';
import { makeCodeLines, counter, makeExchange, numberLines, getShownResult, runSteps, TASK_MESSAGE } from './testing';
import type { ApiMessage, Block } from '../../messages/types';

const tools = DEFAULT_TOOLS;
const FILE = '/src/a.ts';
const LINES = makeCodeLines('a', 1, 60);
const steps = [createDuplicateReadsStep(tools, 'latest'), ...createRepeatedLinesStep(tools, 'latest', LINE_OPERATIONS)];

const wrapped = (words: string): string => `<system-reminder>\n${words}\n</system-reminder>`;
const tabbed = (lines: readonly string[], from = 1): string =>
  lines.map((line, at) => `${from + at}\t${line}`).join('\n');

const CHANGED = `Note: ${FILE} changed on disk since you last read it. Here are the relevant changes (shown with line numbers):`;
const MODIFIED = `Note: ${FILE} was modified, either by the user or by a linter. Take it into account. Here are the relevant changes (shown with line numbers):`;
const CALLED = `Called the Read tool with the following input: ${JSON.stringify({ file_path: FILE })}`;
const RESULT = 'Result of calling the Read tool:';

/** Forms in which an agent adds lines of the file, as blocks. */
const FORMS: readonly (readonly [string, (lines: readonly string[], from: number) => readonly string[]])[] = [
  ['a changed file', (lines, from) => [wrapped(`${CHANGED}\n${tabbed(lines, from)}`)]],
  ['a changed file of older versions', (lines, from) => [wrapped(`${MODIFIED}\n${numberLines(lines, from)}`)]],
  ['a file named with @', (lines, from) => [wrapped(CALLED), wrapped(`${RESULT}\n${tabbed(lines, from)}`)]],
];

const added = (blocks: readonly string[], fields: object = { addedByAgent: true }): ApiMessage => ({
  ...user(...blocks.map((block): Block => text(block))),
  ...fields,
});

describe.each(FORMS)('a file display that is %s', (_, form) => {
  const lines = LINES.slice(9, 49);

  it.each([
    ['in a stored session', { addedByAgent: true }],
    ['in a request', {}],
  ])('replaces an older read of its lines, %s', (_where, fields) => {
    const messages = [
      TASK_MESSAGE,
      ...makeExchange('Read', { file_path: FILE }, numberLines(LINES)),
      added(form(lines, 10), fields),
    ];
    const draft = runSteps(steps, messages);
    expect(shortenMarkers(getShownResult(draft, 2))).toContain('[lines 10-49, shown later]');
    expect(draft.messages[3]).toEqual(messages[3]);
  });

  it('refers to a later read of its lines and keeps its own additional words', () => {
    const blocks = form(lines, 10);
    const messages = [
      TASK_MESSAGE,
      assistant('ok'),
      added(blocks),
      ...makeExchange('Read', { file_path: FILE }, numberLines(LINES)),
    ];
    const draft = runSteps(steps, messages);
    const shown = shortenMarkers(draft.getText({ message: 2, path: ['content', blocks.length - 1, 'text'] }));
    expect(shown).toContain('[lines 10-49, shown later]');
    expect(shown).toMatch(/^<system-reminder>\n(?:Note: |Result of calling )/);
    expect(shown.endsWith('\n</system-reminder>')).toBe(true);
  });

  it('counts as a read of a file but not as a call by the model', () => {
    const messages = [TASK_MESSAGE, assistant('ok'), added(form(lines, 10))];
    expect(listToolExchanges(messages)).toMatchObject([{ tool: 'Read', input: { file_path: FILE }, isDisplay: true }]);
    expect(JSON.stringify(collectConversationFacts(messages, tools))).toContain(FILE);
  });

  it('counts as a person’s words if a person wrote it', () => {
    const blocks = form(lines, 10).map((block) => block.replaceAll(/<\/?system-reminder>\n?/g, ''));
    const messages = [
      TASK_MESSAGE,
      ...makeExchange('Read', { file_path: FILE }, numberLines(LINES)),
      added(blocks, {}),
      ...makeExchange('Read', {}, 'x'),
    ];
    expect(listToolExchanges(messages).some(({ isDisplay }) => isDisplay)).toBe(false);
    expect(runSteps(steps, messages).messages[3]).toEqual(messages[3]);
  });
});

it.each([
  ['a result without its call', [wrapped(`${RESULT}\n${tabbed(LINES)}`)]],
  ['a call whose input is broken', [wrapped('Called the Read tool with the following input: {"a"}'), wrapped(RESULT)]],
  ['the result of another tool', [wrapped(CALLED), wrapped(`Result of calling the Bash tool:\n${tabbed(LINES)}`)]],
  [
    'a notice without the lines',
    [wrapped(`Note: ${FILE} changed on disk since you last read it. The changes are not shown here.`)],
  ],
])('text with %s is not recognized as a file display', (_, blocks) => {
  expect(listToolExchanges([TASK_MESSAGE, assistant('ok'), added(blocks)])).toEqual([]);
});

it('file displays are recognized in the records of a Claude Code session', () => {
  const record = (uuid: string, parentUuid: string | null, fields: object): string =>
    JSON.stringify({ uuid, parentUuid, sessionId: 's', version: '2.1.220', ...fields });
  const [, call, result] = makeExchange('Read', { file_path: FILE }, numberLines(LINES)).reduce<readonly ApiMessage[]>(
    (all, message) => [...all, message],
    [TASK_MESSAGE],
  );
  const session = [
    record('a', null, { type: 'user', message: { role: 'user', content: 'task' } }),
    record('b', 'a', { type: 'assistant', message: call }),
    record('c', 'b', { type: 'user', message: result }),
    record('d', 'c', { type: 'assistant', message: { role: 'assistant', content: [{ type: 'text', text: 'done' }] } }),
    record('e', 'd', { type: 'user', message: { role: 'user', content: 'and now @a.ts' } }),
    record('f', 'e', {
      type: 'attachment',
      attachment: { type: 'edited_text_file', filename: FILE, snippet: tabbed(LINES.slice(0, 30)) },
    }),
    record('g', 'f', {
      type: 'attachment',
      attachment: {
        type: 'file',
        filename: FILE,
        content: { type: 'text', file: { content: LINES.slice(30).join('\n'), startLine: 31 } },
      },
    }),
  ].join('\n');
  const { messages } = readConversation(session, { name: 'session' });
  expect(listToolExchanges(messages).filter(({ isDisplay }) => isDisplay)).toHaveLength(2);
  const before = counter.countMessages(messages);
  const draft = runSteps(steps, messages);
  expect(draft.tokens).toBeLessThan(before * 0.65);
});
