import { afterEach, describe, expect, it, vi } from 'vitest';
import { callsTool, refused, reply } from '../../test/servers/behaviour';
import type { ModelServer } from '../../test/servers/modelServer';
import { startOpenAIServer, type OpenAIServerOptions } from '../../test/servers/openaiServer';
import { fromOpenAI } from '../conversations/openai';
import { openaiHandler, type OpenAIOptions } from './openai';
import {
  assistant,
  call,
  counter,
  eventOf,
  image,
  KEY,
  outcomeOf,
  PNG,
  READ_FILE,
  result,
  text,
  user,
} from './testing';
import type { ApiHandler, ApiRequest } from './types';
import { promptTokens, uncachedInputTokens } from '../core/cost/usage';

let open: ModelServer | undefined;
afterEach(async () => {
  vi.unstubAllEnvs();
  await open?.close();
});

async function start(
  server: OpenAIServerOptions = {},
  options: Partial<OpenAIOptions> = {},
): Promise<{ server: ModelServer; handler: ApiHandler }> {
  open = await startOpenAIServer({ apiKey: KEY, ...server });
  const handler = openaiHandler({
    apiKey: KEY,
    baseUrl: `${open.url}/v1`,
    model: { id: 'gpt-4o' },
    counter,
    ...options,
  });
  return { server: open, handler };
}

const hello: ApiRequest = { messages: [user('hello')] };
const history = [user('Read a.ts'), assistant([call('call_1', { path: 'a.ts' })]), user([result('call_1')])];
const ephemeral = { cache_control: { type: 'ephemeral' } };

describe('Chat Completions', () => {
  it('streams text, thinking, usage and the end', async () => {
    const { handler, server } = await start({ script: reply(['Hel', 'lo'], { thinking: 'Hm.' }) });
    const { events, error } = await outcomeOf(
      handler.stream({ ...hello, system: 'Be short.', maxOutputTokens: 500, temperature: 0 }),
    );
    expect(error).toBeUndefined();
    expect(events).toEqual([
      { type: 'thinking', text: 'Hm.' },
      { type: 'text', text: 'Hel' },
      { type: 'text', text: 'lo' },
      {
        type: 'usage',
        usage: {
          accounting: 'openai',
          source: 'reported',
          inputTokens: server.tokensOf('hello') + server.tokensOf('Be short.') + 8,
          outputTokens: server.tokensOf('Hello') + server.tokensOf('Hm.'),
          cacheReadTokens: 0,
          cacheWriteTokens: 0,
          reasoningTokens: server.tokensOf('Hm.'),
        },
      },
      { type: 'end', stopReason: 'end_turn' },
    ]);
    expect(server.requests[0]?.body).toMatchObject({
      messages: [
        { role: 'system', content: 'Be short.' },
        { role: 'user', content: 'hello' },
      ],
      max_tokens: 500,
      temperature: 0,
    });
  });

  it('sends calls back byte for byte, and results as the role tool', async () => {
    const { handler, server } = await start({
      script: [
        callsTool({ name: 'read_file', input: '{"path":  "a.ts"}' }, { name: 'read_file', input: '{}' }),
        reply('Done.'),
      ],
    });
    const request = {
      messages: [user('Read')],
      tools: [READ_FILE, { name: 'web_search', type: 'web_search_20250305' }],
    };
    const { events } = await outcomeOf(handler.stream(request));
    const calls = events.filter((event) => event.type === 'tool_call');
    expect(calls).toMatchObject([
      { input: { path: 'a.ts' }, rawArguments: '{"path":  "a.ts"}' },
      { input: {}, rawArguments: '{}' },
    ]);
    expect(eventOf(events, 'end')?.stopReason).toBe('tool_use');
    const messages = [
      user('Read'),
      assistant([
        { type: 'thinking', thinking: 'x', signature: 's' },
        text('So.'),
        text('Now.'),
        ...calls.map(({ id, input, name, rawArguments }) => ({ ...call(id, input, name), rawArguments, ts: 5 })),
      ]),
      user([
        ...calls.map(({ id }) => ({ ...result(id, [text('seen'), image, { type: 'odd' }]), ...ephemeral })),
        text('go on'),
      ]),
      assistant([{ type: 'thinking', thinking: 'only thought', signature: 's' }]),
    ];
    expect((await outcomeOf(handler.stream({ ...request, messages }))).text).toBe('Done.');
    expect(server.requests[1]?.body['tools']).toHaveLength(1);
    expect(server.requests[1]?.body['messages']).toEqual([
      { role: 'user', content: 'Read' },
      {
        role: 'assistant',
        content: 'So.\nNow.',
        tool_calls: calls.map(({ id, rawArguments }) => ({
          id,
          type: 'function',
          function: { name: 'read_file', arguments: rawArguments },
        })),
      },
      { role: 'tool', tool_call_id: calls[0]?.id, content: 'seen\n[image 1, shown below]\n{"type":"odd"}' },
      { role: 'tool', tool_call_id: calls[1]?.id, content: 'seen\n[image 2, shown below]\n{"type":"odd"}' },
      {
        role: 'user',
        content: [
          text('go on'),
          text('Images of the results above:'),
          ...[1, 2].map(() => ({ type: 'image_url', image_url: { url: `data:image/png;base64,${PNG}` } })),
        ],
      },
    ]);
  });

  it('sends images, files and what OpenAI itself gave', async () => {
    const { handler, server } = await start();
    const raw = [
      { role: 'developer', content: 'Rules.', name: 'boss' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'hear' },
          { type: 'input_audio', input_audio: { data: 'AA==', format: 'wav' } },
        ],
      },
      { role: 'assistant', content: 'Yes', refusal: null, annotations: [], ts: 3 },
    ];
    const pdf = {
      type: 'document',
      title: 'a.pdf',
      source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERg==' },
    };
    const note = { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'words' } };
    const other = { type: 'document', source: { type: 'file', file_id: 'f' } };
    const url = { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } };
    const messages = [
      ...fromOpenAI(raw),
      { ...user([pdf, note, other, url, { ...text('see'), ...ephemeral }]), ts: 1 },
    ];
    expect(
      (await outcomeOf(handler.stream({ messages, system: [text('a') as never, text('b') as never] }))).error,
    ).toBeUndefined();
    expect(server.requests[0]?.body['messages']).toEqual([
      { role: 'system', content: 'a\nb' },
      { role: 'developer', content: 'Rules.', name: 'boss' },
      raw[1],
      { role: 'assistant', content: 'Yes', refusal: null },
      {
        role: 'user',
        content: [
          { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERg==' } },
          text('words'),
          text(JSON.stringify(other)),
          { type: 'image_url', image_url: { url: 'https://example.com/a.png' } },
          text('see'),
        ],
      },
    ]);
  });

  it('reports what the prompt cache held, within the input', async () => {
    const { handler } = await start();
    const messages = [user('x'.repeat(8000))];
    await outcomeOf(handler.stream({ messages }));
    const { events } = await outcomeOf(handler.stream({ messages: [...messages, assistant('ok'), user('next')] }));
    const usage = eventOf(events, 'usage')?.usage;
    expect(usage).toMatchObject({ accounting: 'openai', inputTokens: 2215, cacheReadTokens: 2176 });
    expect(usage && promptTokens(usage)).toBe(2215);
    expect(usage && uncachedInputTokens(usage)).toBe(39);
  });

  it.each([
    ['required', 'required'],
    [{ name: 'read_file' }, { type: 'function', function: { name: 'read_file' } }],
  ] as const)('asks for the tool choice %j', async (toolChoice, sent) => {
    const { handler, server } = await start();
    await outcomeOf(
      handler.stream({
        ...hello,
        tools: [{ name: 'read_file', input_schema: {} }],
        toolChoice,
        extraBody: { seed: 1 },
      }),
    );
    expect(server.requests[0]?.body).toMatchObject({ tool_choice: sent, seed: 1 });
  });

  it('counts what the server does not report, and estimates beforehand', async () => {
    const { handler } = await start({ quirks: { noUsage: true }, script: reply('12345678') });
    const { events } = await outcomeOf(handler.stream(hello));
    expect(eventOf(events, 'usage')?.usage).toEqual({
      accounting: 'openai',
      source: 'counted',
      inputTokens: 6,
      outputTokens: 2,
      cacheReadTokens: 0,
      cacheWriteTokens: 0,
    });
    expect(await handler.countTokens(hello)).toEqual({ tokens: 6, exact: false });
    expect(handler.modelInfo).toEqual({ id: 'gpt-4o', vendor: 'openai', accounting: 'openai' });
  });

  it.each<[string, OpenAIServerOptions['quirks'], ApiRequest, number]>([
    ['max_completion_tokens', { maxTokensField: 'max_completion_tokens' }, { ...hello, maxOutputTokens: 9 }, 2],
    ['no stream_options', { noStreamOptions: true }, hello, 2],
    ['no temperature', { noTemperature: true }, { ...hello, temperature: 0 }, 2],
    [
      'no system role',
      { noSystemRole: true, alternateRoles: true },
      {
        system: 's',
        messages: [user('a'), user([image]), { role: 'system', content: 'late' }, assistant('b'), assistant('c')],
      },
      2,
    ],
    ['roles in turn', { alternateRoles: true }, { system: 's', messages: [user('a'), user('b'), assistant('c')] }, 2],
    [
      'all at once',
      { maxTokensField: 'max_completion_tokens', noStreamOptions: true, noTemperature: true },
      { ...hello, temperature: 0, maxOutputTokens: 9 },
      4,
    ],
  ])('learns from the refusals of a server: %s', async (_, quirks, request, requests) => {
    const { handler, server } = await start({ quirks: { ...quirks } });
    const first = await outcomeOf(handler.stream(request));
    expect(first.error).toBeUndefined();
    expect(first.text).toBe('ok');
    expect(server.requests).toHaveLength(requests);
    expect((await outcomeOf(handler.stream(request))).text).toBe('ok');
    expect(server.requests).toHaveLength(requests + 1);
  });

  it('calls that run side by side all learn', async () => {
    const { handler } = await start({ quirks: { maxTokensField: 'max_completion_tokens', noStreamOptions: true } });
    const request = { ...hello, maxOutputTokens: 9 };
    const asked = await Promise.all([1, 2, 3, 4].map(() => outcomeOf(handler.stream(request))));
    expect(asked.map(({ text }) => text)).toEqual(['ok', 'ok', 'ok', 'ok']);
  });

  it('learns nothing from a refusal that it can do nothing about', async () => {
    const { handler, server } = await start({
      script: refused(400, 'invalid_request_error', 'temperature must be 1; max_tokens too'),
    });
    expect((await outcomeOf(handler.stream(hello))).error?.kind).toBe('invalid-request');
    expect(server.requests.length).toBeLessThan(8);
  });

  it.each<[string, OpenAIServerOptions['quirks']]>([
    ['Ollama', { callIndex: 'zero', stopForCalls: true, reasoningField: 'reasoning' }],
    ['a gateway to Gemini', { callIndex: 'none' }],
  ])('understands the calls of %s', async (_, quirks) => {
    const script = { ...callsTool({ name: 'a', input: {} }, { name: 'b', input: { x: 1 } }), thinking: 'Hm.' };
    const { handler } = await start({ quirks: { ...quirks }, script });
    const { events } = await outcomeOf(handler.stream(hello));
    expect(events.filter(({ type }) => type === 'tool_call')).toMatchObject([
      { name: 'a' },
      { name: 'b', input: { x: 1 } },
    ]);
    expect(eventOf(events, 'end')?.stopReason).toBe('tool_use');
    expect(eventOf(events, 'thinking')?.text).toBe('Hm.');
  });

  it('gives a call an id where the server has none, and keeps arguments that are no JSON', async () => {
    const { handler } = await start({ quirks: { noCallIds: true }, script: callsTool({ name: 'a', input: '{"x": ' }) });
    const { events } = await outcomeOf(handler.stream(hello));
    expect(eventOf(events, 'tool_call')).toMatchObject({
      id: expect.stringMatching(/^call_[\w-]{36}$/),
      input: { invalidArguments: '{"x": ' },
      rawArguments: '{"x": ',
    });
  });

  it.each([
    ['max-tokens', 'max_tokens'],
    ['filter', 'refusal'],
    ['refusal', 'refusal'],
  ] as const)('tells the stop reason %s', async (stop, stopReason) => {
    const { handler } = await start({ script: reply('Well', { stop }) });
    const { events, text: words } = await outcomeOf(handler.stream(hello));
    expect(eventOf(events, 'end')).toEqual({ type: 'end', stopReason });
    expect(words).toBe('Well');
  });

  it('signs in as Azure wants it, with the query of the base URL', async () => {
    const { handler, server } = await start({}, {});
    await outcomeOf(handler.stream(hello));
    expect(server.requests[0]?.headers.authorization).toBe(`Bearer ${KEY}`);
    const fetched = vi.spyOn(globalThis, 'fetch').mockRejectedValue(new Error('no network here'));
    const azure = openaiHandler({
      apiKey: KEY,
      baseUrl: 'https://mine.openai.azure.com/openai/deployments/gpt?api-version=2025-01-01',
      model: { id: 'gpt-4o' },
      counter,
      retry: { retries: 0 },
    });
    await outcomeOf(azure.stream({ ...hello, maxOutputTokens: 5 }));
    const [url, init] = fetched.mock.calls[0] ?? [];
    const headers = new Headers(init?.headers);
    fetched.mockRestore();
    expect(url).toBe('https://mine.openai.azure.com/openai/deployments/gpt/chat/completions?api-version=2025-01-01');
    expect(headers.get('api-key')).toBe(KEY);
    expect(headers.has('authorization')).toBe(false);
    expect(init?.body).toContain('"max_completion_tokens":5');
    expect(init?.redirect).toBe('manual');
  });

  it('keeps cache marks for OpenRouter, and takes its costs', async () => {
    const fetched = vi
      .spyOn(globalThis, 'fetch')
      .mockImplementation(() =>
        Promise.resolve(
          new Response(
            ': OPENROUTER PROCESSING\n\ndata: {"choices":[{"delta":{"content":"ok"},"finish_reason":"stop"}]}\n\ndata: {"choices":[],"usage":{"prompt_tokens":50,"completion_tokens":1,"cost":0.0012,"prompt_tokens_details":{"cached_tokens":10,"cache_write_tokens":30}}}\n\ndata: [DONE]\n\n',
            { headers: { 'content-type': 'text/event-stream' } },
          ),
        ),
      );
    const handler = openaiHandler({
      apiKey: KEY,
      baseUrl: 'https://openrouter.ai/api/v1',
      model: { id: 'anthropic/claude' },
      counter,
    });
    const { events } = await outcomeOf(handler.stream({ messages: [user([{ ...text('a'), ...ephemeral }])] }));
    const body = JSON.stringify(fetched.mock.calls[0]?.[1]);
    fetched.mockRestore();
    expect(body).toContain('cache_control');
    expect(eventOf(events, 'usage')?.usage).toMatchObject({
      inputTokens: 50,
      cacheReadTokens: 10,
      cacheWriteTokens: 30,
      costUsd: 0.0012,
    });
  });

  it('needs no key for a local server, and takes none from the environment', async () => {
    vi.stubEnv('OPENAI_API_KEY', 'other-key-of-the-environment');
    vi.stubEnv('OPENAI_ORG_ID', 'org-other');
    vi.stubEnv('OPENAI_CUSTOM_HEADERS', 'X-Secret: not-for-you');
    open = await startOpenAIServer();
    const handler = openaiHandler({
      baseUrl: `${open.url}/v1/`,
      model: { id: 'llama' },
      counter,
      headers: { 'x-title': 'ours' },
    });
    expect((await outcomeOf(handler.stream(hello))).error).toBeUndefined();
    expect(open.requests[0]?.headers).toMatchObject({ 'x-title': 'ours' });
    for (const header of ['authorization', 'openai-organization', 'x-secret']) {
      expect(open.requests[0]?.headers).not.toHaveProperty(header);
    }
  });

  it.each<[string, OpenAIServerOptions, ApiRequest]>([
    ['auth', { apiKey: 'another-key' }, hello],
    ['context-too-long', { maxContextTokens: 50 }, { messages: [user('x'.repeat(1000))] }],
    [
      'context-too-long',
      { maxContextTokens: 50, quirks: { plainErrors: true } },
      { messages: [user('x'.repeat(1000))] },
    ],
    [
      'quota',
      { script: refused(429, 'insufficient_quota', 'You exceeded your current quota', { code: 'insufficient_quota' }) },
      hello,
    ],
    ['quota', { script: refused(402, 'x', 'Insufficient credits') }, hello],
    ['refusal', { script: refused(400, 'x', 'Filtered', { code: 'content_filter' }) }, hello],
    ['model', { script: refused(404, 'x', 'The model `gpt-9` does not exist', { code: 'model_not_found' }) }, hello],
    ['model', { script: refused(400, 'x', 'model "llama9" not found, try pulling it first') }, hello],
  ])('tells %s', async (kind, options, request) => {
    const { handler, server } = await start(options);
    const { error } = await outcomeOf(handler.stream(request));
    expect(error).toMatchObject({ kind, canRetry: false, offerOtherProfile: true });
    expect(error?.message).not.toContain(KEY);
    expect(server.requests).toHaveLength(1);
  });
});

describe('Responses', () => {
  const responses = { api: 'responses' } as const;

  it('streams thinking, calls and text; encrypted reasoning goes back and is verified', async () => {
    const script = [
      { ...callsTool({ name: 'read_file', input: '{"path":  "a.ts"}' }), thinking: 'Let me see.' },
      reply(['Do', 'ne.']),
    ];
    const { handler, server } = await start({ script }, responses);
    const request: ApiRequest = {
      system: 'Be short.',
      messages: [user('Read a.ts')],
      tools: [READ_FILE, { name: 'search', type: 'x' }],
      maxOutputTokens: 99,
      temperature: 1,
      toolChoice: 'auto',
    };
    const { events } = await outcomeOf(handler.stream(request));
    const called = eventOf(events, 'tool_call');
    expect(called).toMatchObject({ name: 'read_file', input: { path: 'a.ts' }, rawArguments: '{"path":  "a.ts"}' });
    expect(eventOf(events, 'thinking')?.text).toBe('Let me see.');
    expect(eventOf(events, 'end')?.stopReason).toBe('tool_use');
    const reasoning = eventOf(events, 'block')?.block ?? text('');
    expect(reasoning.type).toBe('openai_reasoning');
    const answered = (block = reasoning) => [
      user('Read a.ts'),
      assistant([
        block,
        { type: 'thinking', thinking: 'not theirs' },
        text('So.'),
        { ...call(called?.id ?? '', called?.input), rawArguments: called?.rawArguments },
      ]),
      user([result(called?.id ?? '', [text('seen'), image]), text('go on'), image]),
      assistant('Hm'),
      user([{ type: 'document', source: { type: 'text', data: 'words' } }]),
    ];
    const second = await outcomeOf(handler.stream({ ...request, messages: answered() }));
    expect(second.text).toBe('Done.');
    expect(eventOf(second.events, 'usage')?.usage).toMatchObject({
      accounting: 'openai',
      source: 'reported',
      outputTokens: server.tokensOf('Done.'),
    });
    expect(server.requests[1]?.body).toMatchObject({
      instructions: 'Be short.',
      store: false,
      max_output_tokens: 99,
      temperature: 1,
      tool_choice: 'auto',
    });
    const imageItem = { type: 'input_image', image_url: `data:image/png;base64,${PNG}`, detail: 'auto' };
    expect(server.requests[1]?.body['input']).toEqual([
      { role: 'user', content: 'Read a.ts' },
      reasoning['item'],
      { role: 'assistant', content: [{ type: 'output_text', text: 'So.' }] },
      { type: 'function_call', call_id: called?.id, name: 'read_file', arguments: '{"path":  "a.ts"}' },
      { type: 'function_call_output', call_id: called?.id, output: [{ type: 'input_text', text: 'seen' }, imageItem] },
      { role: 'user', content: [{ type: 'input_text', text: 'go on' }, imageItem] },
      { role: 'assistant', content: 'Hm' },
      { role: 'user', content: [{ type: 'input_text', text: 'words' }] },
    ]);
    const item = { ...(reasoning['item'] as object), encrypted_content: 'changed.x' };
    const forged = await outcomeOf(handler.stream({ ...request, messages: answered({ ...reasoning, item }) }));
    expect(forged.error?.message).toContain('could not be verified');
  });

  it.each([
    ['max-tokens', 'max_tokens'],
    ['filter', 'refusal'],
    ['refusal', 'refusal'],
    ['end', 'end_turn'],
  ] as const)('tells the stop reason %s', async (stop, stopReason) => {
    const { handler } = await start({ script: reply('Well', { stop }) }, responses);
    expect(eventOf((await outcomeOf(handler.stream(hello))).events, 'end')).toEqual({ type: 'end', stopReason });
  });

  it('learns that a model does not reason', async () => {
    const quirks = { noReasoning: true, noTemperature: true };
    const { handler, server } = await start({ quirks }, responses);
    expect((await outcomeOf(handler.stream({ ...hello, temperature: 0 }))).text).toBe('ok');
    expect(server.requests).toHaveLength(3);
    expect(server.requests[2]?.body).not.toHaveProperty('include');
    expect((await outcomeOf(handler.stream(hello))).text).toBe('ok');
    expect(server.requests).toHaveLength(4);
  });

  it('tells a filter that comes as an error event', async () => {
    const error = { type: 'invalid_request_error', code: 'content_policy_violation', message: 'No.' };
    const { handler } = await start(
      { script: reply(['a', 'b'], { fault: { kind: 'error', after: 1, error } }) },
      responses,
    );
    expect(
      (await outcomeOf(handler.stream({ ...hello, tools: [READ_FILE], toolChoice: { name: 'read_file' } }))).error
        ?.kind,
    ).toBe('refusal');
  });

  it.each<[string, ApiRequest]>([
    ['No tool call found', { messages: [user('x'), user([result('c1')])] }],
    ['No tool output found', { messages: [user('x'), assistant([call('c1')])] }],
    ['Duplicate function call', { messages: [user('x'), assistant([call('c1'), call('c1')]), user([result('c1')])] }],
    ['Duplicate output', { messages: [user('x'), assistant([call('c1')]), user([result('c1'), result('c1')])] }],
    ["Missing required parameter: 'input'", { messages: [] }],
    ['Unknown parameter', { ...hello, extraBody: { odd: 1 } }],
  ])('the server refuses: %s', async (words, request) => {
    const { handler } = await start({}, responses);
    const { error } = await outcomeOf(handler.stream(request));
    expect(error).toMatchObject({ kind: 'invalid-request', details: { status: 400 } });
    expect(error?.message).toContain(words);
  });

  it('tells a request that is too long', async () => {
    const { handler } = await start({ maxContextTokens: 50 }, responses);
    expect((await outcomeOf(handler.stream({ messages: [user('x'.repeat(900))] }))).error?.kind).toBe(
      'context-too-long',
    );
  });
});

describe('the server, through the SDK, refuses what Chat Completions refuse', () => {
  it.each<[string, RegExp, Partial<ApiRequest>]>([
    [
      'a call without its result',
      /did not have response messages: c1/,
      { messages: [user('x'), assistant([call('c1')]), user('y')] },
    ],
    ['a call at the end', /did not have response messages/, { messages: [user('x'), assistant([call('c1')])] }],
    [
      'a result without its call',
      /must be a response to a preceeding message/,
      { messages: [user('x'), user([result('c1')])] },
    ],
    [
      'two results of one call',
      /must be a response/,
      { messages: [user('x'), assistant([call('c1')]), user([result('c1'), result('c1')])] },
    ],
    ['ids used twice', /Duplicate or missing/, { messages: [...history, ...history.slice(1)] }],
    ['no messages', /empty array/, { messages: [] }],
    [
      'a tool without a schema',
      /Invalid 'tools\[0\]'/,
      { messages: [user('x')], tools: [{ name: '', input_schema: {} }] },
    ],
    ['a field that is unknown', /Unknown parameter: 'odd'/, { messages: [user('x')], extraBody: { odd: 1 } }],
    ['empty text in parts', /empty string/, { messages: [user([text(''), image])] }],
    ['a message without content', /empty array/, { messages: [user([])] }],
  ])('%s', async (_, words, request) => {
    const { handler } = await start();
    const { error } = await outcomeOf(handler.stream({ messages: [], ...request }));
    expect(error).toMatchObject({ kind: 'invalid-request', details: { status: 400 } });
    expect(error?.message).toMatch(words);
  });
});
