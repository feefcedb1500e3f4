/** Tests, with the plain SDK, the server's rules that are off by default. */
import { Anthropic } from '@anthropic-ai/sdk';
import { afterEach, describe, expect, it } from 'vitest';
import { startAnthropicServer, type AnthropicServerOptions } from './anthropicServer';
import { callsTool, reply, type Reply } from './behaviour';
import { claudeModel } from './claudeModels';
import { isObject, type Json } from './json';
import type { ModelServer } from './modelServer';
import { AGEING } from './promptCache';

let open: ModelServer | undefined;
afterEach(async () => {
  await open?.close();
});

const server = async (options: AnthropicServerOptions): Promise<ModelServer> =>
  (open = await startAnthropicServer(options));

type Headers = Readonly<Record<string, string>>;

async function ask(at: ModelServer, body: Json, headers: Headers = {}): Promise<Json> {
  const all = { model: 'claude-opus-5-5', max_tokens: 2000, messages: [user], ...body };
  const answer = await fetch(`${at.url}/v1/messages`, { method: 'POST', body: JSON.stringify(all), headers });
  const said: unknown = await answer.json();
  return isObject(said) ? said : {};
}

async function requestRefusal(at: ModelServer, body: Json, headers: Headers = {}): Promise<string | undefined> {
  await ask(at, body, headers);
  return at.requests.at(-1)?.refusal;
}

const user = { role: 'user', content: 'x' };
const tools = [{ name: 'a', input_schema: { type: 'object' } }];
const result = (id: string, more: Json = {}): Json => ({
  role: 'user',
  content: [{ type: 'tool_result', tool_use_id: id, content: 'z', ...more }],
});
const call = (id: string): Json => ({ type: 'tool_use', id, name: 'a', input: {} });
const mark = (ttl?: string): Json => ({ cache_control: { type: 'ephemeral', ...(ttl !== undefined && { ttl }) } });

describe('a model of the Anthropic test server', () => {
  it('is found by ID, with prefixes and dates', () => {
    for (const id of ['claude-opus-4-8', 'anthropic/claude-opus-4.8', 'us.anthropic.claude-opus-4-8-20260501-v1:0'])
      expect(claudeModel(id)).toMatchObject({ minCacheTokens: 1024, thinking: ['adaptive', 'disabled'] });
    expect(claudeModel('claude-sonnet-4-5-20250929')?.window).toBe(200_000);
    expect(claudeModel('claude-opus-5')?.bindsThinking).toBe(false);
    expect(claudeModel('claude-opus-5-5')?.bindsThinking).toBe(true);
    expect(claudeModel('gpt-5')).toBeUndefined();
  });

  it.each<[string, Json, string | undefined]>([
    ['claude-opus-5-5', { thinking: { type: 'disabled' } }, '"thinking.type.disabled" is not supported'],
    [
      'claude-opus-5-5',
      { thinking: { type: 'enabled', budget_tokens: 1024 } },
      '"thinking.type.enabled" is not supported',
    ],
    ['claude-opus-5-5', { thinking: { type: 'adaptive', display: 'summarized' } }, undefined],
    ['claude-opus-5-5', { tools, tool_choice: { type: 'any' } }, 'are not supported for this model'],
    ['claude-opus-5', { thinking: { type: 'disabled' }, tools, tool_choice: { type: 'any' } }, undefined],
    ['claude-opus-5', { tools, tool_choice: { type: 'any' } }, 'Thinking may not be enabled when tool_choice'],
    ['claude-sonnet-5-5', { thinking: { type: 'between_tools' } }, undefined],
    ['claude-sonnet-4-5', { thinking: { type: 'adaptive' } }, 'adaptive thinking is not supported'],
    ['claude-sonnet-4-5', { thinking: { type: 'enabled', budget_tokens: 1024 } }, undefined],
    ['claude-opus-5-5', { max_tokens: 128_001 }, 'max_tokens: 128001 > 128000'],
    ['claude-next-9', { max_tokens: 150_000, thinking: { type: 'disabled' } }, undefined],
  ])('validates the thinking settings of %s: %j', async (model, body, message) => {
    const at = await server({ strict: { byModel: true }, maxContextTokens: 1_000_000 });
    const refusal = await requestRefusal(at, { model, ...body });
    if (message === undefined) expect(refusal).toBeUndefined();
    else expect(refusal).toContain(message);
  });

  it('caches prefixes from its own minimum length, in a cache of its own', async () => {
    const at = await server({ strict: { byModel: true }, tokenFactor: 1 });
    const written = async (model: string): Promise<unknown> => {
      const messages = [{ role: 'user', content: [{ type: 'text', text: 'x'.repeat(4 * 2000), ...mark() }] }];
      const { usage } = await ask(at, { model, messages });
      return isObject(usage) ? usage['cache_creation_input_tokens'] : undefined;
    };
    expect(await written('claude-opus-5-5')).toBe(2003);
    expect(await written('claude-opus-4-8')).toBe(2003);
    expect(await written('claude-opus-4-6')).toBe(0);
  });
});

describe("a model's thinking on the Anthropic test server", () => {
  const thinking = { type: 'enabled', budget_tokens: 1024 };
  const thinks: Reply = { ...callsTool({ name: 'a', input: {} }), thinking: 'Hm.' };

  it('is required at the start of a turn, but not of each of its answers', async () => {
    const at = await server({ strict: { turns: true }, script: [thinks, reply('ok')] });
    const { content } = await ask(at, { thinking, tools });
    const id = 'toolu_0_0';
    const turn = [
      user,
      { role: 'assistant', content },
      result(id),
      { role: 'assistant', content: [call('b')] },
      result('b'),
    ];
    expect(await requestRefusal(at, { thinking, tools, messages: turn })).toBeUndefined();
    const without = [user, { role: 'assistant', content: [call(id)] }, result(id)];
    expect(await requestRefusal(at, { thinking, tools, messages: without })).toContain(
      'messages.1.content.0.type: Expected `thinking`',
    );
    // Without `turns`, the last answer must start with thinking, too.
    await at.close();
    const older = await server({ script: [thinks, reply('ok')] });
    const first = await ask(older, { thinking, tools });
    const same = turn.map((message, index) =>
      index === 1 ? { role: 'assistant', content: first['content'] } : message,
    );
    expect(await requestRefusal(older, { thinking, tools, messages: same })).toContain('Expected `thinking`');
  });

  it("may have a larger budget than the answer's limit if it is interleaved", async () => {
    const at = await server({});
    const more = { thinking: { type: 'enabled', budget_tokens: 2000 } };
    expect(await requestRefusal(at, more)).toContain('must be greater than');
    expect(await requestRefusal(at, more, { 'anthropic-beta': 'interleaved-thinking-2025-05-14' })).toBeUndefined();
  });

  it('can be edited by the API only with the beta header and if thinking is on', async () => {
    const at = await server({});
    const edits = { context_management: { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] } };
    expect(await requestRefusal(at, edits)).toBe('context_management: Extra inputs are not permitted');
    const header = { 'anthropic-beta': 'context-management-2025-06-27' };
    expect(await requestRefusal(at, edits, header)).toContain('requires `thinking`');
    expect(await requestRefusal(at, { ...edits, thinking: { type: 'disabled' } }, header)).toContain(
      'requires `thinking`',
    );
    expect(await requestRefusal(at, { ...edits, thinking: { type: 'adaptive' } }, header)).toBeUndefined();
  });

  it('accepts only the settings of its type', async () => {
    const at = await server({});
    expect(await requestRefusal(at, { thinking: { type: 'adaptive', budget_tokens: 1024 } })).toContain(
      'thinking.adaptive.budget_tokens',
    );
    expect(await requestRefusal(at, { thinking: { type: 'auto' } })).toContain("Input tag 'auto'");
  });

  it('has its text if the model shows it by default or the request asks for it', async () => {
    const script = { ...reply('so'), thinking: 'Hm.' };
    const at = await server({ strict: { byModel: true }, script });
    const requestThinking = (model: string, thinking: object) => ask(at, { model, thinking });
    const shown = { content: [{ type: 'thinking', thinking: 'Hm.' }, {}] };
    const omitted = { content: [{ type: 'thinking', thinking: '' }, {}] };
    expect(await requestThinking('claude-opus-4-6', { type: 'adaptive' })).toMatchObject(shown);
    expect(await requestThinking('claude-opus-5-5', { type: 'adaptive' })).toMatchObject(omitted);
    expect(await requestThinking('claude-opus-5-5', { type: 'adaptive', display: 'summarized' })).toMatchObject(shown);
    expect(await requestThinking('claude-opus-4-6', { type: 'adaptive', display: 'omitted' })).toMatchObject(omitted);
    // Thinking that came without text is accepted if its signature is unchanged.
    const { content } = await ask(at, { model: 'claude-opus-5-5', thinking: { type: 'adaptive' } });
    const messages = [user, { role: 'assistant', content }, user];
    expect(await requestRefusal(at, { model: 'claude-opus-5-5', messages })).toBeUndefined();
  });

  it('that is bound to the messages before it is rejected after other messages, or dropped on request', async () => {
    const at = await server({
      strict: { byModel: true },
      script: [
        { ...reply('so'), thinking: 'Hm.' },
        { ...reply('ok'), thinking: 'Oh.' },
      ],
    });
    const { content } = await ask(at, {});
    const edited = [{ role: 'user', content: 'y' }, { role: 'assistant', content }, user];
    expect(await requestRefusal(at, { messages: edited })).toContain('bound to a different conversation');
    const drops = { type: 'adaptive', block_binding: { prefix_mismatch_behavior: 'drop_block' } };
    expect(await requestRefusal(at, { messages: edited, thinking: drops })).toContain('anthropic-beta');
    const headers = { 'anthropic-beta': 'thinking-binding-controls-2026-08-01' };
    const answer = await ask(at, { messages: edited, thinking: drops }, headers);
    expect(answer['input_transformations']).toEqual([
      { type: 'thinking_dropped', reason: 'prefix_binding_mismatch', path: 'messages.1.content.0' },
    ]);
    // Thinking that was produced after the changed text stays valid; the invalid block is reported
    // for each request.
    const later = [...edited, { role: 'assistant', content: answer['content'] }, user];
    const { input_transformations: all } = await ask(at, { messages: later, thinking: drops }, headers);
    expect(all).toEqual(answer['input_transformations']);
    const kept = [user, { role: 'assistant', content }, user];
    expect(await ask(at, { messages: kept, thinking: drops }, headers)).toMatchObject({ input_transformations: [] });
  });
});

describe('the cache of the Anthropic test server', () => {
  const long = [{ type: 'text', text: 'x'.repeat(8000) }];
  const read = (answer: Json): unknown =>
    isObject(answer['usage']) ? answer['usage']['cache_read_input_tokens'] : undefined;

  it('follows a mark at the top of the request, and expires', async () => {
    let now = 0;
    const at = await server({ cache: AGEING.anthropic, now: () => now });
    const messages = [{ role: 'user', content: long }];
    await ask(at, { messages, ...mark() });
    now += 4 * 60_000;
    expect(
      read(await ask(at, { messages: [...messages, { role: 'assistant', content: 'so' }, user], ...mark() })),
    ).toBeGreaterThan(2000);
    now += 6 * 60_000;
    expect(read(await ask(at, { messages, ...mark() }))).toBe(0);
    await ask(at, { messages, ...mark('1h') });
    now += 50 * 60_000;
    expect(read(await ask(at, { messages, ...mark('1h') }))).toBeGreaterThan(2000);
  });

  it('is missed by messages after the thinking settings changed, but not by the system prompt', async () => {
    const at = await server({ strict: { cacheKeys: true } });
    const system = [{ ...long[0], ...mark() }];
    const messages = [{ role: 'user', content: [{ ...long[0], ...mark() }] }];
    const once = await ask(at, { system, messages, thinking: { type: 'adaptive' } });
    expect(read(once)).toBe(0);
    expect(read(await ask(at, { system, messages, thinking: { type: 'adaptive' } }))).toBeGreaterThan(5000);
    const switched = Number(read(await ask(at, { system, messages, thinking: { type: 'disabled' } })));
    expect(switched).toBeGreaterThan(2000);
    expect(switched).toBeLessThan(3000);
  });

  it('accepts long lifetimes before short ones, and at most four breakpoints', async () => {
    const at = await server({});
    const system = [{ type: 'text', text: 's', ...mark('5m') }];
    const messages = [{ role: 'user', content: [{ type: 'text', text: 'x', ...mark('1h') }] }];
    expect(await requestRefusal(at, { system, messages })).toContain("must not come after a ttl='5m'");
    const marked = { role: 'user', content: Array.from({ length: 4 }, () => ({ type: 'text', text: 'x', ...mark() })) };
    expect(await requestRefusal(at, { messages: [marked] })).toBeUndefined();
    expect(await requestRefusal(at, { messages: [marked], ...mark() })).toContain('Found 5');
  });
});

describe('other limits of the Anthropic test server', () => {
  it("depend on the API version, which is 2026-10-21 in the SDK's requests", async () => {
    const at = await server({ strict: { version: true } });
    const client = new Anthropic({ apiKey: 'key', baseURL: at.url, maxRetries: 0 });
    const request = { model: 'claude-opus-5', max_tokens: 10, messages: [{ role: 'user' as const, content: 'x' }] };
    await client.messages.create(request);
    const headers = { 'anthropic-version': '2026-10-21' };
    expect(await requestRefusal(at, { temperature: 1 }, headers)).toBe('temperature: Extra inputs are not permitted');
    expect(await requestRefusal(at, { temperature: 1 }, { 'anthropic-version': '2023-06-01' })).toBeUndefined();
    const document = { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'x' } };
    const messages = [user, { role: 'assistant', content: [document] }, user];
    expect(await requestRefusal(at, { messages }, headers)).toContain('document blocks are not permitted');
    expect(at.requests[0]?.headers['anthropic-version']).toBe('2026-10-21');
  });

  it("include bytes and images, and their errors can have a proxy's wording", async () => {
    const at = await server({ strict: { maxBytes: 5000, textOnly: true }, tooLong: 'minimax', maxContextTokens: 500 });
    const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } };
    expect(await requestRefusal(at, { messages: [{ role: 'user', content: [image] }] })).toContain(
      'image content blocks are not supported',
    );
    expect(
      await requestRefusal(at, { max_tokens: 1, messages: [{ role: 'user', content: 'x'.repeat(4000) }] }),
    ).toContain('context window exceeds limit (2013)');
    const answer = await ask(at, { messages: [{ role: 'user', content: 'x'.repeat(6000) }] });
    expect(answer).toMatchObject({ error: { type: 'request_too_large' } });
    expect(at.requests.at(-1)?.status).toBe(413);
  });
});

/**
 * See the guide "Compaction on demand": "Request a summary", "Handle a missing summary or an error"
 * and "Count compaction usage".
 */
describe('a request to compact on the Anthropic test server', () => {
  const header = { 'anthropic-beta': 'compact-2026-09-04' };
  const compaction = { type: 'summarize' };

  it.each<[string, Json, Headers, string | undefined]>([
    ['without its header', {}, {}, 'requires anthropic-beta: compact-2026-09-04'],
    ['of another kind', { compaction: { type: 'shorten' } }, header, 'Input tag'],
    [
      'with instructions that are too long',
      { compaction: { ...compaction, instructions: 'x'.repeat(16_385) } },
      header,
      'too long',
    ],
    [
      'with context management',
      { context_management: { edits: [] } },
      { 'anthropic-beta': 'compact-2026-09-04,context-management-2025-06-27' },
      'context_management',
    ],
    ['with stop sequences', { stop_sequences: ['x'] }, header, 'stop_sequences'],
    ['with a form for the answer', { output_config: { format: {} } }, header, 'output_config.format'],
    ['with a forced call', { tools, tool_choice: { type: 'any' } }, header, 'tool_choice'],
    [
      'that ends on an open call',
      { tools, messages: [user, { role: 'assistant', content: [call('a')] }] },
      header,
      'without `tool_result`',
    ],
    ['with effort', { output_config: { effort: 'low' } }, header, undefined],
    ['that ends on an answer', { messages: [user, { role: 'assistant', content: 'y' }] }, header, undefined],
  ])('is validated: %s', async (_, body, headers, words) => {
    const refusal = await requestRefusal(await server({}), { compaction, ...body }, headers);
    if (words === undefined) expect(refusal).toBeUndefined();
    else expect(refusal).toContain(words);
  });

  it('returns one signed block and reports its tokens only under `iterations`', async () => {
    const at = await server({ script: reply('All of it.') });
    expect(await ask(at, { compaction }, header)).toMatchObject({
      content: [{ type: 'compaction', content: 'All of it.', signature: expect.any(String) as unknown }],
      stop_reason: 'compaction',
      usage: { input_tokens: 0, output_tokens: 0, iterations: [{ type: 'compaction', output_tokens: 4 }] },
    });
    expect(
      await ask(await server({ script: callsTool({ name: 'a', input: {} }) }), { compaction, tools }, header),
    ).toMatchObject({ content: [], stop_reason: 'tool_use' });
  });
});
