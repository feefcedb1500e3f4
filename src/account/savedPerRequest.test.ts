import { describe, expect, it } from 'vitest';
import type { PriceTable } from '../api/prices';
import type { RecordedRequest } from '../core/account/recordedRequest';
import { selectRecordedRequests } from '../core/account/recordedRequest';
import type { Usage } from '../core/cost/usage';
import { computeSavingPerRequest } from './savedPerRequest';

/** Only OpenAI's models have prices: an input token costs $1, or 10 cents from the cache. */
const prices: PriceTable = {
  lookup: ({ vendor }) =>
    vendor === 'openai'
      ? { prices: { input: { base: 1e6 }, output: { base: 10e6 }, cacheRead: { base: 1e5 } }, asOf: '2026-01-01' }
      : undefined,
};
const usage = (cacheReadTokens: number): Usage => ({
  ...{ accounting: 'openai', source: 'reported', inputTokens: 100, outputTokens: 1 },
  ...{ cacheReadTokens, cacheWriteTokens: 0 },
});
const answer = (fields: Partial<RecordedRequest>): RecordedRequest => ({
  purpose: 'answer',
  model: 'gpt-x',
  ...fields,
});
const conversation = { id: 'c', format: 'codex', title: 'T', messages: [], notes: [], sidechains: [] } as const;
const CLAUDE_SESSION = { path: '/home/me/.claude/projects/-app/5f0e7000-8000-4a1b-9c3d-4e5f0198c7a2.jsonl' };
const change = { tokensBefore: 100, tokensAfter: 40 };

describe('the saving per later request of a stored conversation', () => {
  it('uses the cache price if the agent used a cache, otherwise the plain price', async () => {
    const saved = (read: number) =>
      computeSavingPerRequest(
        { ...conversation, lastRequest: answer({ usage: usage(read) }) },
        CLAUDE_SESSION,
        change,
        prices,
      );
    expect(await saved(50)).toBeCloseTo(6, 6);
    expect(await saved(0)).toBeCloseTo(60, 6);
  });

  it('uses the last recorded answer for price and cache use if the whole history was read', async () => {
    const requests = [
      answer({ usage: usage(0) }),
      answer({ usage: usage(50) }),
      answer({ purpose: 'compaction', usage: usage(0) }),
      answer({}),
    ];
    const ofSubagent = [answer({ message: 1, usage: usage(50) }), answer({ usage: usage(0) })];
    for (const all of [requests, ofSubagent])
      expect(
        await computeSavingPerRequest(
          { ...conversation, recorded: { requests: all, compactions: [] } },
          CLAUDE_SESSION,
          change,
          prices,
        ),
      ).toBeCloseTo(6, 6);
  });

  it('is unknown if the agent cannot go on with the condensed conversation', async () => {
    const recorded = { ...conversation, lastRequest: answer({ usage: usage(50) }) };
    const path = '/home/me/.codex/sessions/2026/01/01/rollout-1.jsonl';
    expect(await computeSavingPerRequest(recorded, { path }, change, prices)).toBeUndefined();
  });

  it.each([
    ['Roo Code', 6],
    ['Kilo Code', undefined],
    [undefined, undefined],
  ] as const)('depends on the agent that the user chose for the tasks folder: %s', async (agent, saved) => {
    const recorded = { ...conversation, lastRequest: answer({ usage: usage(50) }) };
    const file = { path: '/mine/tasks/1/api_conversation_history.json', agent };
    expect(await computeSavingPerRequest(recorded, file, change, prices)).toBe(saved);
  });

  it.each([
    ['nothing was recorded', {}],
    ['no usage was', { lastRequest: answer({}) }],
    ['the price is not known', { lastRequest: answer({ model: 'of-nobody', usage: usage(0) }) }],
    ['no model is named', { lastRequest: { purpose: 'answer', usage: usage(0) } as const }],
  ])('is unknown if usage, price or model is unknown: %s', async (_, fields) => {
    expect(
      await computeSavingPerRequest({ ...conversation, ...fields }, CLAUDE_SESSION, change, prices),
    ).toBeUndefined();
  });
});

describe('the requests recorded with a conversation', () => {
  const requests = [answer({ message: 3, usage: usage(1) }), answer({ purpose: 'compaction', usage: usage(2) })];
  const recorded = { requests, compactions: [] };

  it('are all returned if the whole history is read', () => {
    expect(selectRecordedRequests('all', recorded, 3)).toEqual({ recorded });
  });

  it('are reduced to the last answer and the number of later messages if only the active part is read', () => {
    for (const history of ['active', undefined] as const) {
      expect(selectRecordedRequests(history, recorded, 6)).toEqual({
        lastRequest: { ...answer({ usage: usage(1) }), messagesSince: 2 },
      });
    }
    expect(selectRecordedRequests('active', { requests: [answer({})], compactions: [] }, 3)).toEqual({});
  });

  it('contain the conversation’s own last answer, not a subagent’s', () => {
    const own = answer({ message: 3, usage: usage(1) });
    const ofSubagent = answer({ usage: usage(2) });
    expect(selectRecordedRequests('active', { requests: [own, ofSubagent], compactions: [] }, 4)).toEqual({
      lastRequest: { ...answer({ usage: usage(1) }), messagesSince: 0 },
    });
    const alone = { requests: [answer({ usage: usage(3) }), ofSubagent], compactions: [] };
    expect(selectRecordedRequests('active', alone, 3)).toEqual({ lastRequest: ofSubagent });
  });

  it('are empty if none were recorded', () => {
    expect([selectRecordedRequests('all', undefined, 3), selectRecordedRequests('active', undefined, 3)]).toEqual([
      {},
      {},
    ]);
  });
});
