import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import * as vscode from 'vscode';
import { startAnthropicServer } from '../../test/servers/anthropicServer';
import {
  callsTool,
  makeFaultyReply,
  neverAnswer,
  makeOverloadedError,
  makeErrorResponse,
  reply,
  type Behaviour,
} from '../../test/servers/behaviour';
import type { ModelServer, Script } from '../../test/servers/modelServer';
import { startOpenAIServer } from '../../test/servers/openaiServer';
import { inTemporaryFolder } from '../../test/support/inTemporaryFolder';
import { TEST_API_KEY, TINY_PNG_BASE64, describeError } from '../api/testing';
import type { LmMessage, LmModel, LmPart } from '../api/vscodeLm';
import type { ApiProfile } from '../settings/profiles';
import { MAX_ATTEMPTS } from '../live/attempts';
import { createTestBed } from '../live/testing';
import type { AgentRequest, LiveId, PreparedRequest } from '../live/request';
import { makeChatMessage, FakeChat, readInformation, PassThroughConversations, createProvider } from './testing';
import { MARKER_START } from '../core/messages/markers';
import { makeLines, makeTestMarker } from '../core/testing';

const servers: ModelServer[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

async function anthropic(script: Script): Promise<ModelServer> {
  const server = await startAnthropicServer({ script, apiKey: TEST_API_KEY });
  servers.push(server);
  return server;
}

const profileOf = ({ url }: ModelServer, more: Partial<ApiProfile> = {}): ApiProfile => ({
  id: 'work',
  name: 'Claude Sonnet 4',
  vendor: 'anthropic',
  model: 'claude-sonnet-4-20250514',
  baseUrl: url,
  offerInChat: true,
  ...more,
});

async function chatOn(
  server: ModelServer,
  more: Partial<ApiProfile> = {},
  options: Parameters<typeof createProvider>[2] = {},
) {
  const live = new PassThroughConversations();
  const made = createProvider([profileOf(server, more)], live, { key: TEST_API_KEY, ...options });
  const [model] = await readInformation(made.provider);
  const chat = new FakeChat(made.provider, model!);
  chat.system('You are an agent.');
  chat.user('<environment_info>Linux</environment_info>');
  chat.user('<context>today</context><userRequest>Read both files</userRequest>');
  return { ...made, live, chat, model: model! };
}

const bodies = (server: ModelServer) => server.requests.map(({ body }) => body);
const statuses = (server: ModelServer) => server.requests.map(({ status }) => status);

describe('a chat conversation through the condensing provider', () => {
  it('reaches the model and returns to the chat, with calls, results and an image', async () => {
    const server = await anthropic([
      callsTool(
        { id: 'a1', name: 'read_file', input: { path: 'a' } },
        { id: 'a2', name: 'read_file', input: { path: 'b' } },
      ),
      reply(['both ', 'read']),
    ]);
    const { chat, live } = await chatOn(server);
    const { calls, text } = await chat.ask();
    expect([text, calls]).toEqual([
      '',
      [
        { id: 'a1', name: 'read_file', input: { path: 'a' } },
        { id: 'a2', name: 'read_file', input: { path: 'b' } },
      ],
    ]);
    chat.result(
      calls[1]!,
      new vscode.LanguageModelDataPart(Buffer.from(TINY_PNG_BASE64, 'base64'), 'image/png'),
      'an image',
    );
    chat.result(calls[0]!, 'content of a');
    expect((await chat.ask()).text).toBe('both read');
    expect(statuses(server)).toEqual([200, 200]);
    const [, second] = bodies(server);
    expect((second!['messages'] as unknown[]).slice(2)).toMatchObject([
      {
        role: 'assistant',
        content: [
          { type: 'tool_use', id: 'a1' },
          { type: 'tool_use', id: 'a2' },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'a1', content: 'content of a' },
          {
            type: 'tool_result',
            tool_use_id: 'a2',
            content: [{ type: 'image', source: { data: TINY_PNG_BASE64 } }, { text: 'an image' }],
          },
        ],
      },
    ]);
    expect(live.requests[1]).toMatchObject({
      conversationId: 'c1',
      title: 'Read both files',
      system: 'You are an agent.',
      model: { contextWindow: 200_000, maxOutputTokens: 64_000, cacheLifetime: '5m', tokenFactor: 1.18 },
    });
    expect(chat.data.at(-1)).toMatchObject(['usage', { prompt_tokens: expect.any(Number), completion_tokens: 3 }]);
    expect(live.answers).toHaveLength(2);
  });

  it("does not use the vendor's token counts for calibration if the profile makes the vendor drop old results", async () => {
    const server = await anthropic(reply('ok'));
    const edits = [{ type: 'clear_tool_uses_20250919' }];
    const { chat, live } = await chatOn(server, { extraBody: { context_management: { edits } } });
    // The vendor may reject the field, which does not matter here.
    await chat.ask().catch(() => undefined);
    expect(live.requests[0]?.isTransformedByVendor).toBe(true);
  });

  it('carries at most four cache marks: one on the system prompt, the others on messages that the engine chose', async () => {
    const server = await anthropic(reply('ok'));
    const { chat, live } = await chatOn(server);
    live.prepare = (request) =>
      Promise.resolve({ ...live.prepared(request), cacheMarks: request.messages.map((_, index) => index) });
    for (let turn = 0; turn < 4; turn++) {
      await chat.ask();
      chat.user(`more ${turn}`);
    }
    const marks = (body: unknown): number => JSON.stringify(body).split('"cache_control"').length - 1;
    expect(bodies(server).map(marks)).toEqual([4, 4, 4, 4]);
    expect(statuses(server)).toEqual([200, 200, 200, 200]);
    expect(bodies(server)[0]).toMatchObject({ system: [{ cache_control: { type: 'ephemeral' } }] });
  });

  it("forwards small requests and VS Code's own summary requests unchanged", async () => {
    const server = await anthropic(reply('A title'));
    const { chat, live, provider, model } = await chatOn(server);
    chat.tools = [];
    await chat.ask();
    const summary = new FakeChat(provider, model, {});
    summary.system('Your task is to create a comprehensive, detailed summary of the entire conversation so far.');
    summary.user('Summarize the conversation history so far');
    await summary.ask();
    expect(live.requests).toEqual([]);
    expect(JSON.stringify(bodies(server))).not.toContain('cache_control');
    expect(bodies(server)[1]).toMatchObject({
      messages: [{ content: [{ text: 'Summarize the conversation history so far' }] }],
    });
  });

  // Regression: VS Code's summary request for a conversation that had outgrown the window was sent
  // whole and was rejected.
  it("condenses VS Code's own summary request if it exceeds the window", async () => {
    const server = await anthropic(reply('A summary'));
    const { provider, model, live } = await chatOn(server, { contextWindow: 20_000 });
    const summary = new FakeChat(provider, model, {});
    summary.system('Your task is to create a comprehensive, detailed summary of the entire conversation so far.');
    summary.user('x'.repeat(100_000));
    summary.user('Summarize the conversation history so far');
    await summary.ask();
    expect(live.requests).toHaveLength(1);
    expect(live.requests[0]?.system).toContain('comprehensive, detailed summary');
  });

  it("counts the parts of VS Code's own summary request that are not messages", async () => {
    const server = await anthropic(reply('A summary'));
    const { provider, model, live } = await chatOn(server, { contextWindow: 20_000 });
    const summary = new FakeChat(provider, model, {});
    const instructions = 'Keep what the user asked for. '.repeat(3_000);
    summary.system(
      `Your task is to create a comprehensive, detailed summary of the entire conversation. ${instructions}`,
    );
    summary.user('Summarize the conversation history so far');
    await summary.ask();
    expect(live.requests).toHaveLength(1);
  });

  it('is sent unchanged, as if the extension were not installed, while condensing is off', async () => {
    const server = await anthropic(reply('ok'));
    const { chat, live } = await chatOn(server, { cacheLifetime: 'none' }, { settings: { automatic: false } });
    await chat.ask();
    expect(live.requests).toEqual([]);
    expect(bodies(server)[0]).toEqual({
      model: 'claude-sonnet-4-20250514',
      max_tokens: 64_000,
      stream: true,
      system: 'You are an agent.',
      messages: [
        { role: 'user', content: [{ type: 'text', text: '<environment_info>Linux</environment_info>' }] },
        {
          role: 'user',
          content: [{ type: 'text', text: '<context>today</context><userRequest>Read both files</userRequest>' }],
        },
      ],
      tools: [{ name: 'read_file', description: 'Reads a file.', input_schema: { type: 'object', properties: {} } }],
    });
    const marked = await anthropic(reply('ok'));
    const { chat: other } = await chatOn(marked, {}, { settings: { automatic: false } });
    await other.ask();
    const withoutMarks = JSON.stringify(bodies(marked)[0]).replaceAll(/,"cache_control":\{"type":"ephemeral"\}/g, '');
    expect(JSON.parse(withoutMarks)).toMatchObject({ messages: bodies(server)[0]!['messages'] as object[] });
  });

  it('is sent in the form of each OpenAI API', async () => {
    for (const api of ['chat', 'responses'] as const) {
      const server = await startOpenAIServer({
        script: [callsTool({ id: 'o1', name: 'read_file', input: { path: 'a' } }), reply('done')],
      });
      servers.push(server);
      const { chat } = await chatOn(server, { vendor: 'openai', api, model: 'gpt-5', baseUrl: `${server.url}/v1` });
      const { calls } = await chat.ask();
      chat.result(calls[0]!, 'content');
      expect((await chat.ask()).text).toBe('done');
      expect(statuses(server)).toEqual([200, 200]);
      expect(JSON.stringify(bodies(server))).not.toContain('cache_control');
    }
  });

  it('declares the tools of earlier calls if the chat offers none', async () => {
    const server = await anthropic([callsTool({ id: 'a1', name: 'read_file', input: {} }), reply('done')]);
    const { chat } = await chatOn(server);
    const { calls } = await chat.ask();
    chat.result(calls[0]!, 'content');
    chat.tools = [];
    await chat.ask();
    expect(statuses(server)).toEqual([200, 200]);
    expect(bodies(server)[1]).toMatchObject({ tools: [{ name: 'read_file' }], tool_choice: { type: 'none' } });
  });

  it('requires a tool call if VS Code requires one', async () => {
    const server = await anthropic(callsTool({ name: 'read_file', input: {} }));
    const { provider, model } = await chatOn(server, { thinkingTokens: 1024 });
    const messages = [makeChatMessage(1, new vscode.LanguageModelTextPart('go'))];
    const tools = [{ name: 'read_file', description: '', inputSchema: undefined }];
    const options = { tools, toolMode: vscode.LanguageModelChatToolMode.Required };
    await provider.provideResponse(
      model,
      messages,
      options,
      { report: () => undefined },
      new vscode.CancellationTokenSource().token,
    );
    expect(bodies(server)[0]).toMatchObject({ tool_choice: { type: 'any' } });
    expect(bodies(server)[0]).not.toHaveProperty('thinking');
  });
});

describe('failed requests in the chat', () => {
  it('are described in an error message without a stack trace or key', async () => {
    const server = await anthropic(makeErrorResponse(401, 'authentication_error', `bad key ${TEST_API_KEY}`));
    const { chat, lines } = await chatOn(server);
    const error = await chat.ask().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(Error);
    const { message, stack } = error as Error;
    expect(message).toContain('Claude Sonnet 4: The API key was not accepted.');
    expect(stack).toBe('');
    expect(describeError(error) + lines.join()).not.toContain(TEST_API_KEY);
  });

  it('are retried only a few times, and not at all if a retry cannot help', async () => {
    const server = await anthropic(makeOverloadedError());
    const { chat } = await chatOn(server);
    // VS Code asks four times.
    for (let attempt = 0; attempt < 4; attempt++) await expect(chat.ask()).rejects.toThrow(/overloaded/i);
    expect(server.requests).toHaveLength(4 + 3);
    const hopeless = await anthropic(makeErrorResponse(400, 'invalid_request_error', 'no'));
    const { chat: other } = await chatOn(hopeless);
    for (let attempt = 0; attempt < 4; attempt++) await expect(other.ask()).rejects.toThrow(/rejected the format/);
    expect(hopeless.requests).toHaveLength(1);
    hopeless.play(reply('now'));
    expect((await other.ask()).text).toBe('now');
  });

  it('never lead to a key being sent to another endpoint', async () => {
    const server = await anthropic(reply('ok'));
    const { chat } = await chatOn(server, {}, { key: undefined as unknown as string });
    await expect(chat.ask()).rejects.toThrow(/No API key/);
    expect(server.requests).toHaveLength(0);
  });

  it('report that the requested model is no longer offered', async () => {
    const server = await anthropic(reply('ok'));
    const { provider, model } = await chatOn(server);
    const chat = new FakeChat(provider, { ...model, id: 'gone' });
    chat.user('hello');
    await expect(chat.ask()).rejects.toThrow(/no longer offered/);
  });

  it('are charged for the tokens that the model used before its answer broke off', async () => {
    const server = await anthropic(makeFaultyReply('cut'));
    const { chat, live } = await chatOn(server);
    await expect(chat.ask()).rejects.toThrow();
    expect(live.usages).toEqual([expect.objectContaining({ source: 'counted' })]);
    expect(live.answers).toEqual([]);
  });

  it('do not delay a cancellation by the user', async () => {
    const server = await anthropic(neverAnswer());
    const { chat } = await chatOn(server);
    const source = new vscode.CancellationTokenSource();
    const asking = chat.ask(source.token);
    const request = await server.request(0);
    source.cancel();
    await expect(asking).rejects.toBeInstanceOf(vscode.CancellationError);
    await request.aborted;
    await expect(chat.ask(source.token)).rejects.toBeInstanceOf(vscode.CancellationError);
    expect(server.requests).toHaveLength(1);
  });

  it('are condensed once more if the request was too long', async () => {
    const server = await startAnthropicServer({ script: reply('ok'), maxContextTokens: 10_000 });
    servers.push(server);
    const { chat, live } = await chatOn(server);
    chat.user('x'.repeat(200_000));
    const refusals: PreparedRequest[] = [];
    live.prepareAfterOverflow = (prepared: PreparedRequest, request: AgentRequest) => {
      refusals.push(prepared);
      return Promise.resolve({
        ...live.prepared(request),
        messages: request.messages.slice(0, 1),
        contextWindow: 10_000,
      });
    };
    expect((await chat.ask()).text).toBe('ok');
    expect(refusals).toHaveLength(1);
    live.prepareAfterOverflow = (prepared) => (refusals.push(prepared), Promise.resolve(undefined));
    chat.user('again');
    await expect(chat.ask()).rejects.toThrow(/longer than the model’s context window/);
    expect(refusals).toHaveLength(2);
  });

  it('because of a prompt that is too long say how to turn on condensing if it is off', async () => {
    const server = await startAnthropicServer({ script: reply('ok'), maxContextTokens: 10_000 });
    servers.push(server);
    const { chat } = await chatOn(server, {}, { settings: { automatic: false } });
    chat.user('x'.repeat(200_000));
    await expect(chat.ask()).rejects.toThrow(/window\. Turn on “Condense automatically”, or use a model with/);
  });

  it('are repeated with the original messages if the condensed ones were invalid, and condensing stops', async () => {
    const server = await anthropic([
      makeErrorResponse(400, 'invalid_request_error', 'messages.1: nonsense'),
      reply('ok'),
    ]);
    const { chat, live, lines: log } = await chatOn(server);
    chat.user('x'.repeat(2_000));
    const prepare = live.prepare.bind(live);
    live.prepare = async (request) => ({ ...(await prepare(request)), messages: request.messages.slice(0, 1) });
    expect((await chat.ask()).text).toBe('ok');
    const lengths = () => server.requests.map(({ body }) => (body['messages'] as unknown[]).length);
    expect(statuses(server)).toEqual([400, 200]);
    const [view = 0, came = 0] = lengths();
    expect(view).toBeLessThan(came);
    // The prepared view was not sent, so the engine learns nothing from the answer.
    expect(live.answers).toEqual([]);
    chat.user('on');
    await chat.ask();
    expect(lengths()[2]).toBeGreaterThan(came);
    expect(log.filter((line) => line.includes('left alone'))).toHaveLength(1);
  });

  it('are repeated only up to the limit, and never with a request that the vendor called invalid', async () => {
    const REFUSALS = [
      makeErrorResponse(400, 'invalid_request_error', 'prompt is too long: 214062 tokens > 200000 maximum'),
      makeErrorResponse(
        400,
        'invalid_request_error',
        'input length and `max_tokens` exceed context limit: 9000 + 8192 > 10000',
      ),
      makeErrorResponse(413, 'request_too_large', 'Request exceeds the maximum size'),
      makeErrorResponse(400, 'invalid_request_error', 'The block is bound to a different conversation.'),
      makeErrorResponse(400, 'invalid_request_error', 'messages.1: nonsense'),
      makeErrorResponse(401, 'authentication_error', 'no'),
      callsTool({ name: 'read_file', input: { content: makeTestMarker('a file') } }),
    ];
    const server = await anthropic(reply('ok'));
    const scenario = fc.record({
      reads: fc.integer({ min: 2, max: 40 }),
      answers: fc.array(fc.constantFrom(...REFUSALS), { maxLength: 8 }),
    });
    await inTemporaryFolder(async (root) => {
      const { live } = createTestBed(root, { settings: { provider: 'truncation' } });
      let chats = 0;
      await fc.assert(
        fc.asyncProperty(scenario, async ({ reads: count, answers }) => {
          const { provider } = createProvider([profileOf(server, { contextWindow: 20_000 })], live, {
            key: TEST_API_KEY,
          });
          const [model] = await readInformation(provider);
          const chat = new FakeChat(provider, model!, { _conversationId: `c${chats++}` });
          chat.user('go');
          for (let at = 0; at < count; at++) {
            const id = `r${at}`;
            chat.messages.push(makeChatMessage(2, new vscode.LanguageModelToolCallPart(id, 'read_file', { path: id })));
            chat.result({ id, name: 'read_file', input: {} }, makeLines(id, 120));
          }
          server.play({ kind: 'reply', thinking: 'hm', calls: [{ name: 'read_file', input: { path: 'last' } }] });
          for (const call of (await chat.ask()).calls) chat.result(call, makeLines('last', 120));
          const from = server.requests.length;
          server.play(({ index }) => answers[index - from] ?? reply('ok'));
          await chat.ask().catch(() => undefined);
          const sent = server.requests.slice(from).map(({ status }) => status ?? 0);
          expect(sent.length).toBeLessThanOrEqual(MAX_ATTEMPTS);
          // Every answer is the scripted one, so the server's own rules rejected nothing.
          expect(sent).toEqual(sent.map((_, at) => (answers[at]?.kind === 'error' ? answers[at].status : 200)));
        }),
      );
    });
  });

  it('include the reason for an empty answer if the model gave one', async () => {
    const empty = (stop: 'max-tokens' | 'refusal' | 'window' | 'end'): Behaviour => ({ kind: 'reply', stop });
    const server = await anthropic([empty('max-tokens'), empty('refusal'), empty('window'), empty('end')]);
    const { chat } = await chatOn(server);
    const words: string[] = [];
    for (let turn = 0; turn < 4; turn++) {
      words.push((await chat.ask()).text);
      chat.user('go on');
    }
    expect(words).toEqual([
      expect.stringContaining('output limit'),
      expect.stringContaining('declined'),
      expect.stringContaining('full'),
      '',
    ]);
  });
});

describe('a tool call that contains a marker or truncated parameters', () => {
  const marker = makeTestMarker('a file');
  const expanding = (live: PassThroughConversations, known: boolean): void => {
    live.expandMarkers = (_conversation: LiveId, input: unknown) => {
      const text = JSON.stringify(input);
      if (!text.includes(MARKER_START)) return Promise.resolve({ input });
      if (!known) return Promise.resolve({ error: 'The reference ab12cd is not known.' });
      return Promise.resolve({ input: JSON.parse(text.replace(marker, 'the original')) as unknown });
    };
  };

  it('reaches the tool with the original text in place of the marker', async () => {
    const server = await anthropic(callsTool({ id: 'w1', name: 'read_file', input: { content: `a ${marker} b` } }));
    const { chat, live, calls } = await chatOn(server);
    expanding(live, true);
    expect((await chat.ask()).calls).toEqual([{ id: 'w1', name: 'read_file', input: { content: 'a the original b' } }]);
    expect(calls).toEqual([['c1', 'read_file', { content: 'a the original b' }]]);
  });

  it('with an unknown marker is answered with an error within the same answer, so that the model corrects it', async () => {
    const server = await anthropic([
      {
        kind: 'reply',
        text: 'I write.',
        calls: [
          { id: 'w1', name: 'read_file', input: { content: marker } },
          { id: 'w2', name: 'read_file', input: { path: 'b' } },
        ],
      },
      callsTool({ id: 'w3', name: 'read_file', input: { content: 'real' } }),
    ]);
    const { chat, live } = await chatOn(server);
    expanding(live, false);
    const { text, calls } = await chat.ask();
    expect(text).toBe('I write.');
    expect(calls).toEqual([{ id: 'w3', name: 'read_file', input: { content: 'real' } }]);
    expect(statuses(server)).toEqual([200, 200]);
    // Both requests are paid for.
    expect(live.usages).toEqual([
      expect.objectContaining({ source: 'reported' }),
      expect.objectContaining({ source: 'reported' }),
    ]);
    expect((bodies(server)[1]!['messages'] as unknown[]).slice(-2)).toMatchObject([
      { role: 'assistant', content: [{ text: 'I write.' }, { id: 'w1' }, { id: 'w2' }] },
      {
        role: 'user',
        content: [
          { tool_use_id: 'w1', is_error: true, content: 'The reference ab12cd is not known.' },
          { tool_use_id: 'w2', is_error: true, content: expect.stringContaining('Call it again') },
        ],
      },
    ]);
  });

  it('is dropped and reported if the model cannot correct it', async () => {
    const server = await anthropic(callsTool({ name: 'read_file', input: { content: marker } }));
    const { chat, live } = await chatOn(server);
    expanding(live, false);
    const { text, calls } = await chat.ask();
    expect(calls).toEqual([]);
    expect(text).toContain('could not write the parameters of read_file');
    expect(server.requests).toHaveLength(MAX_ATTEMPTS);
  });

  it('is not created from truncated parameters', async () => {
    const server = await startOpenAIServer({
      script: [
        { kind: 'reply', calls: [{ id: 'x1', name: 'read_file', input: '{"path": "a' }], stop: 'max-tokens' },
        callsTool({ id: 'x2', name: 'read_file', input: { path: 'a' } }),
      ],
    });
    servers.push(server);
    const { chat } = await chatOn(server, { vendor: 'openai', model: 'gpt-5', baseUrl: `${server.url}/v1` });
    expect((await chat.ask()).calls.map(({ id }) => id)).toEqual(['x2']);
    expect(JSON.stringify(bodies(server)[1])).toContain('no whole JSON object, because the answer was cut');
  });
});

describe('a VS Code model wrapped by the extension', () => {
  const seen: (readonly LmMessage[])[] = [];
  const lmModel = (answer: readonly LmPart[]): LmModel => ({
    vendor: 'other',
    id: 'big/one',
    family: 'claude-sonnet-4',
    name: 'Big One',
    maxInputTokens: 50_000,
    async sendRequest(messages) {
      seen.push(messages);
      return (async function* () {
        yield* answer;
      })();
    },
  });

  it('is offered under its own name and called without a key', async () => {
    const live = new PassThroughConversations();
    const model = lmModel([
      { kind: 'text', text: 'hello' },
      { kind: 'toolCall', callId: 'v1', name: 'read_file', input: { a: 1 } },
    ]);
    const { provider } = createProvider([], live, { models: [model] });
    const [information] = await readInformation(provider);
    expect(information).toMatchObject({
      id: 'other:big/one',
      name: 'Big One · condensed',
      family: 'claude-sonnet-4',
      detail: 'other',
    });
    const chat = new FakeChat(provider, information!);
    chat.system('You are an agent.');
    chat.user('hi');
    expect(await chat.ask()).toEqual({ text: 'hello', calls: [{ id: 'v1', name: 'read_file', input: { a: 1 } }] });
    expect(seen.at(-1)).toEqual([
      {
        role: 'user',
        content: [
          { kind: 'text', text: 'You are an agent.' },
          { kind: 'text', text: 'hi' },
        ],
      },
    ]);
    expect(live.requests[0]).toMatchObject({
      model: { vendor: 'other', contextWindow: 58_192, cacheLifetime: 'none' },
    });
  });
});

describe('models offered in the chat', () => {
  it('declare a larger window than the model has, or the real one while condensing is off', async () => {
    const server = await anthropic(reply('ok'));
    const declared = async (settings: object, more: Partial<ApiProfile> = {}) =>
      (await chatOn(server, { contextWindow: 200_000, ...more }, { settings })).model;
    expect(await declared({})).toMatchObject({
      name: 'Claude Sonnet 4 · condensed',
      maxInputTokens: 1_000_000 - 64_000,
      maxOutputTokens: 64_000,
      maxContextWindowTokens: 200_000,
    });
    expect(await declared({ declaredWindow: 0 })).toMatchObject({ maxInputTokens: 200_000 - 64_000 });
    expect(await declared({ automatic: false }, { maxOutputTokens: 20_000 })).toMatchObject({
      maxInputTokens: 180_000,
      maxOutputTokens: 20_000,
    });
    expect((await chatOn(server, { model: 'nobody-knows' })).model.tooltip).toContain('128,000 tokens are assumed');
    expect((await chatOn(server, { contextWindow: 200_000 })).model.tooltip).toContain('200,000 tokens');
  });

  it('count texts and messages as the underlying model does', async () => {
    const server = await anthropic(reply('ok'));
    const { provider, model } = await chatOn(server);
    const text = 'x'.repeat(400);
    expect(await provider.countTokens(model, text)).toBe(118);
    expect(await provider.countTokens(model, text)).toBe(118);
    expect(await provider.countTokens(model, 'x'.repeat(40_000))).toBe(11_800);
    const message = makeChatMessage(1, new vscode.LanguageModelTextPart(text));
    expect(await provider.countTokens(model, message)).toBe(Math.ceil(104 * 1.18));
  });
});
