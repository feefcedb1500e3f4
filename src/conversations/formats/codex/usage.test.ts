import { describe, expect, it } from 'vitest';
import { CodexRequests } from './usage';

type Fields = Readonly<Record<string, unknown>>;

const sums = (input: number, output: number): Fields => ({
  ...{ input_tokens: input, cached_input_tokens: 0, output_tokens: output, total_tokens: input + output },
});
const counted = (total: Fields | null, last: Fields | null | undefined): Fields => ({
  ...{ type: 'event_msg', timestamp: '2026-02-01T12:00:00Z' },
  payload: {
    type: 'token_count',
    info: { total_token_usage: total, ...(last !== undefined && { last_token_usage: last }) },
  },
});
const said: Fields = { type: 'response_item', payload: { type: 'message', role: 'assistant', content: [] } };
const header: Fields = { type: 'session_meta', timestamp: '2026-02-01T12:00:00Z', payload: { id: 'thread' } };
const inputs = (records: readonly Fields[]) => {
  const requests = new CodexRequests();
  for (const each of [header, ...records]) requests.takeRecord(each);
  return requests.requests.map(({ usage }) => usage?.inputTokens);
};
const first = counted(sums(100, 10), sums(100, 10));
const second = counted(sums(220, 20), sums(120, 10));

describe('requests recorded in a Codex thread', () => {
  it('count once if their token counts are repeated without new output', () => {
    expect(inputs([said, first, first, said, second, first, second])).toEqual([100, 120]);
  });

  it('have their tokens computed from the increase of the total if only the total is recorded', () => {
    const alone = (total: Fields): Fields => counted(total, undefined);
    expect(inputs([said, alone(sums(100, 10)), said, alone(sums(220, 20)), alone(sums(220, 20))])).toEqual([100, 120]);
    expect(inputs([said, alone(sums(100, 10)), said, counted(sums(220, 20), null)])).toEqual([100, 120]);
  });

  it('are counted again after the total was reset, even if it returns to an earlier value', () => {
    expect(inputs([said, first, said, second, said, first, said, second])).toEqual([100, 120, 100, 120]);
    const alone = (total: Fields): Fields => counted(total, undefined);
    expect(inputs([said, alone(sums(220, 20)), said, alone(sums(100, 10))])).toEqual([220, 100]);
  });

  it('are counted separately if no total is recorded, even if their token counts are equal', () => {
    const alone = counted(null, sums(100, 10));
    expect(inputs([said, alone, alone, said, alone, said, counted(null, sums(120, 10))])).toEqual([100, 100, 120]);
  });

  it('count once in a file that was appended to itself', () => {
    expect(inputs([said, first, said, second, header, said, first, said, second])).toEqual([100, 120]);
  });

  it('do not include a rate-limit check without token counts', () => {
    expect(inputs([{ type: 'event_msg', payload: { type: 'token_count', info: null } }])).toEqual([]);
  });

  it("include the vendor's searches, which are charged separately", () => {
    const search = (type: string): Fields => ({
      ...{ type: 'response_item', payload: { type: 'web_search_call', status: 'completed', action: { type } } },
    });
    const requests = new CodexRequests();
    for (const each of [header, search('search'), search('open_page'), search('search'), first, said, second])
      requests.takeRecord(each);
    expect(requests.requests.map(({ service }) => service)).toEqual([{ webSearches: 2 }, undefined]);
  });
});
