/**
 * Tests tasks of many steps against servers that check, cache and bill as strictly as the vendors.
 */
import { afterEach, describe, expect, it, vi } from 'vitest';
import { startAnthropicServer, type AnthropicServerOptions } from '../../test/servers/anthropicServer';
import type { Reply } from '../../test/servers/behaviour';
import type { ModelServer } from '../../test/servers/modelServer';
import { startOpenAIServer, type OpenAIServerOptions } from '../../test/servers/openaiServer';
import { isRecord } from '../core/messages/blocks';
import type { ApiProfile } from '../settings/profiles';
import { createTestBed } from '../live/testing';
import type { LiveConversationsApi } from '../live/types';
import { inTemporaryFolder } from '../../test/support/inTemporaryFolder';
import { FakeChat, readInformation, PassThroughConversations, createProvider } from './testing';

const servers: ModelServer[] = [];
afterEach(async () => {
  vi.unstubAllGlobals();
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

const page = (step: number): string => `line ${step} of a file that is read\n`.repeat(60);

/** Asks this many times; the user begins a new turn every `perTurn` steps. */
async function runTask(profile: ApiProfile, steps: number, perTurn: number) {
  const live = new PassThroughConversations();
  return { live, ...(await runTaskOn(live, profile, steps, perTurn)) };
}

async function runTaskOn(live: LiveConversationsApi, profile: ApiProfile, steps: number, perTurn: number) {
  const { provider, lines } = createProvider([profile], live, { key: 'sk-any-key' });
  const [model] = await readInformation(provider);
  const chat = new FakeChat(provider, model!);
  chat.system(`You are an agent. ${'Follow the rules. '.repeat(400)}`);
  chat.user('<userRequest>go</userRequest>');
  for (let step = 0; step < steps; step++) {
    const { calls } = await chat.ask();
    for (const call of calls) chat.result(call, page(step));
    if (calls.length === 0 || step % perTurn === perTurn - 1) chat.user(`<userRequest>next ${step}</userRequest>`);
  }
  return { chat, lines, model: model! };
}

const thinks = (thinking: string | undefined, calls = 1): Reply => ({
  kind: 'reply',
  text: 'I look.',
  ...(thinking !== undefined && { thinking }),
  calls: Array.from({ length: calls }, () => ({ name: 'read_file', input: { path: 'a' } })),
});

const statuses = (server: ModelServer) => server.requests.map(({ status }) => status);

/** Returns the share of all requests' tokens that came from the cache. */
function getCachedShare(server: ModelServer): number {
  const sum = { input: 0, read: 0 };
  for (const { usage } of server.requests) {
    const fields = isRecord(usage) ? usage : {};
    const number = (name: string): number => Number(fields[name] ?? 0);
    const details = isRecord(fields['prompt_tokens_details']) ? fields['prompt_tokens_details'] : {};
    const read = number('cache_read_input_tokens') + Number(details['cached_tokens'] ?? 0);
    sum.read += read;
    sum.input += number('prompt_tokens') || number('input_tokens') + read + number('cache_creation_input_tokens');
  }
  return sum.read / sum.input;
}

describe('chat requests with thinking', () => {
  async function claude(options: AnthropicServerOptions, more: Partial<ApiProfile>, script: (step: number) => Reply) {
    const strict = { byModel: true, turns: true, cacheKeys: true, version: true };
    const server = await startAnthropicServer({ strict, ...options, maxContextTokens: 1_000_000 });
    servers.push(server);
    server.play(({ index }) => script(index));
    const profile: ApiProfile = {
      id: 'p',
      name: 'P',
      vendor: 'anthropic',
      model: 'm',
      baseUrl: server.url,
      offerInChat: true,
      ...more,
    };
    await runTask(profile, 18, 6);
    return server;
  }
  const settings = (server: ModelServer) =>
    new Set(server.requests.map(({ body }) => JSON.stringify(body['thinking'])));

  it.each([
    // Regression: after an answer that did not begin with thinking, the next request was sent with
    // thinking turned off.
    ['claude-haiku-4-5', 'thinks at the start of a turn', (step: number) => thinks(step % 6 === 0 ? 'hm' : undefined)],
    ['claude-opus-4-8', 'skips a step', (step: number) => thinks(step % 6 === 1 ? undefined : 'hm')],
    ['claude-opus-5-5', 'thinks unasked', (step: number) => thinks(step % 2 === 0 ? 'hm' : undefined)],
    ['claude-sonnet-5', 'thinks unasked', () => thinks('hm')],
  ])(
    'keep one thinking setting, are never rejected, and preserve the cache if the model %s %s',
    async (model, _, script) => {
      const asked = model === 'claude-sonnet-5' || model === 'claude-opus-5-5' ? {} : { thinkingTokens: 4_000 };
      const server = await claude({}, { model, ...asked }, script);
      expect(statuses(server)).toEqual(Array(18).fill(200));
      expect(settings(server).size).toBe(1);
      expect([...settings(server)][0]).toContain(model === 'claude-haiku-4-5' ? 'enabled' : 'summarized');
      expect(getCachedShare(server)).toBeGreaterThan(0.8);
    },
  );

  it('carry the beta headers for thinking between calls and for dropping thinking bound to other messages', async () => {
    const betas = (server: ModelServer) => server.requests.at(-1)?.headers['anthropic-beta'];
    const budget = await claude({}, { model: 'claude-haiku-4-5', thinkingTokens: 4_000 }, () => thinks('hm'));
    expect(betas(budget)).toContain('interleaved-thinking-2025-05-14');
    const bound = await claude({}, { model: 'claude-opus-5-5' }, () => thinks('hm'));
    expect(betas(bound)).toContain('thinking-binding-controls-2026-08-01');
    expect(JSON.stringify(bound.requests.at(-1)?.body['thinking'])).toContain('drop_block');
  });
});

describe("a model's thinking appears in the chat but is not sent in later requests", () => {
  const thought = 'The file comes first. ';

  // Regression: from Opus 4.7 on, thinking arrives empty unless its text is requested, so the chat
  // showed nothing between two calls.
  it.each(['claude-opus-5-5', 'claude-haiku-4-5'])('for %s', async (model) => {
    const strict = { byModel: true, turns: true, cacheKeys: true, version: true };
    const server = await startAnthropicServer({ strict, maxContextTokens: 1_000_000 });
    servers.push(server);
    server.play(thinks(thought));
    const more = model === 'claude-haiku-4-5' ? { thinkingTokens: 4_000 } : {};
    const { chat } = await runTask(
      { id: 'p', name: 'P', vendor: 'anthropic', model, baseUrl: server.url, offerInChat: true, ...more },
      6,
      6,
    );
    expect(statuses(server)).toEqual(Array(6).fill(200));
    expect(chat.thoughts.join('')).toBe(thought.repeat(6));
    expect(JSON.stringify(server.requests[0]?.body['thinking'])).toContain(
      more.thinkingTokens ? 'enabled' : 'summarized',
    );
  });

  it('for a model that is called through Chat Completions', async () => {
    const server = await startOpenAIServer({ maxContextTokens: 400_000 });
    servers.push(server);
    server.play(thinks(thought));
    const baseUrl = `${server.url}/v1`;
    const profile = { id: 'p', name: 'P', vendor: 'openai', model: 'kimi-k2', baseUrl, offerInChat: true } as const;
    const { chat } = await runTask(profile, 4, 4);
    expect(chat.thoughts.join('')).toBe(thought.repeat(4));
    const sent = JSON.stringify(server.requests.at(-1)?.body['messages']);
    expect(sent).not.toContain(thought);
  });
});

describe('vendor fields of a profile', () => {
  const effort = { output_config: { effort: 'low' } };

  it.each([
    ['Anthropic', effort, {}, () => startAnthropicServer({ strict: { byModel: true } }), ''],
    ['Chat Completions', { reasoning_effort: 'low', service_tier: 'flex' }, {}, () => startOpenAIServer(), '/v1'],
    [
      'Responses',
      { reasoning: { effort: 'low' }, service_tier: 'flex' },
      { api: 'responses' },
      () => startOpenAIServer(),
      '/v1',
    ],
  ] as const)('are sent with each request: %s', async (name, extraBody, more, start, path) => {
    const server = await start();
    servers.push(server);
    server.play(thinks(undefined));
    const profile: ApiProfile = {
      id: 'p',
      name: 'P',
      vendor: name === 'Anthropic' ? 'anthropic' : 'openai',
      model: name === 'Anthropic' ? 'claude-opus-5-5' : 'gpt-5.2',
      baseUrl: `${server.url}${path}`,
      offerInChat: true,
      extraBody,
      ...more,
    };
    await runTask(profile, 3, 3);
    expect(statuses(server)).toEqual([200, 200, 200]);
    for (const { body } of server.requests) expect(body).toMatchObject(extraBody);
  });
});

describe('a model that accepts tools only through the Responses API', () => {
  const toolsOnResponses = { strict: { toolsOnResponses: true } };
  const profile = { id: 'p', name: 'P', vendor: 'openai', offerInChat: true } as const;

  it('is called through the Responses API after its first rejection', async () => {
    const server = await startOpenAIServer(toolsOnResponses);
    servers.push(server);
    server.play(thinks('hm'));
    await runTask({ ...profile, model: 'gpt-5.6-sol', baseUrl: `${server.url}/v1` }, 4, 4);
    expect(statuses(server)).toEqual([400, 200, 200, 200, 200]);
    expect(server.requests.slice(1).map(({ path }) => path)).toEqual(Array(4).fill('/v1/responses'));
  });

  it('is called through the Responses API from the start if OpenAI is known to require it', async () => {
    const server = await startOpenAIServer(toolsOnResponses);
    servers.push(server);
    server.play(thinks('hm'));
    const real = globalThis.fetch;
    vi.stubGlobal('fetch', (input: string | URL | Request, init?: RequestInit) => {
      const url = input instanceof Request ? input.url : String(input);
      return real(url.replace('https://api.openai.com', server.url), init);
    });
    await runTask({ ...profile, model: 'gpt-6.2-sol' }, 4, 4);
    expect(statuses(server)).toEqual([200, 200, 200, 200]);
  });
});

describe('reasoning tokens in requests to OpenAI', () => {
  const openai = async (options: OpenAIServerOptions): Promise<ModelServer> => {
    const server = await startOpenAIServer({ maxContextTokens: 400_000, ...options });
    servers.push(server);
    return server;
  };

  // Regression: 200 tokens of reasoning are 1,900 characters of base64, which were counted as text.
  it.each([
    ['gpt-5.2', 'current_turn'],
    ['gpt-5.6', 'all_turns'],
    ['a-model-of-some-gateway', 'current_turn'],
  ] as const)(
    'are counted as the vendor bills them for %s, which reads the reasoning of %s',
    async (model, reasoning) => {
      const server = await openai({ strict: { reasoning } });
      server.play(thinks('so many words of thought '.repeat(100)));
      const profile: ApiProfile = {
        id: 'p',
        name: 'P',
        vendor: 'openai',
        api: 'responses',
        model,
        baseUrl: `${server.url}/v1`,
        offerInChat: true,
      };
      const { live } = await runTask(profile, 12, 4);
      expect(statuses(server)).toEqual(Array(12).fill(200));
      const each = server.tokensOf('so many words of thought '.repeat(100));
      // The last request contains this turn's four answers without the requested one, or all eleven
      // before it.
      const billed = each * (reasoning === 'all_turns' ? 11 : 3);
      expect(live.requests.at(-1)?.extraTokens).toBeGreaterThan(billed * 0.9);
      expect(live.requests.at(-1)?.extraTokens).toBeLessThan(billed * 1.1);
    },
  );
});

describe('chat requests to OpenRouter', () => {
  const HOST = 'https://openrouter.ai/api/v1';

  /** Starts a server that receives the requests to OpenRouter's address. */
  async function startOpenRouter(options: OpenAIServerOptions): Promise<ModelServer> {
    const server = await startOpenAIServer({ maxContextTokens: 1_000_000, ...options, quirks: { openRouter: true } });
    servers.push(server);
    const real = globalThis.fetch;
    vi.stubGlobal('fetch', (input: string | URL | Request, init?: RequestInit) => {
      const url = input instanceof Request ? input.url : String(input);
      return real(url.replace(HOST, `${server.url}/v1`), init);
    });
    return server;
  }
  const profile: ApiProfile = {
    id: 'p',
    name: 'P',
    vendor: 'openai',
    model: 'anthropic/claude-opus-5.5',
    baseUrl: HOST,
    offerInChat: true,
  };

  // Regression: cache marks on results were dropped, so only what precedes the first call was
  // cached.
  it("use the prompt cache in Claude's tool loops, and send reasoning back unchanged", async () => {
    const server = await startOpenRouter({ strict: { cacheKeys: true, reasoningDetails: true } });
    server.play(({ index }) => thinks(index % 2 === 0 ? 'hm' : undefined));
    await runTask(profile, 18, 18);
    expect(statuses(server)).toEqual(Array(18).fill(200));
    expect(getCachedShare(server)).toBeGreaterThan(0.8);
    expect(new Set(server.requests.map(({ body }) => body['session_id'])).size).toBe(1);
    expect(server.requests[0]?.body['session_id']).toMatch(/^\w{64}$/);
  });
});

describe('answers that are cut off', () => {
  // Regression: nothing reported the cut, and a call that was cut off before its parameters was
  // made with {}.
  it('are marked as cut off, and their tool calls are not made', async () => {
    const server = await startAnthropicServer();
    servers.push(server);
    const profile: ApiProfile = {
      id: 'p',
      name: 'P',
      vendor: 'anthropic',
      model: 'm',
      baseUrl: server.url,
      offerInChat: true,
    };
    const cut = (stop: NonNullable<Reply['stop']>, more: Partial<Reply> = {}): Reply => ({
      kind: 'reply',
      text: 'I will now wri',
      stop,
      ...more,
    });
    const { provider } = createProvider([profile], new PassThroughConversations(), { key: 'sk-any' });
    const [model] = await readInformation(provider);
    const ask = async (...script: Reply[]) => {
      server.play(script);
      const chat = new FakeChat(provider, model!);
      chat.user('go');
      return chat.ask();
    };
    expect((await ask(cut('max-tokens'))).text).toMatch(/wri.*The answer ends here.*maximum number of tokens/s);
    expect((await ask(cut('window'))).text).toMatch(/The answer ends here.*window is full/);
    expect((await ask(cut('refusal'))).text).toMatch(/The answer ends here.*declined/);
    const call = { name: 'read_file', input: '' };
    const whole: Reply = { kind: 'reply', text: '', calls: [{ name: 'read_file', input: { path: 'a' } }] };
    const corrected = await ask(cut('max-tokens', { calls: [call] }), whole);
    expect(corrected.calls.map(({ input }) => input)).toEqual([{ path: 'a' }]);
    expect((await ask(cut('window', { calls: [call] }))).calls).toEqual([]);
    expect((await ask(cut('refusal', { calls: [call] }))).calls).toEqual([]);
  });

  it('are limited to what the model can write and what the prompt leaves of the window', async () => {
    const server = await startAnthropicServer({ strict: { byModel: true } });
    servers.push(server);
    const profile: ApiProfile = {
      id: 'p',
      name: 'P',
      vendor: 'anthropic',
      model: 'claude-haiku-4-5',
      baseUrl: server.url,
      offerInChat: true,
    };
    const live = new PassThroughConversations();
    const { provider } = createProvider([profile], live, { key: 'sk-any' });
    const [model] = await readInformation(provider);
    const chat = new FakeChat(provider, model!);
    chat.user('go');
    await chat.ask();
    const prepare = live.prepare.bind(live);
    live.prepare = async (request) => ({ ...(await prepare(request)), tokens: 160_000 });
    chat.user('go on');
    await chat.ask();
    expect(server.requests.map(({ body }) => body['max_tokens'])).toEqual([64_000, 200_000 - 160_000 - 8_000]);
  });
});

// Regression: every model missing from the price table was assumed to have a window of 128,000
// tokens.
it("an unknown model's window is learned from its first rejection", () =>
  inTemporaryFolder(async (root) => {
    const window = 20_000;
    const server = await startOpenAIServer({ maxContextTokens: window, tooLong: 'vllm' });
    servers.push(server);
    server.play(thinks(undefined));
    const profile: ApiProfile = {
      id: 'p',
      name: 'P',
      vendor: 'openai',
      model: 'house-model-1',
      baseUrl: `${server.url}/v1`,
      offerInChat: true,
    };
    const { live } = createTestBed(root, { settings: { provider: 'lossless' } });
    const { model } = await runTaskOn(live, profile, 50, 100);
    expect(model.tooltip).toContain('128,000 tokens are assumed');
    expect(statuses(server).filter((status) => status !== 200)).toEqual([400]);
    expect(live.active()?.contextWindow).toBe(window);
    expect(live.active()?.condensations.length).toBeGreaterThan(1);
  }));
