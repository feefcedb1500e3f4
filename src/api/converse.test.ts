import { afterEach, describe, expect, it } from 'vitest';
import { callsTool, makeErrorResponse, reply } from '../../test/servers/behaviour';
import { startConverseServer, type ConverseServerOptions } from '../../test/servers/converseServer';
import type { ModelServer } from '../../test/servers/modelServer';
import { createBedrockHandler } from './bedrock';
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

let open: ModelServer | undefined;
afterEach(async () => {
  await open?.close();
});

async function start(options: ConverseServerOptions = {}) {
  open = await startConverseServer({ apiKey: TEST_API_KEY, ...options });
  const handler = createBedrockHandler({
    region: 'eu-central-1',
    credentials: { apiKey: TEST_API_KEY },
    baseUrl: open.url,
    model: { id: 'amazon.nova-2-pro-v1:0' },
    counter,
    retry: { retries: 0 },
  });
  return { server: open, handler };
}

describe('the Bedrock Converse handler', () => {
  it("streams the reply's text, token usage and end", async () => {
    const { handler, server } = await start({ script: reply(['Hel', 'lo']) });
    const asked = { messages: [user('hello')], system: 'Be short.', temperature: 0.5, maxOutputTokens: 100 };
    const { events, text: words, error } = await collectOutcome(handler.stream(asked));
    expect(error).toBeUndefined();
    expect(words).toBe('Hello');
    expect(events.at(-1)).toEqual({ type: 'end', stopReason: 'end_turn' });
    expect(findEvent(events, 'usage')?.usage).toMatchObject({ accounting: 'anthropic', source: 'reported' });
    expect(server.requests[0]?.body).toMatchObject({ inferenceConfig: { maxTokens: 100, temperature: 0.5 } });
    expect(handler.modelInfo).toMatchObject({ vendor: 'bedrock', accounting: 'anthropic' });
  });

  it("sends calls, results, images and cache points in Converse's form", async () => {
    const { handler, server } = await start({
      script: [
        callsTool({ name: 'read_file', input: { path: 'a' } }, { name: 'read_file', input: {} }),
        reply('Done.'),
      ],
    });
    const tools = [READ_FILE_TOOL];
    const { events } = await collectOutcome(handler.stream({ messages: [user('go')], tools }));
    const calls = events.flatMap((event) => (event.type === 'tool_call' ? [event] : []));
    expect(calls.map(({ input }) => input)).toEqual([{ path: 'a' }, {}]);
    const mark = { cache_control: { type: 'ephemeral' } };
    const messages = [
      user('go'),
      assistant(calls.map(({ id, input }) => call(id, input))),
      user([
        { ...result(calls[0]!.id, ''), is_error: true },
        { ...result(calls[1]!.id, [text('two'), imageBlock]), ...mark },
      ]),
      user('and now'),
    ];
    const second = await collectOutcome(
      handler.stream({ messages, tools, system: [{ type: 'text', text: 'You.', ...mark }] }),
    );
    expect(second.error).toBeUndefined();
    expect(second.text).toBe('Done.');
    expect(JSON.stringify(server.requests[1]?.body).split('cachePoint')).toHaveLength(3);
  });

  it('asks Nova to cache the system prompt and messages for five minutes, but not tools', async () => {
    const { handler, server } = await start({ strict: { nova: true } });
    const mark = { cache_control: { type: 'ephemeral', ttl: '1h' } };
    const tools = [{ ...READ_FILE_TOOL, ...mark }];
    const system = [{ type: 'text' as const, text: 'You.', ...mark }];
    const { error } = await collectOutcome(
      handler.stream({ messages: [user([{ ...text('go'), ...mark }])], tools, system }),
    );
    expect(error).toBeUndefined();
    // The request was not rejected first and then repeated without cache points.
    expect(server.requests).toHaveLength(1);
    const point = { cachePoint: { type: 'default' } };
    expect(server.requests[0]?.body).toMatchObject({
      system: [{ text: 'You.' }, point],
      messages: [{ content: [{ text: 'go' }, point] }],
    });
  });

  it('distinguishes a prompt that is too long, too many requests and a wrong key', async () => {
    const { handler, server } = await start({ maxContextTokens: 100 });
    const { error } = await collectOutcome(handler.stream({ messages: [user('x'.repeat(4_000))] }));
    expect(error?.kind).toBe('context-too-long');
    server.play(makeErrorResponse(429, 'ThrottlingException', 'Too many tokens, please wait before trying again.'));
    expect((await collectOutcome(handler.stream({ messages: [user('hi')] }))).error?.kind).toBe('rate-limit');
  });

  it('ends the request on a cancellation', async () => {
    const { handler } = await start({ script: { kind: 'never' } });
    const abort = new AbortController();
    const asked = collectOutcome(handler.stream({ messages: [user('hi')] }, abort.signal));
    abort.abort();
    expect((await asked).error?.kind).toBe('aborted');
  });
});

it.each([
  ['required', { any: {} }],
  [{ name: 'read_file' }, { tool: { name: 'read_file' } }],
] as const)("the Bedrock handler sends the tool choice in Converse's form: %j", async (toolChoice, said) => {
  const { handler, server } = await start();
  const tools = [READ_FILE_TOOL];
  await collectOutcome(handler.stream({ messages: [user('go')], tools, toolChoice, extraBody: { top_k: 5 } }));
  expect(server.requests[0]?.body).toMatchObject({
    toolConfig: { toolChoice: said },
    additionalModelRequestFields: { top_k: 5 },
  });
});

it('the Bedrock handler converts unusual history into the form that Converse accepts', async () => {
  const { handler, server } = await start();
  const messages = [
    user([text('go'), { type: 'image', source: { type: 'url', url: 'https://e.invalid/a.png' } }]),
    assistant([{ type: 'thinking', thinking: 'Hm', signature: 's' }]),
    assistant([imageBlock, call('a', 'no object')]),
    user([{ type: 'tool_result', tool_use_id: 'a' }, text(' ')]),
  ];
  const { error } = await collectOutcome(handler.stream({ messages, tools: [READ_FILE_TOOL] }));
  expect(error).toBeUndefined();
  const { messages: sent } = server.requests[0]!.body as { messages: unknown[] };
  expect(sent).toMatchObject([
    // Converse accepts only base64 images.
    { role: 'user', content: [{ text: 'go' }, { text: expect.any(String) as string }] },
    // Converse accepts images only in user messages, and an input is always an object.
    { role: 'assistant', content: [{ text: '[image]' }, { toolUse: { toolUseId: 'a', input: {} } }] },
    // Neither texts nor results may be blank.
    { role: 'user', content: [{ toolResult: { toolUseId: 'a', content: [{ text: '(no output)' }] } }] },
  ]);
});
