/**
 * Tests limits on the chat's spending against a server that bills like Anthropic, with several
 * windows that share one file.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startAnthropicServer } from '../../test/servers/anthropicServer';
import { makeErrorResponse, reply } from '../../test/servers/behaviour';
import type { ModelServer } from '../../test/servers/modelServer';
import { temporaryFolder } from '../../test/support/temporaryFolder';
import { Spending } from '../storage/spending';
import type { AgentRequest, PreparedRequest } from '../live/request';
import type { ApiProfile } from '../settings/profiles';
import type { ConversationLimits } from '../live/conversationSpending';
import { ChatSpending } from './chatSpending';
import { FakeChat, readInformation, PassThroughConversations, createProvider } from './testing';

let server: ModelServer;
let path: string;
let today: Date;
let limits: ConversationLimits;

beforeEach(async () => {
  server = await startAnthropicServer({ minCacheTokens: 1_000_000 });
  path = join(temporaryFolder(), 'spending.jsonl');
  today = new Date(2026, 0, 2, 12);
  limits = { perConversation: 0, perDay: 0, stops: true };
});
afterEach(() => server.close());

const profile = (): ApiProfile => ({
  id: 'p',
  name: 'P',
  vendor: 'anthropic',
  model: 'claude-sonnet-4-20250514',
  baseUrl: server.url,
  offerInChat: true,
  prices: { input: 100, output: 500, cacheWrite: 100, cacheRead: 100 },
});

class CountingLive extends PassThroughConversations {
  override prepared(request: AgentRequest): PreparedRequest {
    return { ...super.prepared(request), tokens: 1_000 };
  }
}

/** Opens a window that shares the file with all other windows. */
function openWindow(of: ApiProfile = profile()) {
  const told: [string, string][] = [];
  const log: string[] = [];
  const spending = new ChatSpending({
    spending: new Spending(path, { now: () => today }),
    limits: () => limits,
    tell: (...words) => void told.push(words),
    log: { warn: (line: string) => void log.push(line) },
    now: () => today,
  });
  const { provider } = createProvider([of], new CountingLive(), { key: 'sk-any-key', spending });
  const chat = async (conversation: string): Promise<FakeChat> => {
    const [model] = await readInformation(provider);
    return new FakeChat(provider, model!, { _conversationId: conversation });
  };
  const ask = async (conversation: string): Promise<string> => {
    const asked = await chat(conversation);
    asked.user('<userRequest>go</userRequest>');
    return (await asked.ask()).text;
  };
  return { chat, ask, told, log };
}

/** Returns the US dollars that the vendor bills at the profile's prices. */
const billed = (): number =>
  server.requests.reduce((sum, { usage = {} }) => {
    const tokens = (name: string): number => Number(usage[name] ?? 0);
    const input = tokens('input_tokens') + tokens('cache_creation_input_tokens') + tokens('cache_read_input_tokens');
    return sum + (input * 100 + tokens('output_tokens') * 500) / 1e6;
  }, 0);

const spent = (conversation: string) => new Spending(path, { now: () => today }).readSpent('chat', conversation);

describe('a spending limit for the chat', () => {
  it('is off by default, and then nothing is written to disk', async () => {
    await openWindow().ask('a');
    expect(existsSync(path)).toBe(false);
  });

  it('that only warns shows one warning when it is reached, and the conversation continues', async () => {
    limits = { perConversation: 0.0001, perDay: 0, stops: false };
    const window = openWindow();
    for (let request = 0; request < 3; request++) expect(await window.ask('a')).toBe('ok');
    expect(window.told).toHaveLength(1);
    expect(window.told[0]).toEqual([
      expect.stringMatching(/This conversation has cost \$\d\.\d\d and reached your limit of .*It continues/),
      'agent.maxCostPerConversation',
    ]);
    expect((await spent('a')).conversation).toBeCloseTo(billed(), 10);
  });

  it('that stops requests does so in all windows and says how to continue', async () => {
    limits = { perConversation: 1e-6, perDay: 0, stops: true };
    expect(await openWindow().ask('a')).toBe('ok');
    const later = openWindow();
    await expect(later.ask('a')).rejects.toThrow(
      /the request was not sent\. To continue, raise contextCondenser\.agent\.maxCostPerConversation \(0: no limit\) and send it again, or start a new conversation/,
    );
    await expect(later.ask('a')).rejects.toThrow('the request was not sent');
    expect(later.told.map(([, setting]) => setting)).toEqual(['agent.maxCostPerConversation']);
    expect(server.requests).toHaveLength(1);
    // Another conversation may continue. This one may continue after its limit is raised.
    expect(await later.ask('b')).toBe('ok');
    limits = { ...limits, perConversation: 100 };
    expect(await later.ask('a')).toBe('ok');
  });

  it('that stops requests warns at 80 %', async () => {
    const window = openWindow();
    limits = { ...limits, perDay: 1_000 };
    await window.ask('a');
    expect(window.told).toEqual([]);
    limits = { ...limits, perDay: (await spent('a')).day * 2.4 };
    await window.ask('a');
    expect(window.told).toEqual([[expect.stringContaining('no more requests are sent'), 'agent.maxCostPerDay']]);
  });

  it('per day applies to all conversations until the next day', async () => {
    limits = { perConversation: 0, perDay: 1e-6, stops: true };
    const window = openWindow();
    await window.ask('a');
    await expect(window.ask('b')).rejects.toThrow('wait until tomorrow');
    today = new Date(2026, 0, 3, 12);
    expect(await window.ask('b')).toBe('ok');
  });

  it('can be exceeded only by the request in progress, whose expected cost also counts in other windows', async () => {
    limits = { perConversation: 0, perDay: 1e-6, stops: true };
    let answer = (): void => undefined;
    server.play(reply('ok', { firstByte: new Promise<void>((resolve) => (answer = resolve)) }));
    const first = openWindow().ask('a');
    await server.request(0);
    await expect(openWindow().ask('b')).rejects.toThrow('the request was not sent');
    answer();
    expect(await first).toBe('ok');
    expect(server.requests).toHaveLength(1);
    expect((await spent('a')).day).toBeCloseTo(billed(), 10);
  });

  it('does not count rejected requests', async () => {
    limits = { perConversation: 0, perDay: 100, stops: true };
    server.play(makeErrorResponse(401, 'authentication_error', 'no'));
    const window = openWindow();
    await expect(window.ask('a')).rejects.toThrow();
    expect(await spent('a')).toEqual({ day: 0, conversation: 0 });
  });

  it('counts a request without usage, or one that was cut off, at its expected cost', async () => {
    limits = { perConversation: 0, perDay: 100, stops: true };
    const spending = new ChatSpending({
      spending: new Spending(path, { now: () => today }),
      limits: () => limits,
      tell: () => undefined,
      log: { warn: () => undefined },
    });
    const model = {
      ...{ id: 'p', name: 'P', profile: profile(), contextWindow: 200_000, isWindowKnown: true, tokenFactor: 1 },
      prices: { input: { base: 100 }, output: { base: 500 } },
    };
    const silent = await spending.beginRequest(model, 'a', 1_000);
    silent?.addUsage(undefined);
    await silent?.end(true);
    await (await spending.beginRequest(model, 'a', 1_000))?.end(true);
    expect((await spent('a')).day).toBeCloseTo(0.2, 10);
  });

  it('does not count a model of unknown price, and says so once', async () => {
    limits = { perConversation: 0, perDay: 1e-6, stops: true };
    const { id, name, vendor, offerInChat } = profile();
    // This is another address of the same server, because models on this machine are free.
    const baseUrl = server.url.replace('127.0.0.1', '0.0.0.0');
    const unpriced = { id, name, vendor, offerInChat, baseUrl, allowInsecureHttp: true, model: 'nobody-knows-it' };
    const window = openWindow(unpriced);
    for (let request = 0; request < 2; request++) expect(await window.ask('a')).toBe('ok');
    expect(window.told).toEqual([[expect.stringContaining('price of nobody-knows-it is not known'), 'profiles']]);
  });

  it("that stops requests lets none through if spending can't be recorded", async () => {
    limits = { perConversation: 0, perDay: 1, stops: true };
    path = join('/dev/null', 'spending.jsonl');
    await expect(openWindow().ask('a')).rejects.toThrow('To continue without the limits');
    limits = { ...limits, stops: false };
    const window = openWindow();
    expect(await window.ask('a')).toBe('ok');
    expect(window.log).toHaveLength(1);
  });
});
