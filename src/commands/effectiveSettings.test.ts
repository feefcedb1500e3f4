/**
 * The user's settings apply to every way of condensing: by hand, in the chat, through the exported
 * API, as a step or as a pass.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { startAnthropicServer } from '../../test/servers/anthropicServer';
import { reply } from '../../test/servers/behaviour';
import { openTestWindow } from '../../test/support/testWindow';
import { fake } from '../../test/support/vscode';
import { readLiveSettings } from '../agent/settings';
import { assistant, makeToolExchange, user } from '../core/testing';
import { getAgentRuntime } from '../agent/runtime';
import { createCondenserApi } from './condenserApi';
import type { Services } from '../window/services';
import { readManualSettings } from '../window/settings/manualSettings';
import { condenseFileAndWait } from './condenseNow';

const KEY = 'sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789';
const log = (index: number): string =>
  Array.from({ length: 60 + index }, (_, line) => ` ✓ test ${index * line} does what it should, with ${KEY}`).join(
    '\n',
  );
const messages = [
  user('Make it pass'),
  ...Array.from({ length: 14 }, (_, index) =>
    makeToolExchange(`t${index}`, 'Bash', { command: `npm test ${index}` }, log(index)),
  ).flat(),
  assistant('done'),
  user('thanks, go on'),
];

const PASS = { id: 'b', name: 'B' };
const smart = (pass: object): object => ({
  version: 1,
  losslessPrelude: { enabled: false },
  passes: [{ ...PASS, ...pass }],
});
const BATCH = smart({
  mode: 'batch',
  selection: { type: 'preserve_recent', count: 4 },
  batchConfig: { operation: 'summarize' },
});
const INDIVIDUAL = smart({
  mode: 'individual',
  selection: { type: 'preserve_recent', count: 25 },
  individualConfig: { defaults: { toolResults: { operation: 'summarize' } } },
});
const steps = (...each: object[]): object => ({ id: 'x', name: 'x', steps: each });

/**
 * Each entry names a provider, its configuration, and whether it summarizes conversations and
 * therefore uses the user's prompt.
 */
const CALLING: readonly (readonly [name: string, provider: string, config: object | undefined, sumsUp: boolean])[] = [
  ['Summary', 'native', undefined, true],
  ['Summary as a step', 'strategy', steps({ provider: 'native' }), true],
  ['a batch pass', 'smart', BATCH, true],
  ['a batch pass as a step', 'strategy', steps({ provider: 'smart', config: BATCH }), true],
  ['a pass over contents', 'smart', INDIVIDUAL, false],
];

let server: Awaited<ReturnType<typeof startAnthropicServer>>;
let services: Services;
let file: string;

beforeEach(async () => {
  server = await startAnthropicServer({ script: reply('## Goal\nMake the tests pass.') });
  const opened = openTestWindow();
  services = opened.services;
  file = join(opened.home, 'conversation.json');
  writeFileSync(file, JSON.stringify({ messages }));
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
  fake.secrets.set('contextCondenser.profileKey.w', JSON.stringify({ key: 'k', target: new URL(server.url).origin }));
  fake.settings['contextCondenser.condensingProfile'] = 'w';
  fake.settings['contextCondenser.condensingPrompt'] = 'GLOBAL-PROMPT';
  fake.settings['contextCondenser.native'] = { maskSecrets: 'always', keepLast: 1 };
  return () => server.close();
});

/**
 * Ways to condense with the provider in the settings. The conversation's vendor is that of the
 * condensing profile.
 */
const WAYS: Readonly<Record<string, (provider: string, config: object | undefined) => Promise<unknown>>> = {
  'by hand': () => condenseFileAndWait(services, file, readManualSettings()),
  'in the chat': async () => {
    const { provider, config } = readLiveSettings();
    const { chat } = getAgentRuntime(services);
    const vendor = new URL(server.url).host;
    const model = { key: 'own', vendor, contextWindow: 1_000_000, threshold: { percent: 100 } };
    const { conversation } = await chat.prepare({ conversationId: 'c', messages, tools: [], model });
    const options = { provider, config, targetPercent: 1 };
    return chat.condenseNow(conversation, options, new AbortController().signal);
  },
  'through the API': () =>
    createCondenserApi(services).condense({ id: 'c', messages, vendor: new URL(server.url).host }),
  'through the API with a configuration': (provider, config) =>
    createCondenserApi(services).condense(
      { id: 'c', messages, vendor: new URL(server.url).host },
      { provider, ...(config && { config }) },
    ),
};

describe.each(Object.entries(WAYS))('condensing by %s', (_way, run) => {
  it.each(CALLING)('with %s uses the user’s prompt, and sends no key', async (_name, provider, config, sumsUp) => {
    fake.settings['contextCondenser.provider'] = provider;
    if (config) fake.settings[`contextCondenser.${provider}`] = config;
    await run(provider, config);
    const bodies = server.requests.map(({ body }) => JSON.stringify(body));
    expect(bodies).not.toEqual([]);
    for (const body of bodies) {
      expect(body).not.toContain('sk-ant-api03-abc');
      if (sumsUp) expect(body).toContain('GLOBAL-PROMPT');
    }
  });
});

it("a profile's own prompt takes precedence over the global one, even in a pass", async () => {
  const [profile] = fake.settings['contextCondenser.profiles'] as object[];
  fake.settings['contextCondenser.profiles'] = [{ ...profile, prompt: 'PROFILE-PROMPT' }];
  await createCondenserApi(services).condense({ id: 'c', messages }, { provider: 'smart', config: BATCH });
  const [request] = server.requests;
  expect(JSON.stringify(request?.body)).toContain('PROFILE-PROMPT');
  expect(JSON.stringify(request?.body)).not.toContain('GLOBAL-PROMPT');
});

it("a strategy's step takes fields that it lacks from its provider's settings", async () => {
  fake.settings['contextCondenser.truncation'] = { preserveRecentCount: 20 };
  const untouched = async (provider: string, config?: object): Promise<number> => {
    const outcome = await createCondenserApi(services).condense(
      { id: 'c', messages },
      { provider, ...(config && { config }) },
    );
    if (outcome.kind !== 'condensed') throw new Error(JSON.stringify(outcome));
    return outcome.view.filter((message, index) => JSON.stringify(message) === JSON.stringify(messages[index])).length;
  };
  const alone = await untouched('truncation');
  expect(await untouched('strategy', steps({ provider: 'truncation' }))).toBe(alone);
  expect(
    await untouched('strategy', steps({ provider: 'truncation', config: { preserveRecentCount: 4 } })),
  ).toBeLessThan(alone);
  // A step's provider with wrong settings runs with its defaults, as it does alone.
  fake.settings['contextCondenser.truncation'] = { preserveRecentCount: 'x' };
  expect(await untouched('strategy', steps({ provider: 'truncation' }))).toBe(await untouched('truncation'));
});

it("a strategy's step may use another extension's provider", async () => {
  const api = createCondenserApi(services);
  const asked: unknown[] = [];
  api.registerProvider({
    id: 'other.cuts',
    name: 'Cuts',
    description: 'Cuts the first result.',
    version: '1',
    configSchema: { type: 'object', properties: { keep: { type: 'number', default: 3 } } },
    condense: ({ config }) => {
      asked.push(config);
      const cut = {
        kind: 'cut',
        path: ['content', 0, 'content'],
        start: 0,
        end: 3_000,
        what: 'a log',
        reason: 'old',
      } as const;
      return Promise.resolve({ changes: [2, 4, 6, 8].map((message) => ({ ...cut, message })) });
    },
  });
  fake.settings['contextCondenser.providers'] = { 'other.cuts': { keep: 7 } };
  const outcome = await api.condense(
    { id: 'c', messages },
    { provider: 'strategy', config: steps({ provider: 'other.cuts' }) },
  );
  expect(outcome).toMatchObject({ kind: 'condensed' });
  expect(asked).toEqual([{ keep: 7 }]);
});
