import { afterEach, describe, expect, it, vi } from 'vitest';
import { startAnthropicServer, type AnthropicServerOptions } from '../../test/servers/anthropicServer';
import { callsTool, makeErrorResponse, reply } from '../../test/servers/behaviour';
import type { ModelServer } from '../../test/servers/modelServer';
import { createAnthropicHandler } from './anthropic';
import { ApiError } from './apiError';
import {
  assistant,
  call,
  counter,
  findEvent,
  imageBlock,
  TEST_API_KEY,
  collectOutcome,
  READ_FILE_TOOL,
  result,
  text,
  user,
} from './testing';
import type { ApiHandler, ApiRequest } from './types';
import { countPromptTokens, countUncachedInput } from '../core/cost/usage';

let server: ModelServer | undefined;
afterEach(async () => {
  vi.unstubAllEnvs();
  await server?.close();
  server = undefined;
});

async function start(options: AnthropicServerOptions = {}): Promise<{ server: ModelServer; handler: ApiHandler }> {
  server = await startAnthropicServer({ apiKey: TEST_API_KEY, ...options });
  return {
    server,
    handler: createAnthropicHandler({
      apiKey: TEST_API_KEY,
      baseUrl: server.url,
      model: { id: 'claude-sonnet-4' },
      counter,
    }),
  };
}

const hello: ApiRequest = { messages: [user('hello')] };
const history = [user('Read a.ts'), assistant([call('toolu_1', { path: 'a.ts' })]), user([result('toolu_1')])];

describe('the Anthropic handler', () => {
  it("streams the reply's text, token usage and end", async () => {
    const { handler, server } = await start({ script: reply(['Hel', 'lo']) });
    const { events, error } = await collectOutcome(handler.stream({ ...hello, system: 'Be short.', temperature: 0.5 }));
    expect(error).toBeUndefined();
    expect(events.filter(({ type }) => type !== 'usage')).toEqual([
      { type: 'text', text: 'Hel' },
      { type: 'text', text: 'lo' },
      { type: 'end', stopReason: 'end_turn' },
    ]);
    expect(findEvent(events, 'usage')?.usage).toEqual({
      accounting: 'anthropic',
      source: 'reported',
      inputTokens: server.tokensOf('hello') + 3 + server.tokensOf('Be short.') + 3,
      outputTokens: server.tokensOf('Hello'),
      cacheReadTokens: 0,
      cacheWriteTokens: 0,
    });
    expect(server.requests[0]?.body).toMatchObject({ system: 'Be short.', temperature: 0.5, max_tokens: 64_000 });
    expect(handler.modelInfo).toEqual({ id: 'claude-sonnet-4', vendor: 'anthropic', accounting: 'anthropic' });
  });

  it('sends thinking and calls back as received, with signatures that the server accepts', async () => {
    const { handler, server } = await start({
      script: [
        {
          ...callsTool({ name: 'read_file', input: '{"path":  "a.ts"}' }),
          thinking: 'Let me see.',
          hiddenThinking: 'secret',
        },
        reply('Done.'),
      ],
    });
    const first = {
      messages: [user('Read a.ts')],
      tools: [READ_FILE_TOOL],
      thinkingTokens: 1024,
      maxOutputTokens: 2000,
    };
    const { events } = await collectOutcome(handler.stream(first));
    const called = findEvent(events, 'tool_call');
    expect(called).toMatchObject({ name: 'read_file', input: { path: 'a.ts' }, rawArguments: '{"path":  "a.ts"}' });
    expect(findEvent(events, 'end')?.stopReason).toBe('tool_use');
    const blocks = events.flatMap((event) => (event.type === 'block' ? [event.block] : []));
    expect(blocks.map(({ type }) => type)).toEqual(['thinking', 'redacted_thinking']);
    const messages = [
      user('Read a.ts'),
      assistant([...blocks, call(called?.id ?? '', called?.input)]),
      user([result(called?.id ?? '')]),
    ];
    expect((await collectOutcome(handler.stream({ ...first, messages }))).text).toBe('Done.');
    const changed = blocks.map((block) => (block.type === 'thinking' ? { ...block, thinking: 'Let me see!' } : block));
    const forged = [user('Read a.ts'), assistant([...changed, call('t')]), user([result('t')])];
    const { error } = await collectOutcome(handler.stream({ ...first, messages: forged }));
    expect(error?.kind).toBe('invalid-request');
    expect(error?.message).toContain('Invalid `signature` in `thinking` block');
    expect(server.requests).toHaveLength(3);
  });

  it('learns from rejections that a model needs adaptive thinking and accepts no forced tool choice', async () => {
    const { handler, server } = await start({ adaptive: true, script: [callsTool({ name: 'read_file', input: {} })] });
    const request = {
      ...hello,
      tools: [READ_FILE_TOOL],
      thinkingTokens: 1024,
      maxOutputTokens: 2000,
      toolChoice: { name: 'read_file' },
    } as const;
    expect((await collectOutcome(handler.stream(request))).error).toBeUndefined();
    expect(server.requests).toHaveLength(3);
    expect(server.requests[2]?.body).toMatchObject({ thinking: { type: 'adaptive' }, tool_choice: { type: 'auto' } });
    await collectOutcome(handler.stream({ ...request, toolChoice: 'none' }));
    expect(server.requests.at(-1)?.body).toMatchObject({ tool_choice: { type: 'none' } });
    expect(server.requests).toHaveLength(4);
  });

  it('sends no fields of our own, and leaves the merging of consecutive messages of one role to the API', async () => {
    const { handler, server } = await start();
    const messages = [
      { ...user([{ ...text('one'), ts: 1 }]), ts: 12, isSummary: true, condenseId: 'c1' },
      user([imageBlock, { ...text('two'), cache_control: { type: 'ephemeral' } }]),
      { ...assistant([{ ...call('t1', { path: 'a' }), rawArguments: '{ }', openai: {} }]), uuid: 'u' },
      user([{ ...result('t1', [imageBlock, text('seen')]), ts: 4 }]),
    ];
    const { error } = await collectOutcome(
      handler.stream({ messages, tools: [{ ...READ_FILE_TOOL, ts: 1 }], toolChoice: 'auto' }),
    );
    expect(error).toBeUndefined();
    expect(JSON.stringify(server.requests[0]?.body)).not.toMatch(/"ts"|isSummary|condenseId|rawArguments|openai|uuid/);
    expect(server.requests[0]?.body['messages']).toHaveLength(4);
  });

  it('drops thinking that Anthropic did not sign, and replaces what only OpenAI understands with text', async () => {
    const { handler, server } = await start();
    const messages = [
      user('hi'),
      assistant([{ type: 'thinking', thinking: 'not signed' }]),
      assistant([{ type: 'openai_reasoning', item: {} }, text('yes')]),
      user([{ type: 'openai_part', part: { type: 'input_audio' } }]),
    ];
    expect((await collectOutcome(handler.stream({ messages }))).error).toBeUndefined();
    expect(server.requests[0]?.body['messages']).toEqual([
      { role: 'user', content: 'hi' },
      { role: 'assistant', content: [{ type: 'text', text: 'yes' }] },
      { role: 'user', content: [{ type: 'text', text: '{"type":"openai_part","part":{"type":"input_audio"}}' }] },
    ]);
  });

  it('moves leading system messages to the system prompt, and keeps later ones from separating a call from its result', async () => {
    const { handler, server } = await start();
    const system = (content: string) => ({ role: 'system', content }) as const;
    const [task, called, answered] = history as [(typeof history)[0], (typeof history)[0], (typeof history)[0]];
    const messages = [system('first'), task, system('a'), called, system('b'), answered, assistant('ok'), system('c')];
    expect(
      (await collectOutcome(handler.stream({ system: 'zero', messages, tools: [READ_FILE_TOOL] }))).error,
    ).toBeUndefined();
    expect(server.requests[0]?.body['system']).toEqual([text('zero'), text('first')]);
    expect(server.requests[0]?.body['messages']).toEqual([
      user([text('Read a.ts'), text('<system>\na\n</system>')]),
      called,
      user([result('toolu_1'), text('<system>\nb\n</system>')]),
      assistant('ok'),
      user([text('<system>\nc\n</system>')]),
    ]);
    await collectOutcome(handler.stream({ system: '  ', messages: [user('x')] }));
    expect(server.requests[1]?.body).not.toHaveProperty('system');
    await collectOutcome(
      handler.stream({
        system: [{ ...text('cached'), cache_control: { type: 'ephemeral' } } as never],
        messages: [user('x')],
      }),
    );
    expect(server.requests[2]?.body['system']).toEqual([
      { type: 'text', text: 'cached', cache_control: { type: 'ephemeral' } },
    ]);
  });

  it.each([
    ['required', { type: 'any' }],
    ['none', { type: 'none' }],
    [{ name: 'read_file' }, { type: 'tool', name: 'read_file' }],
  ] as const)("sends the tool choice %j in Anthropic's form", async (toolChoice, sent) => {
    const { handler, server } = await start();
    await collectOutcome(handler.stream({ ...hello, tools: [READ_FILE_TOOL], toolChoice, extraBody: { top_p: 0.9 } }));
    expect(server.requests[0]?.body).toMatchObject({ tool_choice: sent, top_p: 0.9 });
  });

  it('reports cached tokens', async () => {
    const { handler } = await start();
    const long = { ...text('x'.repeat(8000)), cache_control: { type: 'ephemeral' } };
    const messages = [user([long]), assistant('ok'), user('next')];
    const usages = [];
    for (const asked of [[user([long])], messages]) {
      usages.push(findEvent((await collectOutcome(handler.stream({ messages: asked }))).events, 'usage')?.usage);
    }
    expect(usages).toMatchObject([
      { inputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 2503 },
      { inputTokens: 9, cacheReadTokens: 2503, cacheWriteTokens: 0 },
    ]);
    const [, second] = usages;
    expect(second && countPromptTokens(second)).toBe(2512);
    expect(second && countUncachedInput(second)).toBe(9);
  });

  it('sends no key or header that environment variables set for another endpoint', async () => {
    vi.stubEnv('ANTHROPIC_CUSTOM_HEADERS', 'X-Secret: not-for-you\nX-Api-Key: other');
    vi.stubEnv('ANTHROPIC_AUTH_TOKEN', 'other-token');
    const { handler, server } = await start();
    expect((await collectOutcome(handler.stream(hello))).error).toBeUndefined();
    expect(server.requests[0]?.headers).toMatchObject({
      'x-api-key': TEST_API_KEY,
      authorization: `Bearer ${TEST_API_KEY}`,
    });
    expect(server.requests[0]?.headers).not.toHaveProperty('x-secret');
  });

  it.each([
    ['model', { models: ['claude-opus-4'] }, hello],
    ['context-too-long', { maxContextTokens: 100 }, { messages: [user('x'.repeat(1000))] }],
    ['context-too-long', { maxContextTokens: 10_000 }, { messages: [user('x')], maxOutputTokens: 20_000 }],
    ['auth', { apiKey: 'another-key' }, hello],
    [
      'quota',
      {
        script: makeErrorResponse(
          400,
          'invalid_request_error',
          'Your credit balance is too low to access the Anthropic API.',
        ),
      },
      hello,
    ],
    ['permission', { script: makeErrorResponse(403, 'permission_error', 'Not allowed.') }, hello],
  ] as const)('reports a rejection as the error kind "%s"', async (kind, options, request) => {
    const { handler } = await start(options);
    const { error, events } = await collectOutcome(handler.stream(request));
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({ kind, canRetry: false, offerOtherProfile: true });
    expect(events).toEqual([]);
  });
});

const marked = { ...text('x'), cache_control: { type: 'ephemeral' } };

describe('the Anthropic test server, called through the SDK,', () => {
  it.each<[string, RegExp, Partial<ApiRequest>]>([
    [
      'a call without its result',
      /without `tool_result` blocks immediately after: t1/,
      { messages: [user('x'), assistant([call('t1')]), user('y')], tools: [READ_FILE_TOOL] },
    ],
    [
      'a call at the end',
      /without `tool_result`/,
      { messages: [user('x'), assistant([call('t1')])], tools: [READ_FILE_TOOL] },
    ],
    [
      'a result without its call',
      /unexpected `tool_use_id`/,
      { messages: [user('x'), assistant('y'), user([result('t1')])], tools: [READ_FILE_TOOL] },
    ],
    [
      'two results of one call',
      /single result/,
      { messages: [user('x'), assistant([call('t1')]), user([result('t1'), result('t1')])], tools: [READ_FILE_TOOL] },
    ],
    [
      'a result behind text',
      /must come first/,
      { messages: [user('x'), assistant([call('t1')]), user([text('well'), result('t1')])], tools: [READ_FILE_TOOL] },
    ],
    ['empty text', /must be non-empty/, { messages: [user([text('')])] }],
    ['blank text', /non-whitespace/, { messages: [user([text(' \n')])] }],
    ['an empty message', /non-empty content/, { messages: [user(''), assistant('x')] }],
    ['a blank message', /non-whitespace/, { messages: [user('  ')] }],
    ['no content', /non-empty content/, { messages: [user([])] }],
    [
      'blank text in a result',
      /non-whitespace/,
      { messages: [user('x'), assistant([call('t1')]), user([result('t1', [text(' ')])])], tools: [READ_FILE_TOOL] },
    ],
    ['an assistant first', /first message must use the "user" role/, { messages: [assistant('x')] }],
    ['no messages', /at least one message/, { messages: [] }],
    ['tools not declared', /must define tools/, { messages: history }],
    ['too many breakpoints', /maximum of 4 blocks/, { messages: [user([marked, marked, marked, marked, marked])] }],
    [
      'an input that is no object',
      /valid dictionary/,
      { messages: [user('x'), assistant([call('t1', 'a.ts')]), user([result('t1')])], tools: [READ_FILE_TOOL] },
    ],
    [
      'ids used twice',
      /ids must be unique/,
      { messages: [...history, assistant([call('toolu_1')]), user([result('toolu_1')])], tools: [READ_FILE_TOOL] },
    ],
    [
      'an id of a wrong form',
      /should match pattern/,
      { messages: [user('x'), assistant([call('t 1')]), user([result('t 1')])], tools: [READ_FILE_TOOL] },
    ],
    [
      'an error without text',
      /cannot be empty/,
      {
        messages: [user('x'), assistant([call('t1')]), user([{ ...result('t1', ''), is_error: true }])],
        tools: [READ_FILE_TOOL],
      },
    ],
    [
      'an error with an image',
      /must be type `text`/,
      {
        messages: [user('x'), assistant([call('t1')]), user([{ ...result('t1', [imageBlock]), is_error: true }])],
        tools: [READ_FILE_TOOL],
      },
    ],
    [
      'an image without data',
      /invalid base64/,
      { messages: [user([{ type: 'image', source: { type: 'base64', media_type: 'image/tiff', data: '' } }])] },
    ],
    ['a call of the user', /can only be in `assistant`/, { messages: [user([call('t1')])] }],
    ['a result of the assistant', /can only be in `user`/, { messages: [user('x'), assistant([result('t1')])] }],
    [
      'a server call without its result',
      /no corresponding block/,
      {
        messages: [
          user('x'),
          assistant([{ type: 'server_tool_use', id: 's', name: 'web_search', input: {} }]),
          user('y'),
        ],
      },
    ],
    ['a block that is unknown', /Input tag 'odd'/, { messages: [user([{ type: 'odd' }])] }],
    [
      'two tools of one name',
      /names must be unique/,
      { messages: [user('x')], tools: [READ_FILE_TOOL, READ_FILE_TOOL] },
    ],
    ['a tool without a schema', /input_schema: Field required/, { messages: [user('x')], tools: [{ name: 'odd' }] }],
    ['a thinking budget too small', /greater than or equal to 1024/, { messages: [user('x')], thinkingTokens: 10 }],
    [
      'a temperature while thinking',
      /may only be set to 1/,
      { messages: [user('x')], thinkingTokens: 1024, temperature: 0 },
    ],
    [
      'thinking left out of an open turn',
      /Expected `thinking`/,
      {
        messages: history,
        tools: [READ_FILE_TOOL],
        extraBody: { thinking: { type: 'enabled', budget_tokens: 1024 } },
      },
    ],
    ['a field that is unknown', /Extra inputs/, { messages: [user('x')], extraBody: { odd: 1 } }],
  ])('rejects an invalid request: %s', async (_, words, request) => {
    const { handler, server } = await start();
    const { error } = await collectOutcome(handler.stream({ messages: [], ...request }));
    expect(error).toMatchObject({ kind: 'invalid-request', details: { status: 400 } });
    expect(error?.message).toMatch(words);
    expect(server.requests).toHaveLength(1);
  });

  it("accepts consecutive messages of the same role, as Anthropic's API does", async () => {
    const { handler } = await start();
    const messages = [
      user('x'),
      user('y'),
      assistant([call('t1')]),
      assistant([call('t2')]),
      user([result('t2')]),
      user([result('t1'), text('go')]),
      user('on'),
    ];
    expect((await collectOutcome(handler.stream({ messages, tools: [READ_FILE_TOOL] }))).error).toBeUndefined();
  });
});
