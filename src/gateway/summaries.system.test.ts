/**
 * Tests summaries by the agent's own model on every wire: in the background, canceled, failed, and
 * over a limit.
 */
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { startAnthropicServer } from '../../test/servers/anthropicServer';
import { makeErrorResponse, reply, type Behaviour } from '../../test/servers/behaviour';
import { startGeminiServer } from '../../test/servers/geminiServer';
import type { ModelServer, RecordedRequest } from '../../test/servers/modelServer';
import { startOpenAIServer } from '../../test/servers/openaiServer';
import { temporaryFolder } from '../../test/support/temporaryFolder';
import { loadPriceTable } from '../api/prices';
import { CondensationManager, createProviders } from '../core/condense';
import { createCounter } from '../core/testingCounter';
import type { LiveEvent } from '../live/events';
import { ConversationSpending } from '../live/conversationSpending';
import { LiveConversations } from '../live/liveConversations';
import type { LiveSettings } from '../live/types';
import { Spending } from '../storage/spending';
import { LiveCondenser } from './liveCondenser';
import { startGateway } from './server';
import { GatewaySummaries } from './summaries';
import { PATH_BY_WIRE, WIRE_NAMES } from './wires/testing';
import type { WireName } from './wires/wire';

const SERVERS: Readonly<
  Record<
    WireName,
    (options: { tokenFactor: number; script: (one: RecordedRequest) => Behaviour }) => Promise<ModelServer>
  >
> = {
  anthropic: startAnthropicServer,
  chat: startOpenAIServer,
  responses: startOpenAIServer,
  gemini: (options) => startGeminiServer({ ...options, strict: { signatures: false } }),
};
/** These are the vendors' own URLs, so that their prices apply. */
const VENDORS: Readonly<Record<WireName, string>> = {
  anthropic: 'https://api.anthropic.com',
  chat: 'https://api.openai.com',
  responses: 'https://api.openai.com',
  gemini: 'https://generativelanguage.googleapis.com',
};
const WINDOW = 40_000;
const makeOutput = (step: number): string =>
  Array.from({ length: 100 }, (_, line) => `${line + 1}: const value${step}_${line} = "${line * 31}";`).join('\n');
const TASK = 'Look at the files';
const SCHEMA = { type: 'object', properties: { path: { type: 'string' } } };
const makeInput = (step: number): object => ({ path: `/src/file${step}.ts` });

const BODIES: Readonly<Record<WireName, (steps: readonly number[]) => object>> = {
  anthropic: (steps) => ({
    model: 'claude-sonnet-4-6',
    max_tokens: 2_048,
    system: 'You are an agent.',
    tools: [{ name: 'Read', input_schema: SCHEMA }],
    messages: [
      { role: 'user', content: TASK },
      ...steps.flatMap((step) => [
        {
          role: 'assistant',
          content: [{ type: 'tool_use', id: `toolu_${step}`, name: 'Read', input: makeInput(step) }],
        },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: `toolu_${step}`, content: makeOutput(step) }] },
      ]),
    ],
    stream: true,
  }),
  chat: (steps) => ({
    model: 'gpt-5',
    tools: [{ type: 'function', function: { name: 'Read', parameters: SCHEMA } }],
    messages: [
      { role: 'system', content: 'You are an agent.' },
      { role: 'user', content: TASK },
      ...steps.flatMap((step) => {
        const called = { name: 'Read', arguments: JSON.stringify(makeInput(step)) };
        return [
          {
            role: 'assistant',
            content: null,
            tool_calls: [{ id: `call_${step}`, type: 'function', function: called }],
          },
          { role: 'tool', tool_call_id: `call_${step}`, content: makeOutput(step) },
        ];
      }),
    ],
    stream: true,
    stream_options: { include_usage: true },
  }),
  responses: (steps) => ({
    model: 'gpt-5',
    instructions: 'You are an agent.',
    tools: [{ type: 'function', name: 'Read', parameters: SCHEMA, strict: false }],
    input: [
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: TASK }] },
      ...steps.flatMap((step) => [
        { type: 'function_call', call_id: `call_${step}`, name: 'Read', arguments: JSON.stringify(makeInput(step)) },
        { type: 'function_call_output', call_id: `call_${step}`, output: makeOutput(step) },
      ]),
    ],
    store: false,
    stream: true,
  }),
  gemini: (steps) => ({
    systemInstruction: { parts: [{ text: 'You are an agent.' }] },
    tools: [{ functionDeclarations: [{ name: 'Read', parametersJsonSchema: SCHEMA }] }],
    contents: [
      { role: 'user', parts: [{ text: TASK }] },
      ...steps.flatMap((step) => [
        { role: 'model', parts: [{ functionCall: { id: `f${step}`, name: 'Read', args: makeInput(step) } }] },
        {
          role: 'user',
          parts: [{ functionResponse: { id: `f${step}`, name: 'Read', response: { output: makeOutput(step) } } }],
        },
      ]),
    ],
  }),
};

const SUMMARY = 'The user wants the files looked at. All of them were read, and nothing else was done.';
const LIMIT_NAMES = { condensation: '--each', conversation: '--each', day: '--a-day', unknownPrice: 'Say "none".' };

const isSummary = ({ body, path }: RecordedRequest): boolean =>
  body['tools'] === undefined && !path.includes('count_tokens');

interface BedOptions {
  readonly summary?: Behaviour;
  readonly settings?: Partial<LiveSettings>;
  readonly perDay?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

async function bed(wire: WireName, { summary = reply(`<summary>${SUMMARY}</summary>`), ...options }: BedOptions = {}) {
  const root = temporaryFolder();
  const vendor = await SERVERS[wire]({ tokenFactor: 1, script: (one) => (isSummary(one) ? summary : reply('Done.')) });
  const counter = createCounter();
  const spending = new Spending(join(root, 'spending.jsonl'));
  const summaries = new GatewaySummaries({
    counter,
    spending,
    limits: { perConversation: 0, perDay: options.perDay ?? 0 },
    limitNames: LIMIT_NAMES,
  });
  const settings: LiveSettings = {
    provider: 'native',
    mayUseNative: false,
    newResults: 'off',
    waitMs: 0,
    backgroundPercent: 60,
    maxCost: 0.5,
    ...options.settings,
  };
  const live = new LiveConversations({
    manager: new CondensationManager(counter, createProviders({ select: summaries.select })),
    counter,
    settings: () => settings,
    root: join(root, 'store'),
  });
  const events: LiveEvent[] = [];
  live.on((event) => events.push(event));
  const condenser = new LiveCondenser({
    live,
    counter,
    prices: await loadPriceTable(),
    addresses: new Map([['vendor', new URL(VENDORS[wire])]]),
    window: WINDOW,
    spending: new ConversationSpending({
      spending,
      limits: () => ({ perConversation: 1_000, perDay: 0, stops: false }),
      messages: {} as never,
      tell: () => undefined,
      warn: () => undefined,
    }),
    summaries,
  });
  const gateway = await startGateway({
    routes: new Map([['vendor', new URL(vendor.url)]]),
    condenser,
  });
  onTestFinished(async () => {
    live.dispose();
    await gateway.close();
    await vendor.close();
  });
  const ask = async (steps: number): Promise<number> => {
    const response = await fetch(`${gateway.url('vendor')}${PATH_BY_WIRE[wire]}`, {
      method: 'POST',
      body: JSON.stringify(BODIES[wire](Array.from({ length: steps }, (_, step) => step))),
      headers: { 'content-type': 'application/json', 'x-api-key': 'sk-agent', 'x-agent': 'yes', ...options.headers },
    });
    await response.text();
    await condenser.waitUntilSettled();
    return response.status;
  };
  /**
   * Continues the task until a summary starts.
   * @returns the number of steps
   */
  const begin = async (): Promise<number> => {
    for (let steps = 4; steps < 100; steps++) {
      expect(await ask(steps)).toBe(200);
      if (told('preparing').length > 0) return steps;
      expect(asked()).toEqual([]);
    }
    throw new Error('No summary was begun.');
  };
  const asked = (): readonly RecordedRequest[] => vendor.requests.filter(isSummary);
  const sent = (): readonly RecordedRequest[] => vendor.requests.filter((one) => !isSummary(one));
  const told = (kind: LiveEvent['kind']): LiveEvent[] => events.filter((event) => event.kind === kind);
  const spent = async (kind: 'own' | 'chat'): Promise<number> => (await spending.readSpent(kind, undefined)).day;
  const ready = () =>
    vi.waitFor(() => {
      expect(told('preparing')).toContainEqual(expect.objectContaining({ isPreparing: false }));
    });
  return { live, ask, begin, asked, sent, told, spent, summaries, ready };
}

const getText = ({ body }: RecordedRequest): string => JSON.stringify(body);
const getMessages = ({ body }: RecordedRequest): readonly unknown[] =>
  (body['messages'] ?? body['input'] ?? body['contents']) as readonly unknown[];

it.each(WIRE_NAMES)(
  "in the API format %s, a summary is written in the background with the agent's credentials, and used from the next request on",
  async (wire) => {
    const { ask, begin, asked, sent, ready, told, spent, summaries } = await bed(wire);
    const many = await begin();
    const before = sent().length;
    await ready();
    const [one] = asked();
    expect(asked()).toHaveLength(1);
    expect(one?.headers).toMatchObject({ 'x-api-key': 'sk-agent', 'x-agent': 'yes' });
    expect(one?.headers['authorization']).toBeUndefined();
    // The request that triggered the summary was sent unchanged.
    const whole = sent()[before - 1]!;
    expect(getText(whole)).not.toContain(SUMMARY);
    expect(await ask(many + 1)).toBe(200);
    expect(await ask(many + 2)).toBe(200);
    const [condensed, next] = sent().slice(before);
    expect(getText(condensed!)).toContain(SUMMARY);
    expect(getMessages(condensed!).length).toBeLessThan(getMessages(whole).length);
    // Earlier content stays byte-identical, apart from cache breakpoints.
    const bytes = (list: readonly unknown[]): string =>
      JSON.stringify(list, (key, value: unknown) => (key === 'cache_control' ? undefined : value));
    expect(bytes(getMessages(next!).slice(0, getMessages(condensed!).length))).toBe(bytes(getMessages(condensed!)));
    expect(told('condensed')).toHaveLength(1);
    // The summary counts once as our request, and not as the agent's.
    const { calls, cost = 0 } = summaries.figures;
    expect(calls).toBe(1);
    expect(cost).toBeGreaterThan(0);
    expect(await spent('own')).toBeCloseTo(cost, 9);
    expect(asked()).toHaveLength(1);
  },
);

it.each(WIRE_NAMES)(
  'in the API format %s, no request waits for a summary that never arrives, and ending the gateway cancels it',
  async (wire) => {
    const { ask, begin, asked, sent, live, summaries, told, spent } = await bed(wire, { summary: { kind: 'never' } });
    const many = await begin();
    for (const steps of [many + 1, many + 2]) expect(await ask(steps)).toBe(200);
    const lengths = sent().map((one) => getMessages(one).length);
    expect(lengths).toEqual(lengths.map((_length, at) => (lengths[0] ?? 0) + 2 * at));
    await vi.waitFor(() => expect(asked()).toHaveLength(1));
    expect(live.endPreparations('the agent ended')).toBe(1);
    await asked()[0]?.aborted;
    await summaries.waitUntilSettled();
    await vi.waitFor(() =>
      expect(told('not-condensed')).toEqual([
        expect.objectContaining({
          givenUp: 'the agent ended',
          outcome: expect.objectContaining({ kind: 'cancelled' }),
        }),
      ]),
    );
    expect(told('condensed')).toEqual([]);
    // The summary's actual cost is unknown, so its maximum counts.
    expect(summaries.figures).toEqual({ calls: 1, cost: undefined });
    expect(await spent('own')).toBeGreaterThan(0);
  },
);

it.each(WIRE_NAMES)('in the API format %s, a rejected summary leaves the agent’s requests unchanged', async (wire) => {
  const words = 'sk-agent is not allowed to read "Look at the files"';
  const { ask, begin, asked, sent, ready, told, spent } = await bed(wire, {
    summary: makeErrorResponse(403, 'permission_error', words),
  });
  const many = await begin();
  await ready();
  for (const steps of [many + 1, many + 2]) expect(await ask(steps)).toBe(200);
  expect(asked()).toHaveLength(1);
  const lengths = sent().map((one) => getMessages(one).length);
  expect(lengths).toEqual(lengths.map((_length, at) => (lengths[0] ?? 0) + 2 * at));
  const [failed, ...more] = told('not-condensed');
  expect(more).toEqual([]);
  expect(failed).toMatchObject({ outcome: { kind: 'failed', cost: 0 } });
  // The vendor may quote the request, so its message must not be logged.
  const said = JSON.stringify(failed, (_key, value: unknown) => (value instanceof Error ? value.message : value));
  expect(said).toContain('refused to write a summary (403, permission)');
  expect(said).not.toContain('sk-agent');
  expect(said).not.toContain('Look at the files"');
  expect(await spent('own')).toBe(0);
});

it.each([
  [
    'that one may cost',
    { settings: { maxCost: 0.0001 } },
    /at most \$0\.0001 may be spent on a condensation \(--each\)/,
  ],
  ['of a day', { perDay: 0.0001 }, /has been spent on condensing today.* Raise --a-day/],
] as const)(
  'the gateway calls no model for a summary above the limit %s, and reports that',
  async (_which, options, words) => {
    const { ask, begin, asked, ready, told, summaries, spent } = await bed('anthropic', options);
    const many = await begin();
    await ready();
    expect(await ask(many + 1)).toBe(200);
    expect(asked()).toEqual([]);
    expect(summaries.figures).toEqual({ calls: 0, cost: 0 });
    const [event] = told('not-condensed');
    const outcome = event?.kind === 'not-condensed' ? event.outcome : undefined;
    const said =
      outcome?.kind === 'failed' ? outcome.error.message : outcome?.kind === 'unchanged' ? outcome.detail : '';
    expect(said).toMatch(words);
    expect(await spent('own')).toBe(0);
  },
);

it.each([
  ['anthropic', { authorization: 'Bearer sk-ant-oat01-x' }, /Claude subscription/],
  ['anthropic', { authorization: 'Bearer x', 'anthropic-beta': 'oauth-2025-04-20,other' }, /Claude subscription/],
  ['responses', { authorization: 'Bearer x', 'chatgpt-account-id': 'a' }, /ChatGPT/],
] as const)(
  "in the API format %s, a subscription's credentials are not used for summaries (%j)",
  async (wire, headers, words) => {
    const { ask, begin, asked, ready, told } = await bed(wire, { headers });
    const many = await begin();
    await ready();
    await ask(many + 1);
    expect(asked()).toEqual([]);
    expect(told('not-condensed')).toEqual([
      expect.objectContaining({
        outcome: expect.objectContaining({ error: expect.objectContaining({ message: expect.stringMatching(words) }) }),
      }),
    ]);
  },
);
