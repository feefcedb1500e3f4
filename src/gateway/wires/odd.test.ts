import { describe, expect, it } from 'vitest';
import type { Usage } from '../../core/cost/usage';
import { SUMMARY_ORIGIN } from '../../core/messages/firewall';
import type { ApiMessage } from '../../core/messages/types';
import { findKnownRequest } from './index';
import { PATH_BY_WIRE } from './testing';
import { WireError, writeViewIntoBody, type RequestBody, type WireName } from './wire';

/** Unusual bodies that are valid or commonly sent, and the messages read from them. */
const ODD: Readonly<
  Record<WireName, { readonly body: RequestBody; readonly said: RequestBody; readonly messages: unknown[] }>
> = {
  anthropic: {
    body: {
      system: [{ type: 'text', text: 'S' }, 7],
      messages: [
        { role: 'user', content: 'hi' },
        { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'Read', input: { a: ['b', 1] } }, 7] },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 't' },
            { type: 'tool_result', tool_use_id: 'u', content: 'out', is_error: true },
            {
              type: 'tool_result',
              tool_use_id: 'v',
              content: [{ type: 'text', text: 'more', cache_control: { type: 'ephemeral' } }, 7],
            },
          ],
        },
        { role: 'system', content: 'late' },
        { role: 'assistant' },
      ],
    },
    said: { tools: [], system: 'S\n' },
    messages: [
      { role: 'user', content: [{ type: 'text', text: 'hi' }] },
      {
        role: 'assistant',
        content: [
          { type: 'tool_use', id: 't', name: 'Read', input: { a: ['b', 1] } },
          { type: 'raw', part: 7 },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 't' },
          { type: 'tool_result', tool_use_id: 'u', content: [{ type: 'text', text: 'out' }], is_error: true },
          { type: 'tool_result', tool_use_id: 'v', content: [{ type: 'text', text: 'more' }, 7] },
        ],
      },
      { role: 'system', content: [{ type: 'text', text: 'late' }] },
    ],
  },
  chat: {
    body: {
      max_tokens: 5,
      max_completion_tokens: 9,
      messages: [
        { role: 'system', content: 'S' },
        { role: 'developer', content: [{ type: 'text', text: 'D' }] },
        { role: 'user', content: [{ type: 'text', text: 'hi' }, { type: 'input_audio' }, 7] },
        { role: 'system', content: 'late' },
        {
          role: 'assistant',
          content: '',
          tool_calls: [
            { id: 'c1', type: 'function', function: { name: 'Read', arguments: 'not JSON' } },
            { id: 'c2', type: 'custom', custom: { name: 'exec', input: 'ls' } },
            { id: 'c3', type: 'function', function: { name: 'Read' } },
            { id: 'c4', type: 'custom', custom: { name: 'exec' } },
            { id: 'c5' },
            { type: 'function' },
          ],
        },
        { role: 'tool', tool_call_id: 'c1', content: [{ type: 'text', text: 'out' }] },
        { role: 'tool', tool_call_id: 'c2', content: 'more' },
        { role: 'tool', content: 'for none' },
        { role: 'function', name: 'f', content: 'old' },
        { role: 'assistant', content: null },
      ],
    },
    said: { tools: [], system: 'S\nD', maxOutputTokens: 9 },
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'hi' },
          { type: 'raw', part: { type: 'input_audio' } },
          { type: 'raw', part: 7 },
        ],
      },
      { role: 'system', content: [{ type: 'text', text: 'late' }] },
      {
        role: 'assistant',
        content: [
          { type: 'tool_use', id: 'c1', name: 'Read', input: { invalidArguments: 'not JSON' } },
          { type: 'tool_use', id: 'c2', name: 'exec', input: { input: 'ls' } },
          { type: 'raw', part: { id: 'c3', type: 'function', function: { name: 'Read' } } },
          { type: 'raw', part: { id: 'c4', type: 'custom', custom: { name: 'exec' } } },
          { type: 'raw', part: { id: 'c5' } },
          { type: 'raw', part: { type: 'function' } },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'c1', content: [{ type: 'text', text: 'out' }] },
          { type: 'tool_result', tool_use_id: 'c2', content: [{ type: 'text', text: 'more' }] },
        ],
      },
      { role: 'user', content: [{ type: 'raw', part: { role: 'tool', content: 'for none' } }] },
      { role: 'user', content: [{ type: 'raw', part: { role: 'function', name: 'f', content: 'old' } }] },
    ],
  },
  responses: {
    body: {
      previous_response_id: null,
      max_output_tokens: 7,
      input: [
        { type: 'additional_tools', tools: [] },
        { role: 'developer', content: 'D' },
        { role: 'user', content: 'hi' },
        { role: 'developer', content: [{ type: 'text', text: 'late' }] },
        { type: 'web_search_call', id: 'w' },
        { type: 'function_call', name: 'f', arguments: '{}' },
        { type: 'custom_tool_call', call_id: 'c1', name: 'exec' },
        { type: 'custom_tool_call', call_id: 'c2', name: 'exec', input: 'ls' },
        { type: 'local_shell_call', call_id: 's1', action: { type: 'exec', command: ['ls', '-l'] } },
        { type: 'local_shell_call', call_id: 's2' },
        { type: 'local_shell_call', id: 'none' },
        { type: 'local_shell_call_output', call_id: 's1', output: 'files' },
        { type: 'function_call_output', output: 'for none' },
        { role: 'assistant', content: [{ type: 'output_text', text: 'done' }, { type: 'refusal', refusal: 'no' }, 7] },
        { role: 'user', content: [{ type: 'input_image', file_id: 'f' }, { type: 'input_text' }] },
        { role: 'user' },
      ],
    },
    said: { tools: [{ type: 'additional_tools', tools: [] }], system: 'D', maxOutputTokens: 7 },
    messages: [
      { role: 'user', content: [{ type: 'text', text: 'hi' }] },
      { role: 'system', content: [{ type: 'text', text: 'late' }] },
      {
        role: 'assistant',
        content: [
          { type: 'raw', part: { type: 'web_search_call', id: 'w' } },
          { type: 'raw', part: { type: 'function_call', name: 'f', arguments: '{}' } },
          { type: 'raw', part: { type: 'custom_tool_call', call_id: 'c1', name: 'exec' } },
          { type: 'tool_use', id: 'c2', name: 'exec', input: { input: 'ls' } },
          { type: 'tool_use', id: 's1', name: 'local_shell', input: { type: 'exec', command: ['ls', '-l'] } },
          { type: 'tool_use', id: 's2', name: 'local_shell', input: {} },
          { type: 'raw', part: { type: 'local_shell_call', id: 'none' } },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 's1', content: [{ type: 'text', text: 'files' }] },
          { type: 'raw', part: { type: 'function_call_output', output: 'for none' } },
        ],
      },
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'done' },
          { type: 'raw', part: { type: 'refusal', refusal: 'no' } },
          { type: 'raw', part: 7 },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'raw', part: { type: 'input_image', file_id: 'f' } },
          { type: 'raw', part: { type: 'input_text' } },
        ],
      },
    ],
  },
  gemini: {
    body: {
      system_instruction: { parts: [{ text: 'S' }, 7] },
      generationConfig: { maxOutputTokens: 5 },
      contents: [
        { role: 'user', parts: [{ text: 'go' }, { inlineData: { mimeType: 'application/pdf', data: 'QUJD' } }, 7] },
        {
          role: 'model',
          parts: [
            { functionCall: { id: 'x', name: 'ls' } },
            { functionCall: { id: 'x', name: 'ls', args: { dir: 'a' } } },
            { functionCall: {} },
          ],
        },
        {
          role: 'user',
          parts: [
            { functionResponse: { id: 'x', name: 'ls', response: { output: 'one', exit: 0 } } },
            { functionResponse: { name: 'ls', response: { stdout: 'o'.repeat(300) } } },
            { functionResponse: { name: 'other' } },
            { functionResponse: { name: 'other', id: '9', response: { output: '' }, parts: [{ text: 'p' }] } },
            { functionResponse: {} },
          ],
        },
        { role: 'model', parts: [{ functionResponse: { name: 'ls' } }, { text: '' }] },
        { parts: [{ functionCall: { name: 'ls' } }, { text: 'Hm', thought: true }] },
      ],
    },
    said: { tools: [], system: 'S\n', maxOutputTokens: 5 },
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'go' },
          { type: 'raw', part: { inlineData: { mimeType: 'application/pdf', data: 'QUJD' } } },
          { type: 'raw', part: 7 },
        ],
      },
      {
        role: 'assistant',
        content: [
          { type: 'tool_use', id: 'x', name: 'ls', input: {} },
          { type: 'tool_use', id: 'ls#2', name: 'ls', input: { dir: 'a' } },
          { type: 'raw', part: { functionCall: {} } },
        ],
      },
      {
        role: 'user',
        content: [
          {
            type: 'tool_result',
            tool_use_id: 'x',
            content: [
              { type: 'text', text: 'one' },
              { type: 'raw', part: { exit: 0 } },
            ],
          },
          { type: 'tool_result', tool_use_id: 'ls#2', content: [{ type: 'text', text: 'o'.repeat(300) }] },
          { type: 'tool_result', tool_use_id: 'other#unasked', content: [] },
          {
            type: 'tool_result',
            tool_use_id: 'other#9',
            content: [
              { type: 'raw', part: { output: '' } },
              { type: 'raw', part: { text: 'p' } },
            ],
          },
          { type: 'raw', part: { functionResponse: {} } },
        ],
      },
      { role: 'assistant', content: [{ type: 'raw', part: { functionResponse: { name: 'ls' } } }] },
      {
        role: 'user',
        content: [
          { type: 'raw', part: { functionCall: { name: 'ls' } } },
          { type: 'raw', part: { text: 'Hm', thought: true } },
        ],
      },
    ],
  },
};

const getWire = (name: WireName) => findKnownRequest('POST', PATH_BY_WIRE[name].replace(/\?.*/, ''))!.wire;

/** Replaces texts and input strings by others of the same length, so that long ones stay long. */
function cut(value: unknown, isInput = false): unknown {
  if (typeof value === 'string') return isInput ? 'x'.repeat(value.length) : value;
  if (Array.isArray(value)) return value.map((item) => cut(item, isInput));
  if (typeof value !== 'object' || value === null || ('type' in value && value.type === 'raw')) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [
      key,
      key === 'type' ? item : cut(item, isInput || key === 'input' || key === 'text'),
    ]),
  );
}

describe.each(Object.entries(ODD) as [WireName, (typeof ODD)[WireName]][])(
  'an unusual request body in the format %s',
  (name, odd) => {
    const wire = getWire(name);
    const { body, said, messages } = odd;
    const text = JSON.stringify(body);

    it('is read, and unknown parts are left alone', () => {
      const { messages: read, sources, ...rest } = wire.read(body)!;
      expect(read).toEqual(messages);
      expect(rest).toEqual(said);
      expect(sources.length).toBe(messages.length);
    });

    it('has each changed string written back in place', () => {
      const request = wire.read(body)!;
      const view = request.messages.map((message) => cut(message) as ApiMessage);
      const origins = view.map((_, index) => index);
      const { head, end } = writeViewIntoBody(wire, text, body, request, {
        original: request.messages,
        messages: view,
        origins,
      });
      const written = JSON.parse(head + text.slice(end)) as RequestBody;
      expect(wire.read(written)).toMatchObject({ ...said, messages: view });
      expect(view).not.toEqual(request.messages);
    });

    it('is not read if it contains no conversation', () => {
      expect(wire.read({})).toBeUndefined();
      expect(wire.read({ [wire.list]: {} })).toBeUndefined();
      expect(wire.read({ [wire.list]: [7] })).toBeUndefined();
    });
  },
);

it.each<[WireName, RequestBody]>([
  ['anthropic', { messages: [{ role: 'tool', content: 'x' }] }],
  ['gemini', { contents: [{ role: 'user', text: 'x' }] }],
])('the API format %s does not read messages of another format', (name, body) => {
  expect(getWire(name).read(body)).toBeUndefined();
});

it('the API format of Anthropic accepts a system prompt that is a string', () => {
  expect(getWire('anthropic').read({ messages: [], system: 'S' })?.system).toBe('S');
});

describe('the tokens reported in an answer', () => {
  const before: Usage = {
    accounting: 'openai',
    source: 'reported',
    inputTokens: 1,
    outputTokens: 1,
    cacheReadTokens: 0,
    cacheWriteTokens: 0,
  };
  const chat = { prompt_tokens: 10, completion_tokens: 4, prompt_tokens_details: { cached_tokens: 8 } };
  const responses = { input_tokens: 10, output_tokens: 4, input_tokens_details: { cached_tokens: 8 } };
  const anthropic = { input_tokens: 10, output_tokens: 4, cache_read_input_tokens: 8 };

  it.each<[WireName, RequestBody]>([
    ['chat', { usage: chat }],
    ['responses', { usage: responses }],
    ['responses', { type: 'response.completed', response: { usage: responses } }],
    ['anthropic', { usage: anthropic }],
    ['anthropic', { type: 'message_start', message: { usage: anthropic } }],
    // Gemini reports thoughts apart from candidates, and tool use apart from the prompt.
    [
      'gemini',
      {
        usageMetadata: {
          promptTokenCount: 7,
          toolUsePromptTokenCount: 3,
          candidatesTokenCount: 1,
          thoughtsTokenCount: 3,
          cachedContentTokenCount: 8,
        },
      },
    ],
  ])('are read in the format %s: %j', (name, event) => {
    expect(getWire(name).usage(event, undefined)).toMatchObject({
      source: 'reported',
      inputTokens: 10,
      outputTokens: 4,
      cacheReadTokens: 8,
    });
  });

  it.each(Object.keys(PATH_BY_WIRE) as WireName[])(
    'in the format %s stay as before after an event without token counts',
    (name) => {
      expect(getWire(name).usage({ type: 'ping', usage: null }, before)).toBe(before);
      expect(getWire(name).usage({ message: {}, response: {} }, undefined)).toBeUndefined();
    },
  );
});

describe('an error inside an answer', () => {
  const error = { type: 'invalid_request_error', code: 'context_length_exceeded', message: 'Too long.' };
  const flat = {
    type: 'error',
    code: 'context_length_exceeded',
    message: 'Too long.',
    param: null,
    sequence_number: 2,
  };

  it.each<[WireName, RequestBody, unknown]>([
    ['anthropic', { type: 'error', error }, error],
    ['chat', { id: 'gen', choices: [{ delta: {}, finish_reason: 'error' }], error }, error],
    ['gemini', { error }, error],
    ['responses', { type: 'response.failed', response: { status: 'failed', error, usage: null } }, error],
    ['responses', { type: 'error', sequence_number: 2, error }, error],
    ['responses', flat, flat],
    ['responses', { object: 'response', status: 'failed', error }, error],
  ])('is read in the format %s: %j', (name, event, told) => {
    expect(getWire(name).failure(event)).toEqual(told);
  });

  it.each(Object.keys(PATH_BY_WIRE) as WireName[])('in the format %s is not found in other events', (name) => {
    expect(getWire(name).failure({ type: 'ping' })).toBeUndefined();
    expect(
      getWire(name).failure({ type: 'response.completed', error: null, response: { error: null } }) ?? null,
    ).toBeNull();
  });
});

describe('writing a condensed conversation back into a request', () => {
  const wire = getWire('anthropic');
  const body: RequestBody = {
    messages: [
      { role: 'user', content: 'a' },
      { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'n', input: { list: ['x', 'y'], n: 1 } }, 7] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't', content: 'out' }] },
    ],
  };
  const text = JSON.stringify(body);
  const request = wire.read(body)!;
  const original = request.messages;
  const written = (
    view: readonly ApiMessage[],
    origins: readonly number[],
    from?: { view: number; original: number },
  ) => {
    const { head, end } = writeViewIntoBody(wire, text, body, request, { original, messages: view, origins }, from);
    return JSON.parse(head + text.slice(end)) as { messages: unknown[] };
  };
  const call = { type: 'tool_use', id: 't', name: 'n' };
  const raw = { type: 'raw', part: 7 };
  const said = (content: unknown): ApiMessage => ({ role: 'user', content }) as ApiMessage;

  it.each<[string, unknown, RegExp]>([
    ['a list with one entry less', [{ ...call, input: { list: ['x'], n: 1 } }, raw], /More than strings changed/],
    ['another number', [{ ...call, input: { list: ['x', 'y'], n: 2 } }, raw], /More than strings changed/],
    ['a field less', [{ ...call, input: { list: ['x', 'y'] } }, raw], /Fields changed/],
    ['a field of another name', [{ ...call, input: { list: ['x', 'y'], m: 1 } }, raw], /Fields changed/],
    ['a block in the place of another', [{ type: 'image' }, raw], /something else than a text/],
    [
      'what is left alone',
      [
        { ...call, input: { list: ['x', 'y'], n: 1 } },
        { type: 'raw', part: 8 },
      ],
      /More than strings/,
    ],
    ['a block less', [], /A block is missing/],
  ])("is rejected if the change can't be expressed: %s", (_, content, message) => {
    const view = original.with(1, { role: 'assistant', content } as ApiMessage);
    expect(() => written(view, [0, 1, 2])).toThrow(WireError);
    expect(() => written(view, [0, 1, 2])).toThrow(message);
  });

  it.each<[string, readonly ApiMessage[], readonly number[], RegExp]>([
    ['more messages than origins', original, [0, 1], /not one of this request/],
    ['no last message', original.slice(0, 2), [0, 1], /Message 2 is missing/],
    ['a summary of nothing', [...original, said('s')], [0, 1, 2, SUMMARY_ORIGIN], /can not be written/],
    ['a summary with an image', [said([{ type: 'image' }]), original[2]!], [SUMMARY_ORIGIN, 2], /can not be written/],
  ])('is rejected as a whole if it would be invalid: %s', (_, view, origins, message) => {
    expect(() => written(view, origins)).toThrow(message);
  });

  it('succeeds if the conversation ends with a plain-text summary', () => {
    expect(written([original[0]!, said('All done.')], [0, SUMMARY_ORIGIN]).messages).toEqual([
      { role: 'user', content: 'a' },
      { role: 'user', content: [{ type: 'text', text: 'All done.' }] },
    ]);
  });

  it('changes nothing before the given position', () => {
    const other = said('not the one that stands there');
    expect(written([other, ...original.slice(1)], [0, 1, 2], { view: 1, original: 1 })).toEqual(body);
  });
});
