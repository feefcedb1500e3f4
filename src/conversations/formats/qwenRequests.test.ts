import { describe, expect, it } from 'vitest';
import { QwenRequests } from './qwenRequests';

type Fields = Readonly<Record<string, unknown>>;

const record = (uuid: string, fields: Fields): Fields => ({
  ...{ uuid, sessionId: 's1', timestamp: '2026-08-05T18:36:21.455Z', cwd: '/work' },
  ...fields,
});
const response = (uuid: string, input: number, fields: Fields = {}): Fields =>
  record(uuid, {
    ...{ type: 'system', subtype: 'ui_telemetry' },
    systemPayload: {
      uiEvent: {
        ...{ 'event.name': 'qwen-code.api_response', model: 'qwen3', input_token_count: input, output_token_count: 7 },
        ...{ cached_content_token_count: 4, thoughts_token_count: 0, total_token_count: input + 7 },
      },
    },
    ...fields,
  });
const answer = (uuid: string, input: number, fields: Fields = {}): Fields =>
  record(uuid, {
    ...{ type: 'assistant', model: 'qwen3', contextWindowSize: 1_000, message: { role: 'model', parts: [] } },
    usageMetadata: {
      promptTokenCount: input,
      candidatesTokenCount: 7,
      cachedContentTokenCount: 4,
      totalTokenCount: input + 7,
    },
    ...fields,
  });
const collect = (records: readonly Fields[]) => {
  const requests = new QwenRequests();
  for (const each of records) requests.takeRecord(each);
  return requests.getResult();
};
const inputs = (records: readonly Fields[]) => collect(records)?.requests.map(({ usage }) => usage?.inputTokens);

describe('requests recorded by Qwen Code', () => {
  it('are listed once per response, with what the record of the answer adds', () => {
    expect(collect([response('1', 100), answer('2', 100)])?.requests).toMatchObject([
      { window: 1_000, model: 'qwen3', usage: { inputTokens: 100, outputTokens: 7, cacheReadTokens: 4 } },
    ]);
  });

  it('are counted once, whatever the order of their two records, even if two requests are equal', () => {
    expect(inputs([answer('1', 100), response('2', 100)])).toEqual([100]);
    expect(inputs([response('1', 100), response('2', 100), answer('3', 100), answer('4', 100)])).toEqual([100, 100]);
  });

  it("include those of subagents and compressions, which the conversation's answers lack", () => {
    const recorded = collect([
      ...[response('1', 100), answer('2', 100), response('3', 50), response('4', 60)],
      record('5', { type: 'system', subtype: 'chat_compression', systemPayload: {} }),
    ]);
    expect(recorded?.requests).toHaveLength(3);
    expect(recorded?.hasCompactions).toBe(true);
  });

  it('consist only of the answers if responses are not recorded, as in older versions', () => {
    expect(inputs([answer('1', 100), answer('2', 100)])).toEqual([100, 100]);
  });

  it('keep their original session and IDs if a fork copied them', () => {
    const forkedFrom = { sessionId: 's0', messageUuid: '1' };
    const recorded = collect([
      response('1', 100, { forkedFrom }),
      answer('2', 100, { forkedFrom }),
      response('3', 120, { timestamp: '2026-08-06T18:36:21.455Z' }),
    ]);
    expect(recorded?.requests).toMatchObject([{ key: '1', isCopy: true }, { key: '3' }]);
    expect(recorded?.session).toEqual({
      ...{ keys: 'everywhere', id: 's1', forkOf: 's0', began: Date.parse('2026-08-06T18:36:21.455Z') },
    });
  });

  it('appear once if their records are repeated', () => {
    expect(inputs([response('1', 100), answer('2', 100), response('1', 100), answer('2', 100)])).toEqual([100]);
  });
});
