import { describe, expect, it } from 'vitest';
import type { PriceTable } from '../api/prices';
import type { Conversation } from '../conversations/types';
import type { RecordedRequest, RecordedRequests } from '../core/account/recordedRequest';
import type { Usage } from '../core/cost/usage';
import type { SessionAccount } from '../core/account/account';
import { countCopiedRequestsOnce, type ReadSession } from '../core/account/once';
import type { ApiMessage } from '../core/messages/types';
import { MessageCounter } from '../core/tokens/messageCounter';
import { computeSessionAccount, findLastUsedModel } from './sessionAccount';

/** Counts one token per character, and four more per message. */
const counter = new MessageCounter({ count: (text) => text.length });
/** Only OpenAI's models have prices: an input token costs $1, an output token $10. */
const prices: PriceTable = {
  lookup: ({ vendor }) =>
    vendor === 'openai'
      ? { prices: { input: { base: 1e6 }, output: { base: 10e6 } }, asOf: '2026-01-01', contextWindow: 5_000 }
      : undefined,
};

const usage = (inputTokens: number, outputTokens: number): Usage => ({
  accounting: 'openai',
  source: 'reported',
  inputTokens,
  outputTokens,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
});
/** Noon makes the day the same nearly everywhere. */
const noon = (day: number): number => new Date(2026, 0, day, 12).getTime();
const request = (fields: Partial<RecordedRequest>): RecordedRequest => ({ purpose: 'answer', ...fields });

const MESSAGES: readonly ApiMessage[] = [
  { role: 'user', content: 'x'.repeat(96) },
  { role: 'assistant', content: 'y'.repeat(46) },
];

const account = (recorded: RecordedRequests | undefined, fields: Partial<Conversation> = {}): SessionAccount =>
  counted(
    computeSessionAccount(
      { agent: 'A', path: '/s.json', modified: noon(9) },
      {
        id: 's',
        format: 'roo',
        title: 'T',
        messages: MESSAGES,
        notes: [],
        sidechains: [],
        ...(recorded && { recorded }),
        ...fields,
      },
      { counter, prices },
    ),
  );
const counted = (session: ReadSession): SessionAccount => {
  const [one] = countCopiedRequestsOnce([session]);
  if (!one) throw new Error('no account');
  return one;
};

const recordedOf = (...requests: readonly RecordedRequest[]): RecordedRequests => ({ requests, compactions: [] });

describe('the account of a session with recorded requests', () => {
  it("groups requests by day and model, using the file's date for requests without one", () => {
    const { source, usage: days } = account(
      recordedOf(
        request({ at: noon(3), model: 'gpt-x', usage: usage(7, 1) }),
        request({ at: noon(2), model: 'gpt-x', usage: usage(5, 1) }),
        request({ at: noon(3), model: 'gpt-x', usage: usage(3, 1) }),
        request({ usage: usage(2, 1) }),
      ),
    );
    expect(source).toBe('recorded');
    expect(days).toMatchObject([
      { day: '2026-01-02', model: 'gpt-x', requests: 1, fresh: 5, output: 1, cost: 15, unpriced: 0 },
      { day: '2026-01-03', model: 'gpt-x', requests: 2, fresh: 10, output: 2, cost: 30, unpriced: 0 },
      { day: '2026-01-09', requests: 1, fresh: 2, cost: 0, unpriced: 1 },
    ]);
    expect(days[2]).not.toHaveProperty('model');
  });

  it.each<[string, Partial<RecordedRequest>, number, number]>([
    ['the table, whatever the agent reckoned', { model: 'gpt-x', recordedCost: 99 }, 20, 0],
    ["the agent's figure if the table has no price", { model: 'other', recordedCost: 0.5 }, 0.5, 0],
    ['nothing if a model is called free', { model: 'other:free', recordedCost: 0 }, 0, 0],
    ['an unknown amount if the agent says 0', { model: 'other', recordedCost: 0 }, 0, 1],
    ['an unknown amount if the agent says nothing', { model: 'other:free' }, 0, 1],
    ['an unknown amount if the seller is unknown', { model: 'gpt-x', seller: 'somebody' }, 0, 1],
  ])("takes a request's cost from the best source: %s", (_, fields, cost, unpriced) => {
    const { usage: days } = account(recordedOf(request({ usage: usage(10, 1), ...fields })));
    expect(days).toMatchObject([{ cost, unpriced }]);
  });

  it("has the window that the agent named last, otherwise the model's, or none if both are unknown", () => {
    const asked = request({ usage: usage(1, 1) });
    expect(account(recordedOf({ ...asked, window: 10 }, { ...asked, window: 20 }, asked)).window).toBe(20);
    expect(account(recordedOf({ ...asked, model: 'gpt-x' })).window).toBe(5_000);
    expect(account(recordedOf(asked))).not.toHaveProperty('window');
  });

  it('has the prompt size after each request, ending with the size that the list shows', () => {
    const { fill, now } = account(
      recordedOf(request({ usage: usage(200, 30) }), request({ usage: usage(300, 40), message: 1 })),
    );
    expect(fill).toEqual([230, 340]);
    expect(now).toMatchObject({ isRecorded: true, tokens: 340 });
  });

  it('keeps the peak when 600 prompt sizes are reduced to 60', () => {
    const requests = Array.from({ length: 600 }, (_, at) => request({ usage: usage(at === 301 ? 1_000 : 1, 1) }));
    const { fill } = account(recordedOf(...requests));
    expect(fill).toHaveLength(60);
    expect(fill.map((tokens, at) => (tokens === 1_001 ? at : -1)).filter((at) => at >= 0)).toEqual([30]);
  });
});

it("an account charges only those web searches of the agent's total that its requests lack", () => {
  const asked = request({ usage: usage(10, 0), model: 'gpt-5', at: noon(1), service: { webSearches: 1 } });
  const total = (webSearches: number) => ({
    ...{ at: noon(1), after: 1, compactions: 0 },
    models: [{ model: 'gpt-5', usage: usage(10 + webSearches, 0), webSearches }],
  });
  const { usage: days } = account({ requests: [asked], compactions: [], totals: [total(3), total(4)] });
  // The request is charged 10 tokens and a search, and the last total adds 4 tokens and three
  // searches.
  expect(days[0]?.cost).toBeCloseTo(10 + 0.01 + 4 + 0.03, 9);
});

describe("the agent's own compactions in an account", () => {
  const compactions = [{ message: 1, tokensBefore: 40 }];

  it('cost the amount that was recorded for them', () => {
    const own = request({ purpose: 'compaction', model: 'gpt-x', usage: usage(10, 2) });
    const found = (...requests: readonly RecordedRequest[]) => account({ requests, compactions }).compactions;
    expect(found(own, own)).toEqual({ count: 1, isEstimate: false, cost: 60 });
    // If the price of one request is unknown, so is the cost of all.
    expect(found(own, { ...own, model: 'other' })).toEqual({ count: 1, isEstimate: false });
  });

  it('have their cost estimated from the context before the compaction and the summary if nothing was recorded', () => {
    const asked = request({ model: 'gpt-x', usage: usage(70, 1), message: 1 });
    const cost = (message: number, tokensBefore?: number) =>
      account({
        requests: [asked],
        compactions: [{ message, ...(tokensBefore !== undefined && { tokensBefore }) }],
      }).compactions;
    // The summary costs 50 tokens at $10. The context costs $1 per token: 40 tokens as the agent
    // recorded, or else 70 as in the largest prompt.
    expect(cost(1, 40)).toEqual({ count: 1, isEstimate: true, cost: 40 + 500 });
    expect(cost(1)).toEqual({ count: 1, isEstimate: true, cost: 70 + 500 });
    // The conversation no longer contains the summary, so only the context costs something.
    expect(cost(9)).toEqual({ count: 1, isEstimate: true, cost: 70 });
  });

  it('have no cost if the agent compacted nothing or the price is unknown', () => {
    const asked = request({ usage: usage(70, 1) });
    expect(account(recordedOf({ ...asked, model: 'gpt-x' })).compactions).toEqual({ count: 0, isEstimate: true });
    expect(account({ requests: [asked], compactions }).compactions).toEqual({ count: 1, isEstimate: true });
  });
});

describe('tool calls in an account', () => {
  const call = (id: string, name: string): ApiMessage => ({
    role: 'assistant',
    content: [{ type: 'tool_use', id, name, input: {} }],
  });
  const result = (id: string): ApiMessage => ({
    role: 'user',
    content: [{ type: 'tool_result', tool_use_id: id, content: 'x' }],
  });
  const asked: ApiMessage = { role: 'user', content: 'x' };
  const messages = [asked, call('1', 'Bash'), call('2', 'Read'), result('1'), result('2'), call('3', 'Bash')];
  const first = request({ key: '1', message: 1, usage: usage(1, 1) });
  const read = (path: string, recorded?: Partial<RecordedRequests>, added: readonly ApiMessage[] = []): ReadSession =>
    computeSessionAccount(
      { agent: 'A', path, modified: noon(9) },
      {
        ...{ id: path, format: 'roo', title: 'T', messages: [...messages, ...added], notes: [], sidechains: [] },
        ...(recorded && { recorded: { requests: [], compactions: [], ...recorded } }),
      },
      { counter, prices },
    );
  const callsOf = (...sessions: readonly ReadSession[]) => countCopiedRequestsOnce(sessions).map(({ calls }) => calls);

  it('are counted once, in the session that made the request, if another file repeats it', () => {
    const second = request({ key: '2', message: 5, usage: usage(1, 1) });
    const origin = read('/a', { requests: [first, second] });
    const own = request({ key: '3', message: 6, usage: usage(1, 1) });
    const fork = read('/b', { requests: [first, second, own].map((each) => ({ ...each, isCopy: each !== own })) }, [
      call('4', 'Grep'),
    ]);
    const expected = [
      [
        { tool: 'Bash', calls: 2 },
        { tool: 'Read', calls: 1 },
      ],
      [{ tool: 'Grep', calls: 1 }],
    ];
    expect(callsOf(origin, fork)).toEqual(expected);
    expect(callsOf(fork, origin)).toEqual(expected.toReversed());
  });

  it('are counted even without a recorded request, unless the session repeats another’s calls', () => {
    const bash = [{ tool: 'Bash', calls: 1 }];
    const all = [
      { tool: 'Bash', calls: 2 },
      { tool: 'Read', calls: 1 },
    ];
    expect(callsOf(read('/a'))).toEqual([all]);
    expect(callsOf(read('/a', { requests: [first] }))).toEqual([all]);
    expect(callsOf(read('/a', { ownFrom: 3 }))).toEqual([bash]);
    expect(callsOf(read('/a', { isComplete: true }))).toEqual([[]]);
    expect(callsOf(read('/a', { requests: [request({ key: '1', message: 1, isCopy: true })] }))).toEqual([bash]);
  });
});

describe('unrecorded requests in an account', () => {
  it('have their tokens estimated from the messages, with the model that the file names', () => {
    const { source, usage: days, project } = account(undefined, { request: { model: 'gpt-x' }, workspace: '/p' });
    expect({ source, project }).toEqual({ source: 'replayed', project: '/p' });
    expect(days).toMatchObject([{ day: '2026-01-09', model: 'gpt-x', requests: 1, fresh: 100, output: 50 }]);
  });

  it('include instructions and tools in their estimate', () => {
    const { usage: days } = account(undefined, { request: { model: 'gpt-x', system: 'z'.repeat(8), tools: [] } });
    expect(days[0]?.fresh).toBeGreaterThan(100);
  });

  it("have the answer's time and output tokens if the agent recorded those", () => {
    const { source, usage: days } = account(
      recordedOf(request({ at: noon(4), model: 'gpt-x', message: 1, outputTokens: 77 })),
    );
    expect(source).toBe('replayed');
    expect(days).toMatchObject([{ day: '2026-01-04', model: 'gpt-x', output: 77 }]);
  });

  it('are assumed to use the prompt cache if the model is Claude', () => {
    const { usage: days } = account(undefined, { request: { model: 'claude-x' } });
    expect(days).toMatchObject([{ model: 'claude-x', fresh: 0, unpriced: 1 }]);
    expect(days[0]?.cacheWrite).toBeGreaterThan(0);
  });

  describe("if the vendor's charge is recorded", () => {
    const twice: readonly ApiMessage[] = [...MESSAGES, ...MESSAGES];
    const named = (message: number): RecordedRequest => request({ message, model: 'gpt-5', at: noon(1) });
    const recorded = { requests: [named(1), named(3)], compactions: [] };
    const replayed = account(recorded, { messages: twice }).usage[0]?.cost ?? 0;

    it('cost exactly that charge if it covers all of them, with no estimated remainder', () => {
      const whole = account({ ...recorded, charged: { answers: 2, dollars: 7 } }, { messages: twice });
      expect(whole.usage).toMatchObject([{ requests: 2, replayed: 2, replayedCost: 0 }]);
      expect(whole.usage[0]?.cost).toBeCloseTo(7, 9);
    });

    it('that the charge does not cover have their estimates scaled by the same factor as the charged ones', () => {
      const half = account({ ...recorded, charged: { answers: 1, dollars: 7 } }, { messages: twice });
      const [day] = half.usage;
      const first = account({ ...recorded, requests: [named(1)] }).usage[0]?.cost ?? Number.NaN;
      expect(day?.cost).toBeCloseTo((7 / first) * replayed, 6);
      expect(day?.replayedCost).toBeCloseTo((7 / first) * replayed - 7, 6);
    });

    it("count a charge once if both the agent's total and a compaction include it", () => {
      const compaction = request({ purpose: 'compaction', at: noon(1), usage: { ...usage(0, 1), costUsd: 3 } });
      const charged = { answers: 2, dollars: 7, at: noon(2) };
      const whole = account(
        { ...recorded, requests: [...recorded.requests, compaction], charged },
        { messages: twice },
      );
      expect(whole.usage.reduce((sum, { cost }) => sum + cost, 0)).toBeCloseTo(7, 9);
    });
  });
});

it.each([
  [
    'that answered last',
    [request({ model: 'a', at: 1 }), request({ model: 'b', at: 2 }), request({})],
    { model: 'b', at: 2 },
  ],
  ['of the document', [request({})], { model: 'named' }],
])('findLastUsedModel returns the model %s', (_, requests, expected) => {
  const conversation = { request: { model: 'named' } } as unknown as Conversation;
  expect(findLastUsedModel(conversation, requests)).toEqual(expected);
  expect(findLastUsedModel({ request: { model: 7 } } as unknown as Conversation)).toEqual({});
});
