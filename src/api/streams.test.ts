/**
 * Tests unusual, old and unknown events of vendors and gateways, which the scripted servers don't
 * send.
 */
import { describe, expect, it } from 'vitest';
import { convertAnthropicStream } from './anthropicStream';
import { convertUnsupportedToText } from './openaiBlocks';
import { convertChatStream } from './openaiChat';
import { RESPONSES_DIALECT } from './dialect';
import { buildResponsesBody, convertResponsesStream } from './openaiResponses';
import { assistant, collectOutcome, text, user } from './testing';
import { makeToolCall } from './toolInput';
import type { ApiEvent } from './types';

async function* from(events: readonly unknown[]): AsyncGenerator<unknown, void> {
  await Promise.resolve();
  yield* events;
}

const all = async (stream: AsyncIterable<ApiEvent>): Promise<readonly ApiEvent[]> =>
  (await collectOutcome(stream)).events;

describe("converting Anthropic's stream", () => {
  const start = (index: number, block: object) => ({ type: 'content_block_start', index, content_block: block });
  const delta = (index: number, fields: object) => ({ type: 'content_block_delta', index, delta: fields });
  const stop = (index: number) => ({ type: 'content_block_stop', index });

  it('keeps server tools and unknown blocks whole', async () => {
    const events = [
      start(0, { type: 'server_tool_use', id: 's', name: 'web_search', input: {} }),
      delta(0, { type: 'input_json_delta', partial_json: '{"query":' }),
      delta(0, { type: 'input_json_delta', partial_json: '"x"}' }),
      stop(0),
      start(1, { type: 'web_search_tool_result', tool_use_id: 's', content: [] }),
      stop(1),
      start(2, { type: 'mcp_tool_use', id: 'm', name: 'odd', input: {} }),
      delta(2, { type: 'input_json_delta', partial_json: '{"cut' }),
      stop(2),
      start(3, { type: 'tool_use', id: 't', name: 'whole', input: { a: 1 } }),
      stop(3),
      { type: 'message_stop' },
    ];
    expect(await all(convertAnthropicStream(from(events)))).toEqual([
      { type: 'block', block: { type: 'server_tool_use', id: 's', name: 'web_search', input: { query: 'x' } } },
      { type: 'block', block: { type: 'web_search_tool_result', tool_use_id: 's', content: [] } },
      { type: 'block', block: { type: 'mcp_tool_use', id: 'm', name: 'odd', input: '{"cut' } },
      { type: 'tool_call', id: 't', name: 'whole', input: { a: 1 }, rawArguments: '{"a":1}' },
      { type: 'end', stopReason: 'other' },
    ]);
  });

  it('accepts text and thinking in the event that starts a block', async () => {
    const events = [
      start(0, { type: 'thinking', thinking: 'Hm.', signature: 'sig' }),
      stop(0),
      start(1, { type: 'thinking', thinking: '' }),
      stop(1),
      start(2, { type: 'text', text: 'Hello' }),
      stop(2),
      { type: 'message_delta', delta: { stop_reason: 'something new' } },
      { type: 'message_stop' },
    ];
    expect(await all(convertAnthropicStream(from(events)))).toEqual([
      { type: 'thinking', text: 'Hm.' },
      { type: 'block', block: { type: 'thinking', thinking: 'Hm.', signature: 'sig' } },
      { type: 'block', block: { type: 'thinking', thinking: '', signature: '' } },
      { type: 'text', text: 'Hello' },
      { type: 'end', stopReason: 'other' },
    ]);
  });

  it('adds up token usage that arrives in parts', async () => {
    const usage = {
      input_tokens: 5,
      output_tokens: 1,
      cache_read_input_tokens: 7,
      cache_creation_input_tokens: 9,
      cache_creation: { ephemeral_5m_input_tokens: 1, ephemeral_1h_input_tokens: 8 },
    };
    const events = [
      { type: 'message_start', message: { usage } },
      {
        type: 'message_delta',
        delta: {},
        usage: { output_tokens: 40, input_tokens: null, output_tokens_details: { thinking_tokens: 30 } },
      },
      { type: 'message_delta', delta: {}, usage: { output_tokens: 41 } },
    ];
    expect((await all(convertAnthropicStream(from(events)))).at(-1)).toEqual({
      type: 'usage',
      usage: {
        accounting: 'anthropic',
        source: 'reported',
        inputTokens: 5,
        outputTokens: 41,
        cacheReadTokens: 7,
        cacheWriteTokens: 9,
        longCacheWriteTokens: 8,
        reasoningTokens: 30,
      },
    });
  });

  it('ignores events that it does not understand', async () => {
    const events = [
      null,
      'x',
      { type: 'new' },
      { type: 'message_start' },
      { type: 'content_block_start', index: 0 },
      delta(7, { text: 'x' }),
      { type: 'content_block_delta' },
      stop(7),
      { type: 'message_delta' },
    ];
    expect(await all(convertAnthropicStream(from(events)))).toEqual([]);
  });
});

describe('converting the Chat Completions stream', () => {
  const chunk = (delta: unknown, finish?: string) => ({ choices: [{ delta, finish_reason: finish ?? null }] });

  it("accepts arguments as an object, calls without an ID, and DeepSeek's forms of usage", async () => {
    const events = [
      chunk({
        tool_calls: [
          null,
          { index: 0, function: { name: 'a', arguments: { x: 1 } } },
          { index: 1, id: 'c', function: { name: '' } },
          { index: 1 },
        ],
      }),
      {
        ...chunk({}, 'function_call'),
        usage: { prompt_tokens: 9.6, completion_tokens: -1, prompt_cache_hit_tokens: 4 },
      },
    ];
    expect(await all(convertChatStream(from(events)))).toEqual([
      {
        type: 'usage',
        usage: {
          accounting: 'openai',
          source: 'reported',
          inputTokens: 10,
          outputTokens: 0,
          cacheReadTokens: 4,
          cacheWriteTokens: 0,
        },
      },
      { type: 'tool_call', id: expect.stringMatching(/^call_/), name: 'a', input: { x: 1 }, rawArguments: '{"x":1}' },
      { type: 'tool_call', id: 'c', name: '', input: {}, rawArguments: '' },
      { type: 'end', stopReason: 'tool_use' },
    ]);
  });

  it('ignores chunks that it does not understand, and reports no end without a finish reason', async () => {
    expect(
      await all(
        convertChatStream(from([null, {}, { choices: [] }, { choices: [{}] }, chunk('x'), chunk({ content: 5 })])),
      ),
    ).toEqual([]);
    expect(await all(convertChatStream(from([chunk({}, 'error')])))).toEqual([{ type: 'end', stopReason: 'other' }]);
  });
});

describe('the conversion for the Responses API', () => {
  it('ignores events that it does not understand', async () => {
    const events = [
      null,
      ...['output_text.delta', 'refusal.delta', 'reasoning_text.delta', 'output_item.done', 'new'].map((type) => ({
        type: `response.${type}`,
      })),
      { type: 'response.output_item.done', item: { type: 'function_call' } },
      { type: 'response.output_item.done', item: { type: 'function_call', call_id: 'c', name: 'a' } },
      { type: 'response.incomplete', response: { status: 'incomplete', usage: { input_tokens: 3 } } },
    ];
    expect(await all(convertResponsesStream(from(events)))).toEqual([
      { type: 'tool_call', id: 'c', name: 'a', input: {}, rawArguments: '' },
      {
        type: 'usage',
        usage: {
          accounting: 'openai',
          source: 'reported',
          inputTokens: 3,
          outputTokens: 0,
          cacheReadTokens: 0,
          cacheWriteTokens: 0,
        },
      },
      { type: 'end', stopReason: 'refusal' },
    ]);
    const unknown = [
      { type: 'response.incomplete', response: { status: 'incomplete', incomplete_details: { reason: 'new' } } },
    ];
    expect(await all(convertResponsesStream(from(unknown)))).toEqual([{ type: 'end', stopReason: 'other' }]);
    expect(await all(convertResponsesStream(from([{ type: 'response.completed' }])))).toEqual([
      { type: 'end', stopReason: 'end_turn' },
    ]);
  });

  it.each([{ type: 'response.failed' }, { type: 'error', code: 'server_error', message: 'x' }])(
    'fails on the event %j',
    async (event) => {
      await expect(all(convertResponsesStream(from([event])))).rejects.toThrow('The response failed.');
    },
  );

  it('turns a conversation with incomplete blocks into a valid request body', () => {
    const odd = { type: 'tool_result', tool_use_id: 'c' };
    const body = buildResponsesBody(
      {
        system: [text('a') as never, text('b') as never],
        messages: [user([odd]), assistant([{ type: 'openai_reasoning' }])],
        tools: [{ name: 'a', input_schema: {} }],
      },
      { id: 'm', maxOutputTokens: 7 },
      RESPONSES_DIALECT,
    );
    expect(body).toMatchObject({
      instructions: 'a\nb',
      max_output_tokens: 7,
      input: [{ type: 'function_call_output', call_id: 'c', output: '' }],
      tools: [{ name: 'a', parameters: {} }],
    });
  });
});

describe('blocks that a vendor does not support, and missing call parameters,', () => {
  it('become a text and an object', () => {
    expect(
      convertUnsupportedToText({ type: 'document', title: 'a.pdf', source: { type: 'base64', data: 'AA' } }).text,
    ).toBe("[document “a.pdf” that can't be shown here]");
    expect(convertUnsupportedToText({ type: 'image', source: { type: 'base64', data: 'AA' } }).text).toBe(
      "[image that can't be shown here]",
    );
    expect(makeToolCall('c', 'a', undefined)).toMatchObject({ input: { input: undefined }, rawArguments: '{}' });
  });
});
