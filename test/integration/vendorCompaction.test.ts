/**
 * Tests Summary with the vendor's own compaction, with real SDKs and strict servers that apply the
 * rules of Anthropic's guide "Compaction on demand"
 * (platform.claude.com/docs/en/build-with-claude/compaction-on-demand).
 */
import { afterEach, expect, it } from 'vitest';
import { createAnthropicHandler } from '../../src/api/anthropic';
import { createBedrockHandler } from '../../src/api/bedrock';
import { loadPriceTable } from '../../src/api/prices';
import { createSummarizer } from '../../src/api/summarizer';
import { createVertexHandler } from '../../src/api/vertex';
import { applyEdits } from '../../src/core/condense/edits/applyEdits';
import { CondensationManager, createNativeProvider } from '../../src/core/condense';
import { getFirstSummaryPrompt, planSummary } from '../../src/core/condense/summary/plan';
import { createStrategyProvider } from '../../src/core/condense/providers/strategy';
import { nativeConfigSchema } from '../../src/core/condense/summary/nativeConfig';
import { selectSummarizer } from '../../src/core/condense/summarizer';
import { checkConversation } from '../../src/core/messages/firewall';
import type { ApiMessage } from '../../src/core/messages/types';
import { assistant, makeToolExchange, makeLines, user } from '../../src/core/testing';
import { createLimitedSummarizer } from '../../src/storage/limitedSummarizer';
import { startAnthropicServer, type AnthropicServerOptions } from '../servers/anthropicServer';
import { cutAtMaxTokens, emptyReply, makeOverloadedError, refusal, reply, type Behaviour } from '../servers/behaviour';
import type { Json } from '../servers/json';
import type { ModelServer } from '../servers/modelServer';
import { freshCounter } from '../generators/setups';

const counter = freshCounter();
const table = await loadPriceTable();
const KEY = 'sk-ant-REDACTED';
const SUMMARY = 'The user wants green tests. f0 to f19 were read, and none of them was changed so far.';
const OPUS = 'claude-opus-4-8';

let server: ModelServer;
afterEach(() => server.close());

const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'aGk=' } };
const conversation: ApiMessage[] = [
  user('Make the tests pass.'),
  ...Array.from({ length: 20 }, (_, index) =>
    makeToolExchange(`t${index}`, 'Read', { path: `f${index}` }, makeLines(`f${index}`, 60)),
  ).flat(),
  { role: 'assistant', content: [{ type: 'thinking', thinking: 'Hm.', signature: 'of another model' }] },
  { role: 'user', content: [{ type: 'text', text: `Here is my key: ${KEY}` }, image] },
  ...Array.from({ length: 4 }, (_, index) => [assistant(`answer ${index}`), user(`question ${index}`)]).flat(),
];

interface Setup {
  readonly script?: Behaviour | readonly Behaviour[];
  readonly options?: AnthropicServerOptions;
  readonly model?: string;
  readonly vendor?: 'anthropic' | 'vertex' | 'bedrock';
  readonly window?: number;
  readonly extraBody?: Json;
  readonly perDay?: number;
}

async function setUp({
  script = reply(SUMMARY),
  options = {},
  model: id = OPUS,
  vendor = 'anthropic',
  window = 200_000,
  extraBody,
  perDay,
}: Setup = {}) {
  server = await startAnthropicServer({ strict: { byModel: true }, ...options });
  server.play(script);
  const common = { counter, model: { id, contextWindow: window }, retry: { retries: 2, firstWaitMs: 1 } };
  const own =
    vendor === 'bedrock'
      ? createBedrockHandler({ ...common, baseUrl: server.url, region: 'eu-central-1', credentials: { apiKey: 'key' } })
      : vendor === 'vertex'
        ? createVertexHandler({
            ...common,
            baseUrl: `${server.url}/v1`,
            region: 'global',
            projectId: 'p',
            credentials: { accessToken: 'token' },
          })
        : createAnthropicHandler({ ...common, baseUrl: server.url, apiKey: 'sk-test-key' });
  const handler: typeof own = {
    ...own,
    stream: (asked, signal) => own.stream({ ...asked, ...(extraBody && { extraBody }) }, signal),
  };
  const prices = table.lookup({ vendor: 'anthropic', model: OPUS })?.prices;
  const plain = createSummarizer({ profile: 'Test', handler, ...(prices && { prices }) });
  const booked: number[] = [];
  const summarizer =
    perDay === undefined
      ? plain
      : createLimitedSummarizer(plain, {
          limits: () => ({ perConversation: 0, perDay }),
          count: (text) => counter.countText(text),
          spending: {
            bookSpending: ({ atMost }) => {
              booked.push(atMost);
              return Promise.resolve(
                atMost > perDay
                  ? { kind: 'refused', limit: 'day', spent: 0, allowed: perDay }
                  : { kind: 'booked', settle: () => Promise.resolve(), warnings: [] },
              ) as never;
            },
          },
        });
  const native = createNativeProvider({ select: () => selectSummarizer({ condensing: summarizer }) });
  const manager = new CondensationManager(counter, [native, createStrategyProvider({ providers: () => [native] })]);
  const request = {
    conversation: 'c',
    messages: conversation,
    trigger: 'manual',
    provider: 'native',
    config: { vendorCompaction: true },
    system: 'You are an agent.',
    vendor: 'anthropic',
  } as const;
  return { manager, request, summarizer, booked, condense: () => manager.condense(request) };
}

it('vendor compaction is off by default', async () => {
  const { manager, request } = await setUp();
  const outcome = await manager.condense({ ...request, config: {} });
  expect(outcome.kind).toBe('condensed');
  expect(server.requests[0]?.body).not.toHaveProperty('compaction');
});

it('vendor compaction receives the conversation, and its text replaces what it summarizes', async () => {
  const { condense } = await setUp();
  const outcome = await condense();
  if (outcome.kind !== 'condensed') throw new Error(JSON.stringify(outcome));
  const [sent] = server.requests;
  expect(server.requests).toHaveLength(1);
  expect(sent?.headers['anthropic-beta']).toContain('compact-2026-09-04');
  expect(sent?.body).toMatchObject({
    compaction: { type: 'summarize' },
    system: 'You are an agent.',
    tools: [{ name: 'Read' }],
  });
  // The request contains everything from the task to the kept end verbatim, but neither other
  // models' thinking nor images.
  expect(JSON.stringify(sent?.body['messages'])).toContain('(image)');
  expect(JSON.stringify(sent?.body['messages'])).not.toMatch(/"thinking"|aGk=/);
  expect((sent?.body['messages'] as object[]).slice(0, 3)).toEqual(conversation.slice(0, 3));
  expect(JSON.stringify(outcome.view[1])).toContain(SUMMARY);
  expect(checkConversation(outcome.view)).toEqual([]);
  expect(outcome.steps.map(({ name }) => name)).toEqual([`Vendor’s compaction by ${OPUS} (Test)`]);
  // Undoing the single edit restores what was removed, and nothing of the vendor's format is left.
  expect(applyEdits(conversation, outcome.edits).messages).toEqual(outcome.view);
  expect(outcome.edits).toHaveLength(1);
  expect(JSON.stringify(outcome.view)).not.toContain('signature');
});

it('vendor compaction works in a step of a strategy', async () => {
  const { manager, request } = await setUp();
  const config = { id: 'mine', name: 'Mine', steps: [{ provider: 'native', config: { vendorCompaction: true } }] };
  expect((await manager.condense({ ...request, provider: 'strategy', config })).kind).toBe('condensed');
  expect(server.requests.map(({ body }) => 'compaction' in body)).toEqual([true]);
});

it('vendor compaction costs what `iterations` reports, as estimated', async () => {
  const { condense, manager, request } = await setUp();
  const estimate = await manager.estimate(request);
  const outcome = await condense();
  const spent = server.requests[0]?.usage as unknown as { input_tokens: number; output_tokens: number };
  expect(spent.input_tokens).toBeGreaterThan(1_000);
  expect(outcome.calls?.[0]?.usage).toMatchObject({
    inputTokens: spent.input_tokens,
    outputTokens: spent.output_tokens,
  });
  // Opus 4.8 costs $5 and $25 per million tokens.
  expect(outcome.cost).toBeCloseTo((spent.input_tokens * 5 + spent.output_tokens * 25) / 1e6, 6);
  expect(estimate.cost).toBeGreaterThan(((outcome.cost ?? 0) * 5) / 10);
});

it('vendor compaction masks keys for other vendors', async () => {
  const { manager, request } = await setUp();
  await manager.condense({ ...request, vendor: 'openai' });
  expect(JSON.stringify(server.requests[0]?.body)).not.toContain(KEY);
  expect(server.requests[0]?.body).toHaveProperty('compaction');
});

it('vendor compaction respects the limits per condensation and day', async () => {
  const dear = await setUp();
  expect(await dear.manager.condense({ ...dear.request, maxCost: 0.0001 })).toMatchObject({ reason: 'over-budget' });
  expect(server.requests).toHaveLength(0);
  await server.close();
  const { condense, booked } = await setUp({ perDay: 0.01 });
  expect((await condense()).kind).toBe('failed');
  // The reservation was for the whole conversation, not only for a prompt.
  expect(booked[0]).toBeGreaterThan(0.05);
  expect(server.requests).toHaveLength(0);
});

it('vendor compaction omits request fields that only affect an answer', async () => {
  const extraBody = {
    stop_sequences: ['x'],
    context_management: { edits: [] },
    output_config: { effort: 'low', format: { type: 'json_schema' } },
    service_tier: 'auto',
  };
  const { condense } = await setUp({ extraBody });
  expect((await condense()).kind).toBe('condensed');
  expect(server.requests).toHaveLength(1);
  expect(server.requests[0]?.body).toMatchObject({ output_config: { effort: 'low' }, service_tier: 'auto' });
});

it.each([
  ['Vertex', { vendor: 'vertex' }, true],
  ['a model that binds its thinking', { model: 'claude-opus-5-5' }, true],
  ['a model that can not', { model: 'claude-haiku-4-5' }, false],
  ['Bedrock', { vendor: 'bedrock' }, false],
  ['a conversation that is longer than the window', { window: 14_000 }, false],
] as const)('vendor compaction is used only if supported: %s', async (_, setup, compacts) => {
  const { condense } = await setUp(setup);
  const outcome = await condense();
  expect(outcome.kind).toBe('condensed');
  expect(server.requests.every(({ refusal: words }) => words === undefined)).toBe(true);
  expect(server.requests.some(({ body }) => body['compaction'] !== undefined)).toBe(compacts);
  const notes = outcome.notes.join(' ');
  if (compacts) expect(notes).not.toContain('own prompt');
  else expect(notes).toContain('Context Condenser’s own prompt');
});

it('Summary falls back to the built-in prompt if the vendor refuses to compact', async () => {
  const { condense } = await setUp({ options: { compacts: false } });
  const outcome = await condense();
  if (outcome.kind !== 'condensed') throw new Error(JSON.stringify(outcome));
  expect(server.requests.map(({ refusal: words }) => words !== undefined)).toEqual([true, false]);
  expect(server.requests[1]?.body).not.toHaveProperty('compaction');
  expect(server.requests[1]?.headers['anthropic-beta'] ?? '').not.toContain('compact-');
  expect(outcome.notes.join(' ')).toContain('The vendor’s compaction could not be used');
});

it('Summary summarizes in parts if there was no room for the vendor’s compaction prompt', async () => {
  const { condense } = await setUp({ script: [reply('', { stop: 'window' }), reply(SUMMARY)] });
  const outcome = await condense();
  expect(outcome.kind).toBe('condensed');
  expect(server.requests[0]?.body).toHaveProperty('compaction');
  expect(server.requests.slice(1).some(({ body }) => 'compaction' in body)).toBe(false);
});

it('vendor compaction is retried if the vendor is overloaded', async () => {
  const { condense } = await setUp({ script: [makeOverloadedError(), reply(SUMMARY)] });
  expect((await condense()).kind).toBe('condensed');
  expect(server.requests).toHaveLength(2);
});

it.each([
  ['cut', cutAtMaxTokens('The user')],
  ['declined', refusal()],
  ['empty', emptyReply()],
  ['a call', reply('', { calls: [{ name: 'Read', input: {} }] })],
] as const)('a vendor compaction that is %s is paid for and never applied', async (_, script) => {
  const { condense } = await setUp({ script });
  const outcome = await condense();
  expect(outcome.kind).toBe('failed');
  expect(outcome.cost).toBeGreaterThan(0);
  expect(server.requests).toHaveLength(1);
});

it('vendor compaction shows its request before sending it', async () => {
  const { summarizer } = await setUp();
  const config = nativeConfigSchema.parse({ vendorCompaction: true });
  const context = { messages: conversation, edits: [], counter, system: 'You are an agent.' };
  const plan = await planSummary({ context, config, model: summarizer.model });
  if (plan.kind !== 'plan') throw new Error(plan.kind);
  expect(getFirstSummaryPrompt(plan).prompt).toContain('Make the tests pass.');
});
