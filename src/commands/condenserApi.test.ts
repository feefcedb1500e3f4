import Anthropic from '@anthropic-ai/sdk';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { openTestWindow } from '../../test/support/testWindow';
import { startAnthropicServer } from '../../test/servers/anthropicServer';
import { reply } from '../../test/servers/behaviour';
import { fake } from '../../test/support/vscode';
import { openMetricsStore } from '../window/metrics';
import { openSpending } from '../window/spending';
import type { Services } from '../window/services';
import { BUILT_IN_PROVIDERS } from '../core/condense/types';
import { assistant, call, makeToolExchange, makeLines, result, user } from '../core/testing';
import type { CondensedEvent, ContextCondenserApi, Message, Provider } from '../extensionApi/api';
import { createCondenserApi } from './condenserApi';
import { getApi } from './index';
import { cutter } from '../extensionApi/testing';
import { MARKER_START, findMarkers } from '../core/messages/markers';

let services: Services;
let api: ContextCondenserApi;

/** The conversation has a task, ten reads and a last answer. */
const messages: readonly Message[] = [
  user('Make the tests pass.'),
  ...Array.from({ length: 10 }, (_, index) =>
    makeToolExchange(`t${index}`, 'Read', { file_path: `/w/f${index}.ts` }, makeLines(`f${index}`, 60)),
  ).flat(),
  assistant('Done.'),
];
const conversation = { id: 'c', messages };

beforeEach(() => {
  ({ services } = openTestWindow());
  api = createCondenserApi(services);
});

const withCondense = (condense: Provider['condense'], more: Partial<Provider> = {}): Provider => ({
  ...cutter,
  ...more,
  condense,
});
/** Condenses with a provider that returns this value. */
async function condenseWithResult(value: unknown, more: Partial<Provider> = {}, given = conversation) {
  const registration = api.registerProvider(withCondense(() => Promise.resolve(value as never), more));
  try {
    return await api.condense(given, { provider: cutter.id });
  } finally {
    registration.dispose();
  }
}

describe('the API for other extensions', () => {
  it('is created once, and is refused if another version is requested', () => {
    expect(getApi(1, services)).toBe(getApi(1, services));
    expect(() => getApi(2, services)).toThrow('version 1 of its API, not 2');
  });

  it('lists providers with their schemas, and profiles without secrets', async () => {
    fake.settings['contextCondenser.profiles'] = [
      { id: 'w', name: 'Work', vendor: 'anthropic', model: 'm', baseUrl: 'https://host.example/secret-path' },
    ];
    fake.settings['contextCondenser.condensingProfile'] = 'w';
    const providers = await api.listProviders();
    // Other extensions can't use these IDs.
    expect(providers.map(({ id }) => id).toSorted()).toEqual([...BUILT_IN_PROVIDERS].toSorted());
    const find = (id: string) => providers.find((provider) => provider.id === id)!;
    expect([find('truncation').usesModel, find('native').usesModel]).toEqual([false, true]);
    const { configSchema } = find('truncation');
    expect(configSchema).toMatchObject({ properties: { toolResults: {} } });
    Object.assign(configSchema, { properties: {} });
    const again = await api.listProviders();
    expect(again.find(({ id }) => id === 'truncation')?.configSchema).not.toEqual(configSchema);
    expect(await api.listProfiles()).toEqual([
      { id: 'w', name: 'Work', vendor: 'anthropic', model: 'm', isCondensing: true },
    ]);
  });

  it('condenses, notifies, restores the original, and continues after the conversation has grown', async () => {
    const events: CondensedEvent[] = [];
    api.onDidCondense((event) => events.push(event));
    const before = JSON.stringify(messages);
    const outcome = await api.condense(conversation, { provider: 'truncation', targetTokens: 5_000 });
    if (outcome.kind !== 'condensed') throw new Error(outcome.kind);
    expect(outcome.tokensAfter).toBeLessThanOrEqual(5_000);
    expect(JSON.stringify(messages)).toBe(before);
    expect(events).toEqual([
      {
        source: 'api',
        conversation: 'c',
        provider: 'truncation',
        tokensBefore: outcome.tokensBefore,
        tokensAfter: outcome.tokensAfter,
        cost: 0,
      },
    ]);
    // The edits are JSON, so they survive being stored.
    const edits = JSON.parse(JSON.stringify(outcome.edits)) as typeof outcome.edits;
    const grown = { id: 'c', messages: [...messages, user('And now?')], edits };
    const view = api.viewOf(grown);
    expect(view).toEqual([...outcome.view, user('And now?')]);
    const [marker] = findMarkers(JSON.stringify(view));
    expect(marker).toBeDefined();
    const { reference } = marker!;
    const original = api.expand(grown, reference);
    expect(original?.length).toBeGreaterThan(100);
    expect(before).toContain(JSON.stringify(original).slice(1, -1));
    expect(api.expand(grown, 'ffffff')).toBeUndefined();
    expect(await api.condense(grown, { provider: 'truncation', targetTokens: 5_100 })).toMatchObject({
      kind: 'unchanged',
      reason: 'target-met',
    });
  });

  it('restores every kind of edit, including removed blocks and summaries', async () => {
    const thinking: Message = {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: makeLines('thought', 200), signature: 's' },
        { type: 'text', text: 'So.' },
      ],
    };
    const thoughtful = { id: 'thoughts', messages: [user('Think.'), thinking, user('And?'), ...messages] };
    const outcome = await api.condense(thoughtful, { provider: 'smart', config: 'file-aware' });
    if (outcome.kind !== 'condensed') throw new Error(outcome.kind);
    expect(outcome.edits.map(({ kind }) => kind)).toContain('block');
    const edits = JSON.parse(JSON.stringify(outcome.edits)) as typeof outcome.edits;
    expect(api.viewOf({ ...thoughtful, edits })).toEqual(outcome.view);
    const condensed = { ...thoughtful, edits };
    const summary = await condenseWithResult(
      { changes: [{ kind: 'summary', start: 4, end: 10, text: 'Files were read.', reason: 'old' }] },
      {},
      condensed,
    );
    if (summary.kind !== 'condensed') throw new Error(JSON.stringify(summary));
    expect(summary.edits.map(({ kind }) => kind)).toEqual(expect.arrayContaining(['block', 'summary']));
    expect(api.viewOf({ ...thoughtful, edits: summary.edits })).toEqual(summary.view);
  });

  it('uses provider and configuration from the settings if the caller gives none', async () => {
    fake.settings['contextCondenser.provider'] = 'truncation';
    expect(await api.condense(conversation)).toMatchObject({ kind: 'condensed', provider: 'truncation' });
    fake.settings['contextCondenser.truncation'] = { preserveRecentCount: 100 };
    expect(await api.condense(conversation)).toMatchObject({ kind: 'unchanged', provider: 'truncation' });
    expect(await api.condense(conversation, { config: {} })).toMatchObject({ kind: 'condensed' });
  });

  it('estimates the result of condensing', async () => {
    const estimate = await api.estimate(conversation, { provider: 'truncation', targetTokens: 5_000 });
    const outcome = await api.condense(conversation, { provider: 'truncation', targetTokens: 5_000 });
    expect(outcome).toMatchObject({ kind: 'condensed', ...estimate });
  });

  it('condenses automatically only if the window is full enough', async () => {
    const model = { contextWindow: 200_000 };
    expect(await api.condenseIfNeeded(conversation, model)).toMatchObject({ kind: 'not-due' });
    const small = { contextWindow: 9_000, maxOutputTokens: 500, tokenFactor: 1.5, thresholdPercent: 60 };
    const given = { ...conversation, overheadTokens: 300 };
    const outcome = await api.condenseIfNeeded(given, small, { provider: 'truncation', targetTokens: 5_000 });
    expect(outcome).toMatchObject({ kind: 'condensed', provider: 'truncation' });
    expect(outcome.kind === 'condensed' && outcome.tokensAfter).toBeLessThanOrEqual(5_000);
  });

  it("stays within the user's spending limits", async () => {
    const server = await startAnthropicServer({ script: reply('## Goal\nMake the tests pass.') });
    try {
      fake.settings['contextCondenser.profiles'] = [
        {
          id: 'w',
          name: 'Work',
          vendor: 'anthropic',
          model: 'claude-sonnet-4-20250514',
          baseUrl: server.url,
          prices: { input: 3, output: 15 },
        },
      ];
      fake.secrets.set(
        'contextCondenser.profileKey.w',
        JSON.stringify({ key: 'k', target: new URL(server.url).origin }),
      );
      fake.settings['contextCondenser.condensingProfile'] = 'w';
      fake.settings['contextCondenser.maxCostPerCondensation'] = 0.000_01;
      const asked = { provider: 'native', maxCost: 100 };
      // The estimate counts the calls' tokens by kind, and its cost follows from their prices.
      const { cost = 0, callTokens } = await api.estimate(conversation, { provider: 'native' });
      const { input = 0, output = 0 } = callTokens ?? {};
      expect(callTokens).toMatchObject({ cacheRead: 0, cacheWrite: 0 });
      expect((3 * input + 15 * output) / 1e6).toBeCloseTo(cost, 6);
      expect(cost).toBeGreaterThan(0);
      expect(await api.condense(conversation, asked)).toMatchObject({ kind: 'unchanged', reason: 'over-budget' });
      expect(server.requests).toHaveLength(0);
      fake.settings['contextCondenser.maxCostPerCondensation'] = 1;
      expect(await api.condense(conversation, asked)).toMatchObject({ kind: 'condensed', provider: 'native' });
      expect(server.requests.length).toBeGreaterThan(0);
      // The amount paid appears in History and counts toward the limits.
      const runs = await vi.waitFor(async () => {
        const known = await openMetricsStore(services).readRuns();
        expect(known).toHaveLength(2);
        return known;
      });
      expect(runs).toMatchObject([
        { outcome: 'unchanged', cost: 0 },
        { provider: 'native', trigger: 'api', outcome: 'condensed', calls: [{ profile: 'Work', outcome: 'complete' }] },
      ]);
      expect(runs[1]?.cost).toBeGreaterThan(0);
      const spent = await openSpending(services).readSpent('own', conversation.id);
      expect(spent).toEqual({ conversation: runs[1]?.cost, day: runs[1]?.cost });
    } finally {
      await server.close();
    }
  });

  it('says what to do if Summary has no profile', async () => {
    const outcome = await api.condense(conversation, { provider: 'native' });
    expect(outcome).toMatchObject({
      kind: 'failed',
      message: expect.stringContaining('No model for summaries is chosen. Add one'),
    });
  });

  it('reports a canceled condensation', async () => {
    const outcome = await api.condense(conversation, { provider: 'truncation', signal: AbortSignal.abort() });
    expect(outcome.kind).toBe('cancelled');
  });

  it.each([
    ['id', { id: '', messages }, 'conversation: id'],
    ['messages', { id: 'c', messages: 'x' }, 'conversation: messages'],
    ['a message', { id: 'c', messages: [{ role: 'robot', content: '' }] }, 'conversation.messages[0].role'],
    ['a block', { id: 'c', messages: [{ role: 'user', content: [{}] }] }, 'conversation.messages[0].content[0].type'],
    ['a function', { id: 'c', messages: [{ role: 'user', content: '', f: () => 1 }] }, 'is not plain data'],
    ['edits', { id: 'c', messages, edits: [{ kind: 'cut' }] }, 'conversation: edits.0'],
  ])('rejects an invalid %s', async (_what, wrong, message) => {
    await expect(api.condense(wrong as never)).rejects.toThrow(message);
    expect(() => api.viewOf(wrong as never)).toThrow(TypeError);
  });

  it('rejects invalid options and an invalid model', async () => {
    await expect(api.condense(conversation, { targetTokens: -1 })).rejects.toThrow('options: targetTokens');
    await expect(api.condense(conversation, { signal: {} as never })).rejects.toThrow('options: signal');
    await expect(api.condense(conversation, { provider: 'nope' })).resolves.toMatchObject({ kind: 'failed' });
    await expect(api.condenseIfNeeded(conversation, { contextWindow: 1 })).rejects.toThrow('model: contextWindow');
  });
});

describe('a provider of another extension', () => {
  it('can be listed, configured, run through the same checks, and unregistered', async () => {
    const registration = api.registerProvider(cutter);
    expect((await api.listProviders()).at(-1)).toMatchObject({ id: cutter.id, configSchema: cutter.configSchema });
    const steps: string[] = [];
    const outcome = await api.condense(conversation, {
      provider: cutter.id,
      onProgress: ({ step }) => steps.push(step),
    });
    expect(outcome).toMatchObject({ kind: 'condensed', provider: cutter.id, cost: 0, notes: ['Cut.'] });
    expect(steps).toEqual(['Cutting']);
    expect(JSON.stringify(outcome.kind === 'condensed' && outcome.view)).toContain(`${MARKER_START} a file`);
    const estimate = await api.estimate(conversation, { provider: cutter.id });
    expect(outcome).toMatchObject(estimate);

    const none = await api.condense(conversation, { provider: cutter.id, config: { minimum: 100_000 } });
    expect(none.kind).toBe('unchanged');
    const wrong = await api.condense(conversation, { provider: cutter.id, config: { minimum: 'x' } });
    expect(wrong).toMatchObject({ kind: 'condensed', notes: [expect.stringContaining('minimum'), 'Cut.'] });
    registration.dispose();
    await expect(api.condense(conversation, { provider: cutter.id })).resolves.toMatchObject({ kind: 'failed' });
    // Disposing twice does not remove the new registration.
    const again = api.registerProvider(cutter);
    registration.dispose();
    expect((await api.condense(conversation, { provider: cutter.id })).kind).toBe('condensed');
    again.dispose();
  });

  it('can remove and summarize content on top of earlier condensations', async () => {
    api.registerProvider(
      withCondense(({ messages: view }) =>
        Promise.resolve({
          changes: [
            view.length === messages.length
              ? { kind: 'summary', start: 1, end: 9, text: 'Four files were read.', reason: 'old' }
              : { kind: 'summary', start: 1, end: 6, text: 'Six files were read.', reason: 'old' },
          ],
        }),
      ),
    );
    const options = { provider: cutter.id };
    const first = await api.condense(conversation, options);
    if (first.kind !== 'condensed') throw new Error(JSON.stringify(first));
    expect(first.view).toHaveLength(messages.length - 7);
    const second = await api.condense({ ...conversation, edits: first.edits }, options);
    if (second.kind !== 'condensed') throw new Error(JSON.stringify(second));
    expect(second.view).toHaveLength(messages.length - 11);
    expect(JSON.stringify(second.view)).toContain('Six files were read.');
    expect(JSON.stringify(second.view)).not.toContain('Four files');
    expect(second.edits).toHaveLength(1);
    const [edit] = second.edits;
    expect(JSON.parse(api.expand({ ...conversation, edits: second.edits }, edit!['reference'] as string)!)).toEqual(
      messages.slice(1, 13),
    );
  });

  it('gets a copy of the conversation, so that its changes to it have no effect', async () => {
    const before = JSON.stringify(messages);
    const registration = api.registerProvider(
      withCondense(({ messages: view }) => {
        (view as Message[]).length = 0;
        return Promise.resolve({ changes: [] });
      }),
    );
    expect((await api.condense(conversation, { provider: cutter.id })).kind).toBe('unchanged');
    expect(JSON.stringify(messages)).toBe(before);
    registration.dispose();
  });

  const cut = { kind: 'cut', message: 2, path: ['content', 0, 'content'], start: 0, end: 500, what: 'w', reason: 'r' };
  it.each([
    ['no object', 'x', 'the result of Cutter'],
    ['a change of no kind', { changes: [{ kind: 'delete' }] }, 'changes.0.kind'],
    ['a negative cost', { changes: [], cost: -1 }, 'cost'],
    [
      'the task',
      { changes: [{ ...cut, message: 0, path: ['content'], end: 5 }] },
      'The first user message'.toLowerCase(),
    ],
    ['an id', { changes: [{ ...cut, path: ['content', 0, 'tool_use_id'], end: 1 }] }, 'no text from 0 to 1'],
    ['a slice outside', { changes: [{ ...cut, end: 100_000 }] }, 'no text from 0 to 100000'],
    ['no message', { changes: [{ ...cut, message: 99 }] }, 'There is no message 99'],
    [
      'an empty range',
      { changes: [{ kind: 'summary', start: 4, end: 4, text: 's', reason: 'r' }] },
      'no messages from',
    ],
    ['the task as summary', { changes: [{ kind: 'summary', start: 0, end: 5, text: 's', reason: 'r' }] }, 'first user'],
  ])('fails without effect if it returns %s', async (_what, value, message) => {
    const outcome = await condenseWithResult(value);
    expect(outcome.kind).toBe('failed');
    expect(outcome.kind === 'failed' && outcome.message.toLowerCase()).toContain(message.toLowerCase());
  });

  it('is rejected if its result would be an invalid conversation', async () => {
    const outcome = await condenseWithResult({
      changes: [{ kind: 'summary', start: 2, end: 9, text: 's', reason: 'r' }],
    });
    expect(outcome).toMatchObject({ kind: 'refused', problems: [expect.stringContaining('message')] });
  });

  it('loses edits that save nothing, and a note says so', async () => {
    const outcome = await condenseWithResult({ changes: [cut, { ...cut, message: 4, end: 3 }] });
    expect(outcome.notes).toEqual(['1 of 2 changes would save nothing and were left out.']);
  });

  it("can't remove text inside an earlier summary", async () => {
    const first = await condenseWithResult({
      changes: [{ kind: 'summary', start: 1, end: 9, text: 's', reason: 'r' }],
    });
    if (first.kind !== 'condensed') throw new Error(first.kind);
    const change = { ...cut, message: 1, path: ['content', 0, 'text'], end: 1 };
    const second = await condenseWithResult({ changes: [change] }, {}, {
      ...conversation,
      edits: first.edits,
    } as never);
    expect(second).toMatchObject({ kind: 'failed', message: expect.stringContaining('a summary') });
  });

  it('does not delay a cancellation if it hangs', async () => {
    const abort = new AbortController();
    const registration = api.registerProvider(
      withCondense(() => {
        abort.abort(new Error('stop'));
        return new Promise(() => undefined);
      }),
    );
    expect((await api.condense(conversation, { provider: cutter.id, signal: abort.signal })).kind).toBe('cancelled');
    registration.dispose();
  });

  it('is abandoned, stopped and reported if it never ends', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      let begin: (signal: AbortSignal) => void = () => undefined;
      const begun = new Promise<AbortSignal>((resolve) => {
        begin = resolve;
      });
      const registration = api.registerProvider(
        withCondense((_input, signal) => {
          begin(signal);
          return new Promise(() => undefined);
        }),
      );
      const outcome = api.condense(conversation, { provider: cutter.id });
      const signal = await begun;
      vi.advanceTimersByTime(30_000);
      expect(await outcome).toMatchObject({
        kind: 'failed',
        message: expect.stringContaining('did not answer within 30 s'),
      });
      expect(signal.aborted).toBe(true);
      registration.dispose();
    } finally {
      vi.useRealTimers();
    }
  });

  it('that uses a model stays within the spending limit, and estimates without a call', async () => {
    let calls = 0;
    const paid = (cost: number | undefined): Provider =>
      withCondense(
        () => {
          calls++;
          return Promise.resolve({
            changes: [{ kind: 'summary', start: 1, end: 9, text: 's', reason: 'r' } as const],
            cost: 0.02,
          });
        },
        { usesModel: true, estimate: () => Promise.resolve({ tokensAfter: 900, cost }) },
      );
    for (const [cost, kind] of [
      [0.9, 'unchanged'],
      [undefined, 'unchanged'],
      [0.03, 'condensed'],
    ] as const) {
      const registration = api.registerProvider(paid(cost));
      expect(await api.estimate(conversation, { provider: cutter.id })).toMatchObject({ tokensAfter: 900, cost });
      expect(await api.condense(conversation, { provider: cutter.id })).toMatchObject({ kind });
      registration.dispose();
    }
    expect(calls).toBe(1);
  });

  it.each([
    ['no id', { id: 'a b' }, 'provider: id'],
    ['an id of ours', { id: 'lossless' }, 'is the id of a built-in provider'],
    ['no condense', { condense: 'x' }, 'provider: condense'],
    ['no estimate', { usesModel: true }, 'provider: estimate'],
    ['a schema of nothing', { configSchema: { type: 'nonsense' } }, 'provider.configSchema'],
    [
      'a setting without default',
      { configSchema: { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] } },
      'needs a default; without one: a',
    ],
    [
      'an optional setting without default',
      { configSchema: { type: 'object', properties: { a: { default: 1 }, keep: { type: 'string' } } } },
      'needs a default; without one: keep',
    ],
    [
      'settings without defaults inside a setting',
      {
        configSchema: {
          type: 'object',
          properties: { a: { type: 'object', properties: { b: { default: 1 }, c: { $ref: '#' }, d: true } } },
        },
      },
      'needs a default; without one: a.c, a.d',
    ],
    [
      'a default that its own schema refuses',
      { configSchema: { type: 'object', properties: { a: { type: 'integer', minimum: 3, default: 1 } } } },
      'its defaults are not valid',
    ],
  ])('is rejected at registration with %s', (_what, wrong, message) => {
    expect(() => api.registerProvider({ ...cutter, ...wrong } as never)).toThrow(message);
  });

  it('can be registered only once, before or after its first use, and needs no schema if it has no configuration', async () => {
    const { id, name, description, version } = cutter;
    const condense = () => Promise.resolve({ changes: [] });
    const registration = api.registerProvider({ id, name, description, version, condense });
    expect(() => api.registerProvider(cutter)).toThrow('already registered');
    expect(await api.condense(conversation, { provider: cutter.id, config: { a: 1 } })).toMatchObject({
      kind: 'unchanged',
      notes: [expect.stringContaining('a: is not a known field')],
    });
    registration.dispose();
  });

  it('receives each result of parallel calls together with its own call', async () => {
    const parallel = [
      user('Go.'),
      assistant(call('a', 'Read', {}), call('b', 'Read', {})),
      user(result('a', makeLines('a', 90)), result('b', makeLines('b', 90))),
      assistant('Done.'),
    ];
    const outcome = await condenseWithResult(
      { changes: [{ ...cut, path: ['content', 1, 'content'] }] },
      {},
      {
        id: 'p',
        messages: parallel,
      },
    );
    if (outcome.kind !== 'condensed') throw new Error(JSON.stringify(outcome));
    expect(outcome.view[2]).toMatchObject({
      content: [
        parallel[2]!.content[0],
        { tool_use_id: 'b', content: expect.stringMatching(new RegExp(`^${MARKER_START} w`)) },
      ],
    });
  });
});

describe("a conversation condensed by another extension's provider", () => {
  /** Summarizes everything but the task and the last message. */
  const recap = withCondense(({ messages: view }) =>
    Promise.resolve({
      changes: [{ kind: 'summary', start: 1, end: view.length - 1, text: 'Ten files were read.', reason: 'old' }],
    }),
  );

  it("that contains a summary is accepted by Anthropic's API, directly and when rebuilt from its edits", async () => {
    const server = await startAnthropicServer();
    const client = new Anthropic({ apiKey: 'k', baseURL: server.url, maxRetries: 0 });
    const send = (view: readonly Message[]) =>
      client.messages.create({
        model: 'claude-sonnet-4',
        max_tokens: 100,
        messages: [...view, user('Go on')] as never,
        tools: [{ name: 'Read', input_schema: { type: 'object' } }],
      });
    const registration = api.registerProvider(recap);
    const outcome = await api.condense(conversation, { provider: recap.id });
    registration.dispose();
    if (outcome.kind !== 'condensed') throw new Error(JSON.stringify(outcome));
    await expect(send(outcome.view)).resolves.toMatchObject({ type: 'message' });
    await expect(send(api.viewOf({ ...conversation, edits: outcome.edits }))).resolves.toMatchObject({
      type: 'message',
    });
    expect(JSON.stringify(outcome.view[1])).toContain('It is a record of what happened, not a new request');
    // Fields of the conversation's own messages belong to the caller and stay.
    const tagged = { id: 'c', messages: [{ ...user('Hi'), isSummary: true, mine: 1 }] };
    expect(api.viewOf(tagged)).toEqual(tagged.messages);
    await server.close();
  });

  it('loses the later of two overlapping removals, and a note says so', async () => {
    const cut = { kind: 'cut', message: 2, path: ['content', 0, 'content'], what: 'a', reason: 'old' };
    const changes = [4, 6, 8, 10].flatMap((message) => [
      { ...cut, message, start: 0, end: 400 },
      { ...cut, message, start: 300, end: 600 },
    ]);
    const outcome = await condenseWithResult({ changes });
    expect(outcome.kind).toBe('condensed');
    expect('notes' in outcome && outcome.notes).toContain(
      '4 of 8 changes overlap a cut that begins before them and were left out.',
    );
  });
});

describe('a missing provider', () => {
  it('that is chosen in the settings is replaced by Lossless, with a note', async () => {
    fake.settings['contextCondenser.provider'] = 'other.extension-provider';
    const twice = { id: 'c', messages: [...messages.slice(0, -1), ...messages.slice(1)] };
    const outcome = await api.condense(twice);
    expect(outcome).toMatchObject({ provider: 'lossless' });
    expect('notes' in outcome && outcome.notes[0]).toContain('other.extension-provider');
    await expect(api.condenseIfNeeded(twice, { contextWindow: 1_000 })).resolves.toBeDefined();
    await expect(api.estimate(twice)).resolves.toMatchObject({ cost: 0 });
  });

  it('that the caller named is reported in the outcome, since its extension may not have started', async () => {
    const message = expect.stringMatching(/^There is no provider "gone"; known providers: /) as string;
    for (const asked of [
      api.condense(conversation, { provider: 'gone' }),
      api.condenseIfNeeded(conversation, { contextWindow: 1_000 }, { provider: 'gone' }),
    ]) {
      await expect(asked).resolves.toMatchObject({ kind: 'failed', provider: 'gone', message, cost: 0 });
    }
    const estimate = await api.estimate(conversation, { provider: 'gone' });
    expect(estimate).toMatchObject({ problem: message, cost: 0 });
    expect(estimate.tokensAfter).toBe(estimate.tokensBefore);
    expect(estimate.tokensBefore).toBeGreaterThan(0);
  });
});

it('runs through the API appear in History', async () => {
  await api.condense(conversation, { provider: 'truncation' });
  await vi.waitFor(async () => {
    expect(await openMetricsStore(services).readRuns()).toMatchObject([{ provider: 'truncation', trigger: 'api' }]);
  });
});

it("the API's converters reject malformed messages", () => {
  expect(() => api.fromOpenAI([{ role: 7 }])).toThrow(TypeError);
  expect(() => api.toOpenAI([{ role: 'user' } as never])).toThrow(TypeError);
});
