import * as http from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { callsTool, makeErrorResponse, reply } from '../../test/servers/behaviour';
import { startGeminiServer, type GeminiServerOptions } from '../../test/servers/geminiServer';
import type { ModelServer } from '../../test/servers/modelServer';
import { convertMessages, createGeminiHandler } from './gemini';
import { createVertexHandler } from './vertex';
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

async function start(options: GeminiServerOptions = {}, model = 'gemini-3.5-flash') {
  open = await startGeminiServer({ apiKey: TEST_API_KEY, strict: { signatures: true }, ...options });
  const handler = createGeminiHandler({
    apiKey: TEST_API_KEY,
    baseUrl: open.url,
    model: { id: model },
    counter,
    retry: { retries: 0 },
  });
  return { server: open, handler };
}

describe('the Gemini handler', () => {
  it("streams the reply's text, token usage and end", async () => {
    const { handler, server } = await start({ script: { ...reply(['Hel', 'lo']), thinking: 'so' } });
    const {
      events,
      text: words,
      error,
    } = await collectOutcome(
      handler.stream({ messages: [user('hello')], system: 'Be short.', temperature: 0.5, maxOutputTokens: 100 }),
    );
    expect(error).toBeUndefined();
    expect(words).toBe('Hello');
    expect(events.at(-1)).toEqual({ type: 'end', stopReason: 'end_turn' });
    expect(findEvent(events, 'usage')?.usage).toMatchObject({ accounting: 'openai', source: 'reported' });
    expect(findEvent(events, 'usage')?.usage.outputTokens).toBeGreaterThan(server.tokensOf('Hello'));
    expect(server.requests[0]?.body).toMatchObject({ generationConfig: { temperature: 0.5, maxOutputTokens: 100 } });
    expect(JSON.stringify(server.requests[0]?.headers)).toContain(TEST_API_KEY);
    expect(server.requests[0]?.path).not.toContain(TEST_API_KEY);
  });

  it('sends calls back with their signatures, their results, and images', async () => {
    const { handler, server } = await start({
      script: [
        callsTool({ name: 'read_file', input: { path: 'a' } }, { name: 'read_file', input: {} }),
        reply('Done.'),
      ],
    });
    const tools = [READ_FILE_TOOL];
    const { events } = await collectOutcome(handler.stream({ messages: [user('go')], tools, toolChoice: 'required' }));
    const calls = events.flatMap((event) => (event.type === 'tool_call' ? [event] : []));
    const block = findEvent(events, 'block')?.block;
    expect(calls.map(({ input }) => input)).toEqual([{ path: 'a' }, {}]);
    const messages = [
      user('go'),
      assistant([block!, ...calls.map(({ id, input }) => call(id, input))]),
      user([result(calls[0]!.id, 'one'), result(calls[1]!.id, [text('two'), imageBlock])]),
    ];
    expect((await collectOutcome(handler.stream({ messages, tools }))).text).toBe('Done.');
    // A history from another model has no signatures. This one also has two consecutive user
    // messages.
    const external = [user('go'), assistant([call('x')]), user([result('x')]), user('and?')];
    expect((await collectOutcome(handler.stream({ messages: external, tools }))).error).toBeUndefined();
    expect(server.requests.map(({ status }) => status)).toEqual([200, 200, 200]);
  });

  it.each([
    ['max-tokens', 'max_tokens'],
    ['refusal', 'refusal'],
  ] as const)('reports the stop reason of an answer that ends with %s', async (stop, stopReason) => {
    const { handler } = await start({ script: { ...reply('Half'), stop } });
    const { events } = await collectOutcome(handler.stream({ messages: [user('hi')] }));
    expect(events.at(-1)).toEqual({ type: 'end', stopReason });
  });

  it('distinguishes a wrong key, a missing model and a prompt that is too long', async () => {
    const { handler, server } = await start({ maxContextTokens: 100 });
    const { error } = await collectOutcome(handler.stream({ messages: [user('x'.repeat(4_000))] }));
    expect(error).toMatchObject({ kind: 'context-too-long', details: { overflow: { limit: 100 } } });
    server.play(makeErrorResponse(404, 'NOT_FOUND', 'models/x is not found for API version v1beta'));
    expect((await collectOutcome(handler.stream({ messages: [user('hi')] }))).error?.kind).toBe('model');
    const other = createGeminiHandler({ apiKey: 'wrong', baseUrl: server.url, model: { id: 'm' }, counter });
    expect((await collectOutcome(other.stream({ messages: [user('hi')] }))).error?.kind).toBe('auth');
  });

  it('ends the request on a cancellation', async () => {
    const { handler } = await start({ script: { kind: 'never' } });
    const abort = new AbortController();
    const asked = collectOutcome(handler.stream({ messages: [user('hi')] }, abort.signal));
    abort.abort();
    expect((await asked).error?.kind).toBe('aborted');
  });
});

it("Gemini on Vertex AI is called at Vertex's address with an access token", async () => {
  open = await startGeminiServer({ apiKey: 'ya29.token', script: reply('ok') });
  const handler = createVertexHandler({
    projectId: 'proj',
    region: 'europe-west1',
    credentials: { accessToken: 'ya29.token' },
    baseUrl: `${open.url}/v1`,
    model: { id: 'gemini-3.5-flash' },
    counter,
  });
  expect(await collectOutcome(handler.stream({ messages: [user('hello')] }))).toMatchObject({
    text: 'ok',
    error: undefined,
  });
  expect(open.requests[0]?.path).toContain(
    '/v1/projects/proj/locations/europe-west1/publishers/google/models/gemini-3.5-flash:streamGenerateContent',
  );
  expect(handler.modelInfo).toMatchObject({ vendor: 'vertex', accounting: 'openai' });
});

it.each([
  ['auto', { mode: 'AUTO' }],
  ['none', { mode: 'NONE' }],
  [{ name: 'read_file' }, { mode: 'ANY', allowedFunctionNames: ['read_file'] }],
] as const)(
  "the Gemini handler sends the tool choice in Gemini's form: %j",
  async (toolChoice, functionCallingConfig) => {
    const { handler, server } = await start({ script: reply('ok') });
    const system = [text('One.'), text(' '), text('Two.')] as { type: 'text'; text: string }[];
    await collectOutcome(handler.stream({ messages: [user('go')], tools: [READ_FILE_TOOL], toolChoice, system }));
    expect(server.requests[0]?.body).toMatchObject({
      toolConfig: { functionCallingConfig },
      systemInstruction: { parts: [{ text: 'One.\n\nTwo.' }] },
    });
  },
);

it('the Gemini handler converts unusual history into the form that Gemini accepts', () => {
  const pdf = { type: 'base64', media_type: 'application/pdf', data: 'QUJD' };
  const messages = [
    user([{ type: 'document', source: pdf }, text('')]),
    assistant([{ type: 'thinking', thinking: 'Hm', signature: 's' }]),
    assistant([call('a', 'no object')]),
    user([
      { ...result('a', 'failed'), is_error: true },
      { type: 'tool_result', tool_use_id: 'b' },
    ]),
  ];
  expect(convertMessages({ messages }, 'gemini-2.5-pro')).toEqual([
    { role: 'user', parts: [{ inlineData: { mimeType: 'application/pdf', data: 'QUJD' } }] },
    { role: 'model', parts: [{ functionCall: { name: 'read_file', args: {} } }] },
    {
      role: 'user',
      parts: [
        { functionResponse: { name: 'read_file', response: { error: 'failed' } } },
        // The history lacks this result's call.
        { functionResponse: { name: 'unknown', response: { output: '' } } },
      ],
    },
  ]);
});

describe('the end of a Gemini stream', () => {
  /** Streams responses as in Gemini's reference. */
  async function streamResponses(...chunks: readonly object[]) {
    const server = http.createServer((request, response) => {
      request.resume();
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\r\n\r\n`).join(''));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => {
      server.close();
      server.closeAllConnections();
    });
    const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const handler = createGeminiHandler({
      apiKey: TEST_API_KEY,
      baseUrl,
      model: { id: 'm' },
      counter,
      retry: { retries: 0 },
    });
    return collectOutcome(handler.stream({ messages: [user('go')] }));
  }

  it.each([
    ['refused before an answer', [{ promptFeedback: { blockReason: 'OTHER' } }], 'refusal'],
    ['by a filter', [{ candidates: [{ finishReason: 'SAFETY' }] }], 'refusal'],
    ['for a reason that is new', [{ candidates: [{ finishReason: 'SOMETHING_NEW' }] }], 'other'],
    [
      'said before the last chunk',
      [
        { candidates: [{ content: { parts: [{ text: '' }, { text: 'a' }] }, finishReason: 'STOP' }] },
        { usageMetadata: { promptTokenCount: 1 } },
      ],
      'end_turn',
    ],
    [
      'with a call without name and arguments',
      [{ candidates: [{ content: { parts: [{ functionCall: {} }] }, finishReason: 'STOP' }] }],
      'tool_use',
    ],
  ])('gives the stop reason of an answer that ended %s', async (_, chunks, stopReason) => {
    expect((await streamResponses(...chunks)).events.at(-1)).toEqual({ type: 'end', stopReason });
  });

  it('is a protocol error if the model wrote a malformed call', async () => {
    const { error } = await streamResponses({ candidates: [{ finishReason: 'MALFORMED_FUNCTION_CALL' }] });
    expect(error?.kind).toBe('protocol');
  });
});
