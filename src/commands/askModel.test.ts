import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startAnthropicServer } from '../../test/servers/anthropicServer';
import { reply } from '../../test/servers/behaviour';
import { openTestWindow } from '../../test/support/testWindow';
import { fake } from '../../test/support/vscode';
import type { ContextCondenserApi, ModelRequest } from '../extensionApi/api';
import type { Services } from '../window/services';
import { openSpending } from '../window/spending';
import { createCondenserApi } from './condenserApi';
import { manageProfiles } from './manageProfiles';

const EXTENSION = 'somebody.recap';
const KEY = 'a key of the user';

let services: Services;
let api: ContextCondenserApi;
let server: Awaited<ReturnType<typeof startAnthropicServer>>;
let profile: Record<string, unknown>;

beforeEach(async () => {
  ({ services } = openTestWindow());
  api = createCondenserApi(services);
  server = await startAnthropicServer({ script: reply('A recap.') });
  profile = {
    id: 'w',
    name: 'Work',
    vendor: 'anthropic',
    model: 'claude-sonnet-4-20250514',
    baseUrl: server.url,
    prices: { input: 3, output: 15 },
  };
  fake.settings['contextCondenser.profiles'] = [profile];
  fake.settings['contextCondenser.condensingProfile'] = 'w';
  fake.settings['contextCondenser.maxCostPerCondensation'] = 1;
  fake.secrets.set('contextCondenser.profileKey.w', JSON.stringify({ key: KEY, target: new URL(server.url).origin }));
  fake.extensions.set(EXTENSION, {});
});

afterEach(() => server.close());

const ask = (more: Partial<ModelRequest> = {}) =>
  api.askModel({ extension: EXTENSION, prompt: 'Sum this up.', system: 'Be short.', ...more });
const questions = () => fake.shown.filter(({ message }) => message.includes('wants to use your model'));

describe('a model that another extension asks for', () => {
  it('is called once the user has allowed it, and the user is asked only once per extension and profile', async () => {
    fake.answers = ['Allow'];
    const outcomes = await Promise.all([ask(), ask()]);
    expect(outcomes).toMatchObject([{ kind: 'complete', text: 'A recap.' }, { kind: 'complete' }]);
    expect(await ask({ profile: 'w' })).toMatchObject({ kind: 'complete' });
    expect(questions()).toHaveLength(1);
    expect(questions()[0]).toMatchObject({
      message: `The extension “${EXTENSION}” wants to use your model “Work”.`,
      choices: ['Allow', 'Don’t Allow'],
    });
    expect(server.requests[0]?.body).toMatchObject({
      system: expect.anything() as unknown,
      messages: [{ role: 'user', content: [{ text: 'Sum this up.' }] }],
    });
    const cost = outcomes[0].cost ?? 0;
    expect(cost).toBeGreaterThan(0);
    const { day } = await openSpending(services).readSpent('own', undefined);
    expect(day).toBeCloseTo(3 * cost, 6);
    // The extension that asks gets no key, and the log contains none.
    expect(JSON.stringify([outcomes, services.log, fake.shown])).not.toContain(KEY);
  });

  it.each([
    ['refuses, which is remembered', 'Don’t Allow', 1],
    ['dismisses the question, which is asked again', undefined, 2],
  ])('is not called if the user %s', async (_what, answer, times) => {
    fake.answers = [answer];
    expect(await ask()).toEqual({ kind: 'denied', cost: 0 });
    expect(await ask()).toEqual({ kind: 'denied', cost: 0 });
    expect(questions()).toHaveLength(times);
    expect(server.requests).toHaveLength(0);
  });

  it.each([
    ['another extension asks', () => ask({ extension: 'somebody.else' })],
    [
      'the profile leads to another model',
      () => {
        fake.settings['contextCondenser.profiles'] = [{ ...profile, model: 'claude-opus-4-1' }];
        return ask();
      },
    ],
    [
      'the profile leads to another host',
      () => {
        fake.settings['contextCondenser.profiles'] = [{ ...profile, baseUrl: 'https://example.com' }];
        return ask();
      },
    ],
    [
      'the user has taken it back',
      async () => {
        fake.picks = ['Work', 'Ask Again Which Extensions May Use It'];
        await manageProfiles(services);
        return ask();
      },
    ],
  ])('needs permission again if %s', async (_what, again) => {
    fake.extensions.set('somebody.else', {});
    fake.answers = ['Allow'];
    expect(await ask()).toMatchObject({ kind: 'complete' });
    expect(await again()).toEqual({ kind: 'denied', cost: 0 });
    expect(questions()).toHaveLength(2);
    expect(server.requests).toHaveLength(1);
  });

  it.each([
    ['its own limit', { maxCost: 0.000_01 }, 1, 3],
    ['the user’s limit', { maxCost: 5 }, 0.000_01, 3],
    ['a price that nobody knows', {}, 1, undefined],
  ])('is not called because of %s', async (_what, more, limit, input) => {
    fake.settings['contextCondenser.profiles'] = [
      { ...profile, ...(input === undefined && { baseUrl: 'https://example.com', prices: undefined }) },
    ];
    fake.settings['contextCondenser.maxCostPerCondensation'] = limit;
    if (input === undefined)
      fake.secrets.set('contextCondenser.profileKey.w', JSON.stringify({ key: KEY, target: 'https://example.com' }));
    fake.answers = ['Allow'];
    expect(await ask(more)).toMatchObject({
      kind: 'failed',
      message: expect.stringMatching(/may be spent on a call/) as unknown,
      cost: 0,
    });
    expect(server.requests).toHaveLength(0);
  });

  it('is reported with what is missing: any profile, the named profile, or a key', async () => {
    expect(await ask({ profile: 'x' })).toMatchObject({ message: 'There is no profile "x".' });
    fake.secrets.clear();
    fake.answers = ['Allow'];
    expect(await ask()).toMatchObject({ kind: 'failed', message: expect.stringContaining('No API key') as unknown });
    fake.settings['contextCondenser.condensingProfile'] = '';
    expect(await ask()).toMatchObject({ message: 'The user has chosen no model for summaries.' });
  });

  it('is not called with invalid arguments or by an extension that is not installed', async () => {
    await expect(ask({ extension: 'recap' })).rejects.toThrow('request: extension: must be the id of an extension');
    await expect(ask({ extension: 'nobody.here' })).rejects.toThrow('"nobody.here" is not the id of an installed');
    await expect(ask({ prompt: '' })).rejects.toThrow('request: prompt');
    await expect(ask({ maxOutputTokens: 0 })).rejects.toThrow('request: maxOutputTokens');
  });
});
