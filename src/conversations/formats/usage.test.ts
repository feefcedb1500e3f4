/**
 * Tests requests as versions of the agents record them. The records have real shapes and made-up
 * values.
 */
import { describe, expect, it } from 'vitest';
import { ClaudeRequests } from './claudeCode/usage';
import { CodexRequests } from './codex/usage';
import { CopilotRequests } from './copilot/usage';
import type { RequestCollector } from './format';

const collected = (collector: RequestCollector, records: readonly object[]) => {
  for (const record of records) collector.takeRecord({ ...record });
  return collector.getResult();
};

const at = (second: number): string => new Date(Date.UTC(2026, 10, 20, 9, 0, second)).toISOString();

describe('usage recorded by Claude Code', () => {
  const answer = (id: string, second: number, usage: object, more: object = {}) => ({
    ...{ type: 'assistant', sessionId: 's', requestId: `req_${id}`, timestamp: at(second) },
    message: { role: 'assistant', id, model: 'claude-sonnet-5', usage },
    ...more,
  });
  const plain = { input_tokens: 10, output_tokens: 2 };

  it('is charged separately for each step and for an advisor; the last step shows how full the window is', () => {
    const recorded = collected(new ClaudeRequests(), [
      answer('m1', 1, {
        ...{ input_tokens: 4, cache_read_input_tokens: 300, output_tokens: 9 },
        iterations: [
          { type: 'message', input_tokens: 2, cache_read_input_tokens: 100, output_tokens: 4 },
          { type: 'advisor_message', model: 'claude-opus-5', input_tokens: 500, output_tokens: 3 },
          { type: 'message', input_tokens: 2, cache_read_input_tokens: 200, output_tokens: 5 },
        ],
      }),
    ]);
    expect(recorded?.requests).toMatchObject([
      {
        usage: { inputTokens: 2, cacheReadTokens: 200, outputTokens: 5 },
        parts: [
          { usage: { inputTokens: 2, cacheReadTokens: 100, outputTokens: 4 } },
          { model: 'claude-opus-5', usage: { inputTokens: 500, outputTokens: 3 } },
        ],
      },
    ]);
  });

  it("keeps the top-level totals if its steps don't add up to them", () => {
    const iterations = [{ type: 'message', input_tokens: 1, output_tokens: 1 }];
    const recorded = collected(new ClaudeRequests(), [answer('m1', 1, { ...plain, iterations })]);
    expect(recorded?.requests[0]).toMatchObject({ usage: { inputTokens: 10, outputTokens: 2 } });
    expect(recorded?.requests[0]).not.toHaveProperty('parts');
  });

  it('has the same key in a copy with another time if there is no request ID', () => {
    const copy = (second: number) =>
      collected(new ClaudeRequests(), [answer('m1', second, plain, { requestId: undefined })])?.requests[0]?.key;
    expect(copy(1)).toBe(copy(50));
  });

  it.each([
    ['fast mode', { speed: 'fast' }, { speed: 'fast' }],
    ['a batch', { service_tier: 'batch' }, { tier: 'batch' }],
    ['inference in the US', { inference_geo: 'us' }, { region: 'us' }],
    ['web searches', { server_tool_use: { web_search_requests: 3 } }, { webSearches: 3 }],
    ['the plain way', { speed: 'standard', service_tier: 'standard', inference_geo: '' }, undefined],
  ])('includes how a request was served, such as its service tier: %s', (_, usage, service) => {
    const recorded = collected(new ClaudeRequests(), [answer('m1', 1, { ...plain, ...usage })]);
    expect(recorded?.requests[0]?.service).toEqual(service);
  });

  it.each([
    ['name another session', [answer('m1', 1, plain, { sessionId: 'old' })]],
    ['say where they were forked from', [answer('m1', 1, plain, { forkedFrom: { sessionId: 'old' } })]],
    [
      'are older than the file',
      [{ type: 'queue-operation', sessionId: 's', timestamp: at(5) }, answer('m1', 1, plain)],
    ],
    [
      'answer requests of which the file has no record',
      [
        answer('m1', 1, plain, { requestRef: 'r1' }),
        { type: 'api-request', id: 'r2', sessionId: 's', timestamp: at(2) },
      ],
    ],
  ])('is recognized as copied if records %s', (_, records) => {
    const own = answer('m2', 9, plain, { requestRef: 'r2' });
    expect(collected(new ClaudeRequests(), [...records, own])?.requests.map(({ isCopy }) => isCopy)).toEqual([
      true,
      undefined,
    ]);
  });

  it('distinguishes requests with reused server IDs by their own records', () => {
    const recorded = collected(new ClaudeRequests(), [
      answer('m1', 1, plain, { requestRef: 'r1' }),
      answer('m1', 2, { ...plain, output_tokens: 3 }, { requestRef: 'r1' }),
      answer('m1', 3, plain, { requestRef: 'r2' }),
    ]);
    expect(recorded?.requests.map(({ usage }) => usage?.outputTokens)).toEqual([3, 2]);
    expect(new Set(recorded?.requests.map(({ key }) => key)).size).toBe(2);
  });

  it('has the totals of a cost-state record, with the number of requests and compactions before it', () => {
    const models = { 'claude-opus-5[1m]': { inputTokens: 30, outputTokens: 5, costUSD: 1 } };
    const recorded = collected(new ClaudeRequests(), [
      answer('m1', 1, plain),
      { type: 'system', subtype: 'compact_boundary', sessionId: 's', timestamp: at(2) },
      { type: 'cost-state', sessionId: 's', modelUsage: models },
    ]);
    expect(recorded?.totals).toMatchObject([
      { after: 1, compactions: 1, models: [{ model: 'claude-opus-5[1m]', usage: { inputTokens: 30 } }] },
    ]);
  });
});

describe('usage recorded by Codex', () => {
  const counts = (input: number, output: number, total: number, written = 0) => ({
    ...{ input_tokens: input, cached_input_tokens: 0, output_tokens: output, total_tokens: total },
    cache_write_input_tokens: written,
  });
  const meta = (more: object = {}) => ({
    ...{ type: 'session_meta', timestamp: at(0) },
    payload: { id: 't1', cli_version: '0.171.0', model_provider: 'openai', ...more },
  });
  const counted = (last: object, total: object) => ({
    ...{ type: 'event_msg', timestamp: at(2) },
    payload: {
      type: 'token_count',
      info: { last_token_usage: last, total_token_usage: total, model_context_window: 9 },
    },
  });
  const record = (response: string, usage: object, total: object) => ({
    ...{ type: 'token_usage_record', timestamp: at(1) },
    payload: { thread_id: 't1', response_id: response, usage, thread_token_usage: total },
  });

  it('counts a request that is in two kinds of records once, with its cache writes and the window', () => {
    const last = counts(100, 5, 105, 90);
    const recorded = collected(new CodexRequests(), [
      meta(),
      record('r1', last, last),
      counted(last, last),
      counted(last, last),
    ]);
    expect(recorded?.requests).toMatchObject([
      { window: 9, usage: { inputTokens: 100, cacheWriteTokens: 90, outputTokens: 5 }, purpose: 'answer' },
    ]);
  });

  it("marks as a compaction the request whose response ID is in the compaction's record", () => {
    const [one, two] = [counts(100, 5, 105), counts(90, 6, 96)];
    const total = counts(190, 11, 201);
    const recorded = collected(new CodexRequests(), [
      ...[meta(), record('r1', one, one), record('r2', two, total)],
      { type: 'compacted', timestamp: at(3), payload: { compaction_response_id: 'r2' } },
    ]);
    expect(recorded).toMatchObject({
      hasCompactions: true,
      requests: [{ purpose: 'answer' }, { purpose: 'compaction' }],
    });
  });

  it('names the threads that a fork of a fork descends from, whose headers it repeats', () => {
    const headers = [meta({ forked_from_id: 't0' }), meta({ id: 't0', forked_from_id: 't-1' }), meta({ id: 't-1' })];
    const recorded = collected(new CodexRequests(), [...headers, counted(counts(1, 1, 2), counts(1, 1, 2))]);
    expect(recorded?.session).toMatchObject({ id: 't1', forkOf: 't0', furtherOrigins: ['t-1'] });
  });

  it.each([
    ['a fork', { forked_from_id: 't0' }],
    ['a subagent', { source: { subagent: { thread_spawn: { parent_thread_id: 't0' } } } }],
    ['a thread that goes on from another file', { history_base: { thread_id: 't0' } }],
  ])('names the thread whose records %s begins with', (_, header) => {
    expect(collected(new CodexRequests(), [meta(header), counted(counts(1, 1, 2), counts(1, 1, 2))])?.session).toEqual({
      ...{ keys: 'in-lineage', id: 't1', began: Date.parse(at(0)), forkOf: 't0' },
    });
  });
});

describe('usage recorded by Copilot CLI', () => {
  const start = { type: 'session.start', timestamp: at(0), data: { sessionId: 's' } };
  const usage = { model: 'gpt-x', inputTokens: 50, outputTokens: 4, cacheReadTokens: 30, cacheWriteTokens: 0 };
  const record = (sequence: number, more: object = {}) => ({
    ...{ type: 'session.usage_record', timestamp: at(sequence), id: `e${sequence}` },
    data: { usage: { ...usage, ...more, accounting: { sourceSessionId: 's', sequence } } },
  });
  const shutdown = (count: number, more: object = {}) => ({
    ...{ type: 'session.shutdown', timestamp: at(30) },
    data: { modelMetrics: { 'gpt-x': { requests: { count }, usage: { ...usage, inputTokens: 50 * count } } }, ...more },
  });

  it('contains each request once, with its charge', () => {
    const recorded = collected(new CopilotRequests(), [start, record(1, { totalNanoAiu: 2e9 }), record(2), record(2)]);
    expect(recorded?.requests).toMatchObject([
      { key: 's 1', seller: 'github-copilot', usage: { inputTokens: 50, cacheReadTokens: 30, costUsd: 0.02 } },
      { key: 's 2' },
    ]);
  });

  it("names no other seller than the model's maker if the key is the user's own", () => {
    expect(collected(new CopilotRequests(), [start, record(1, { isByok: true })])?.requests[0]).not.toHaveProperty(
      'seller',
    );
  });

  it('adds up the totals of several processes only if their counts start again from zero', () => {
    const counts = (...shutdowns: readonly object[]) =>
      collected(new CopilotRequests(), [start, ...shutdowns])
        ?.totals?.at(-1)
        ?.models.map(({ requests }) => requests);
    expect(counts(shutdown(5))).toEqual([5]);
    expect(counts(shutdown(5), shutdown(8))).toEqual([8]);
    expect(counts(shutdown(5), shutdown(2))).toEqual([7]);
    expect(counts(shutdown(5), shutdown(2, { usageAccountingWatermarks: { s: 2 } }))).toEqual([2]);
  });
});
