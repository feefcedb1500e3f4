import { describe, expect, it } from 'vitest';
import { readRoo } from '../formats/roo';
import { ConversationReadError } from '../readError';
import { renderCondensedTask, getContextTokens, type CondensationUiRow } from './roo';

const ROW: CondensationUiRow = {
  condenseId: 'c1',
  cost: 0.1,
  tokensBefore: 1_000,
  tokensAfter: 400,
  text: 'what went',
};

const say = (role: 'user' | 'assistant', text: string, fields: Record<string, unknown> = {}) => ({
  role,
  content: [{ type: 'text', text }],
  ...fields,
});
const HISTORY = [say('user', 'task', { ts: 10 }), say('assistant', 'done', { ts: 20, own: 'field' })];
const messagesOf = (history: readonly unknown[]) =>
  readRoo({ messages: history }, { name: 'the task' }, '', {}).messages;

describe('the tokens in the window according to ui_messages.json', () => {
  const started = (text: unknown) => ({ type: 'say', say: 'api_req_started', text });
  const condensed = (contextCondense: unknown) => ({ type: 'say', say: 'condense_context', contextCondense });
  const request = started(JSON.stringify({ tokensIn: 90, tokensOut: 10 }));

  it.each<[string, readonly unknown[], number | undefined]>([
    ['no rows', [], undefined],
    ['a request', [request], 100],
    ['only output', [started('{"tokensOut":7}')], 7],
    ['only input', [started('{"tokensIn":7}')], 7],
    ['the last of two requests', [request, started('{"tokensIn":7}')], 7],
    ['a condensation behind a request', [request, condensed({ newContextTokens: 40 })], 40],
    ['a request behind a condensation', [condensed({ newContextTokens: 40 }), request], 100],
    ['a condensation that failed', [request, condensed({ error: 'no' })], 100],
    ['a condensation that is under way', [request, condensed(undefined)], 100],
    ['a request without an answer', [request, started('{"request":"x"}')], 100],
    ['a request whose text is cut off', [request, started('{"tokensIn":7')], 100],
    ['a request whose text is no object', [request, started('7')], 100],
    ['a request without text', [request, started(undefined)], 100],
    ['rows of other kinds', [request, { type: 'ask', say: 'api_req_started', text: '{"tokensIn":7}' }, 'row'], 100],
    ['another word of the agent', [request, { type: 'say', say: 'text', text: '{"tokensIn":7}' }], 100],
  ])('are found with rows like %s', (_, rows, tokens) => {
    expect(getContextTokens(rows)).toBe(tokens);
  });
});

describe('a condensed Roo task', () => {
  it('keeps all messages, tagged as condensed, and has the condensed version after them with later times', () => {
    const read = messagesOf(HISTORY);
    const view = [say('user', 'summary'), read[1]!];
    const rows = [{ type: 'say', say: 'text', ts: 30 }, 'no row', { ts: Infinity }, { ts: 'late' }];
    const written = renderCondensedTask({ history: HISTORY, rows }, read, view, ROW);
    expect(written.history).toEqual([
      { ...HISTORY[0], condenseParent: 'c1' },
      { ...HISTORY[1], condenseParent: 'c1' },
      { ...say('user', 'summary'), ts: 31, isSummary: true, condenseId: 'c1' },
      { ...HISTORY[1], ts: 32 },
    ]);
    expect(written.rows.slice(0, -1)).toEqual(rows);
    expect(written.rows.at(-1)).toEqual({
      ts: 33,
      type: 'say',
      say: 'condense_context',
      contextCondense: {
        cost: 0.1,
        prevContextTokens: 1_000,
        newContextTokens: 400,
        summary: 'what went',
        condenseId: 'c1',
      },
    });
  });

  it("subtracts the freed tokens from the agent's own figure", () => {
    const read = messagesOf(HISTORY);
    const rows = [{ type: 'say', say: 'api_req_started', text: '{"tokensIn":5000,"tokensOut":0}' }];
    const written = renderCondensedTask({ history: HISTORY, rows }, read, [say('user', 'summary')], ROW);
    expect(written.rows.at(-1)).toMatchObject({
      contextCondense: { prevContextTokens: 5_000, newContextTokens: 4_400 },
    });
  });

  it('keeps the tag of an earlier condensation', () => {
    const history = [
      say('user', 'old', { ts: 1, condenseParent: 'c0' }),
      say('user', 'summary', { ts: 2, isSummary: true, condenseId: 'c0' }),
      say('assistant', 'done', { ts: 3 }),
    ];
    const read = messagesOf(history);
    const written = renderCondensedTask({ history, rows: [] }, read, read, ROW);
    expect(written.history.slice(0, 3)).toMatchObject([
      { condenseParent: 'c0' },
      { condenseParent: 'c1', condenseId: 'c0' },
      { condenseParent: 'c1' },
    ]);
    // The copy of the earlier summary has the new id.
    expect(written.history[3]).toMatchObject({ isSummary: true, condenseId: 'c1' });
  });

  it.each<[string, readonly unknown[], Parameters<typeof renderCondensedTask>[2]]>([
    ['a view that begins with an answer', HISTORY, [say('assistant', 'done')]],
    ['an empty view', HISTORY, []],
    ['a message that is not an object', [...HISTORY, 'text'], [say('user', 'summary')]],
    ['a history that has grown', [...HISTORY, say('user', 'more', { ts: 40 })], [say('user', 'summary')]],
  ])('is rejected if it is invalid: %s', (_, history, view) => {
    expect(() => renderCondensedTask({ history, rows: [] }, messagesOf(HISTORY), view, ROW)).toThrow(
      ConversationReadError,
    );
  });
});
