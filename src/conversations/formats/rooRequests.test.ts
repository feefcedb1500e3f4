import { describe, expect, it } from 'vitest';
import type { ApiMessage } from '../../core/messages/types';
import { readMessageRequests, readUiRequests } from './rooRequests';

const answer = (fields: Record<string, unknown> = {}): ApiMessage => ({
  role: 'assistant',
  content: 'done',
  ...fields,
});
const asked: ApiMessage = { role: 'user', content: 'go' };

describe("requests recorded in Cline 4's messages", () => {
  it('have all recorded values', () => {
    const messages = [
      asked,
      answer({
        ts: 1_700_000_000_000,
        modelInfo: { id: 'claude-x', provider: 'anthropic' },
        metrics: { inputTokens: 10, outputTokens: 4, cacheReadTokens: 100, cacheWriteTokens: 7, cost: 0.25 },
      }),
    ];
    expect(readMessageRequests(messages)?.requests).toEqual([
      {
        at: 1_700_000_000_000,
        key: '1700000000000 10 4 100 7 0.25',
        model: 'claude-x',
        seller: 'anthropic',
        recordedCost: 0.25,
        message: 1,
        // The input is smaller than the cached tokens, so it does not include them.
        usage: {
          accounting: 'anthropic',
          source: 'reported',
          inputTokens: 10,
          outputTokens: 4,
          cacheReadTokens: 100,
          cacheWriteTokens: 7,
        },
        purpose: 'answer',
      },
    ]);
  });

  it('omit missing values', () => {
    const recorded = readMessageRequests([asked, answer({ metrics: { inputTokens: 10 } })]);
    expect(recorded?.requests).toEqual([
      {
        message: 1,
        usage: {
          accounting: 'openai',
          source: 'reported',
          inputTokens: 10,
          outputTokens: 0,
          cacheReadTokens: 0,
          cacheWriteTokens: 0,
        },
        purpose: 'answer',
      },
    ]);
  });

  it.each([
    ['without figures', answer({ modelInfo: { id: 'm' } })],
    ['of the user, whatever they hold', { ...asked, metrics: { inputTokens: 3 } }],
    ['with figures that are none', answer({ metrics: 'many' })],
  ])('are not read from messages %s', (_, message) => {
    expect(readMessageRequests([message])).toBeUndefined();
  });
});

describe("Roo's ui_messages.json", () => {
  const started = (text: unknown, ts?: unknown) => ({ type: 'say', say: 'api_req_started', text, ts });
  const figures = (fields: Record<string, unknown>): string => JSON.stringify(fields);
  const found = (rows: unknown, messages: readonly ApiMessage[] = []) => readUiRequests(JSON.stringify(rows), messages);

  it('assigns a request to the first answer after it', () => {
    const messages = [asked, answer({ ts: 10 }), asked, answer({ ts: 20 }), answer()];
    const recorded = found(
      [
        started(figures({ tokensIn: 100, tokensOut: 5, cacheReads: 80, cacheWrites: 10, cost: 0.5 }), 5),
        started(figures({ tokensIn: 3 }), 11),
        started(figures({ tokensIn: 4 }), 21),
        started(figures({ tokensIn: 6 })),
      ],
      messages,
    );
    expect(recorded?.requests).toMatchObject([
      {
        at: 5,
        message: 1,
        recordedCost: 0.5,
        usage: { accounting: 'openai', inputTokens: 100, outputTokens: 5, cacheReadTokens: 80, cacheWriteTokens: 10 },
      },
      { at: 11, message: 3, usage: { inputTokens: 3 } },
      { at: 21, usage: { inputTokens: 4 } },
      { usage: { inputTokens: 6 } },
    ]);
    // The last two requests have no message: no answer follows the third, and the fourth has no
    // time.
    expect(recorded?.requests.map((request) => 'message' in request)).toEqual([true, true, false, false]);
    expect(recorded?.requests.map((request) => 'at' in request)).toEqual([true, true, true, false]);
  });

  it.each([
    ['one that was cancelled', [started(figures({ request: 'x' }), 1)]],
    ['one whose text is no JSON', [started('{"tokensIn": 3', 1)]],
    ['one whose text is no object', [started('3', 1)]],
    ['one without text', [started(undefined, 1)]],
    ['rows of other kinds', [{ type: 'say', say: 'text', text: figures({ tokensIn: 3 }) }, 'row', null]],
    ['what is no list', { say: 'api_req_started', text: figures({ tokensIn: 3 }) }],
  ])('yields no request for %s', (_, rows) => {
    expect(found(rows)).toBeUndefined();
  });

  it('contains no request if it is not JSON', () => {
    expect(readUiRequests('[{', [])).toBeUndefined();
  });
});
