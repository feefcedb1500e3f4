/** Tests spending limits with the vendors' SDKs as agents, which retry when useful. */
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { startAnthropicServer } from '../../../test/servers/anthropicServer';
import { startOpenAIServer } from '../../../test/servers/openaiServer';
import { makeErrorResponse, reply } from '../../../test/servers/behaviour';
import { temporaryFolder } from '../../../test/support/temporaryFolder';
import { loadPriceTable } from '../../api/prices';
import { createCounter } from '../../core/testingCounter';
import { createLimitMessages } from './limitMessages';
import { ConversationSpending, type ConversationLimits } from '../../live/conversationSpending';
import { createTestBed } from '../../live/testing';
import { Spending } from '../../storage/spending';
import { LiveCondenser } from '../../gateway/liveCondenser';
import { startGateway } from '../../gateway/server';

const TOOLS = [{ name: 'Read', description: 'reads', input_schema: { type: 'object' as const } }];
const OFF: ConversationLimits = { perConversation: 0, perDay: 0, stops: true };

async function bed(limits: ConversationLimits, isInVsCode = false) {
  const root = temporaryFolder();
  const path = join(root, 'spending.jsonl');
  const vendor = await startAnthropicServer({ script: () => reply('Done.') });
  const chat = await startOpenAIServer({ script: reply('Done.') });
  const { live } = createTestBed(join(root, 'store'), { settings: { provider: 'lossless' } });
  const state = { limits };
  const told: string[] = [];
  const condenser = new LiveCondenser({
    live,
    counter: createCounter(),
    prices: await loadPriceTable(),
    // The vendor's prices apply at its own URL.
    addresses: new Map([
      ['anthropic', new URL('https://api.anthropic.com')],
      ['openai', new URL('https://api.openai.com')],
    ]),
    spending: new ConversationSpending({
      spending: new Spending(path),
      limits: () => state.limits,
      messages: createLimitMessages(isInVsCode),
      tell: ({ words }) => told.push(words),
      warn: () => undefined,
    }),
  });
  const gateway = await startGateway({
    routes: new Map([
      ['anthropic', new URL(vendor.url)],
      ['openai', new URL(chat.url)],
    ]),
    condenser,
  });
  onTestFinished(async () => {
    live.dispose();
    await gateway.close();
    await Promise.all([vendor.close(), chat.close()]);
  });
  const claude = new Anthropic({ baseURL: gateway.url('anthropic'), apiKey: 'sk-test' });
  const ask = async (task: string, session?: string, tools = TOOLS): Promise<unknown> => {
    const { content } = await claude.messages.create(
      { model: 'claude-sonnet-4-5', max_tokens: 100, messages: [{ role: 'user', content: task }], tools },
      { headers: session === undefined ? {} : { 'x-claude-code-session-id': session } },
    );
    await condenser.waitUntilSettled();
    return content[0];
  };
  const spent = (conversation?: string) => new Spending(path).readSpent('chat', conversation);
  return { state, told, vendor, chat, gateway, path, ask, spent };
}

const DONE = { type: 'text', text: 'Done.' };

it('spending limits are off by default, and then nothing is written to disk', async () => {
  const { ask, path } = await bed(OFF);
  expect(await ask('a')).toMatchObject(DONE);
  expect(await ask('a title', undefined, [])).toMatchObject(DONE);
  expect(existsSync(path)).toBe(false);
});

it('spending limits stop a conversation with a message that its agent shows, and apply at once when the user raises them', async () => {
  const { ask, state, told, vendor, chat, gateway, spent } = await bed({ ...OFF, perConversation: 1e-6 }, true);
  expect(await ask('a', 's1')).toMatchObject(DONE);
  expect((await spent('s1')).conversation).toBeGreaterThan(0);
  // Subagents share the conversation's ID.
  await expect(ask('a task of its own', 's1')).rejects.toThrow(
    /This conversation has cost \$0\.00 and used up your budget .* the request was not sent\. To continue, raise contextCondenser\.agent\.maxCostPerConversation in VS Code’s settings/,
  );
  expect(vendor.requests).toHaveLength(1);
  expect(told).toHaveLength(2);
  // Other conversations continue, and so do requests that belong to none.
  expect(await ask('b', 's2')).toMatchObject(DONE);
  expect(await ask('a title', 's1', [])).toMatchObject(DONE);
  state.limits = { ...OFF, perConversation: 100 };
  expect(await ask('a', 's1')).toMatchObject(DONE);

  state.limits = { ...OFF, perDay: 1e-6 };
  const gpt = new OpenAI({ baseURL: `${gateway.url('openai')}/v1`, apiKey: 'sk-test' });
  const messages = [{ role: 'user' as const, content: 'a title' }];
  await expect(gpt.chat.completions.create({ model: 'gpt-5', messages })).rejects.toThrow('wait until tomorrow');
  expect(chat.requests).toHaveLength(0);
});

it('spending limits that only warn forward every request', async () => {
  const { ask, told } = await bed({ perConversation: 0, perDay: 1e-6, stops: false });
  expect(await ask('a')).toMatchObject(DONE);
  expect(await ask('a')).toMatchObject(DONE);
  expect(told).toEqual([
    expect.stringMatching(/Today’s conversations have cost .*\(--max-cost-per-day\)\. Requests continue/),
  ]);
});

it('spending limits do not count rejected requests', async () => {
  const { ask, vendor, spent } = await bed({ ...OFF, perDay: 100 });
  vendor.play(makeErrorResponse(400, 'invalid_request_error', 'no'));
  await expect(ask('a', 's1')).rejects.toThrow('no');
  await vi.waitFor(async () => {
    expect(await spent('s1')).toEqual({ conversation: 0, day: 0 });
  });
});

it('spending limits report that a price is unknown', async () => {
  const { gateway, told } = await bed({ ...OFF, perDay: 100 });
  const gpt = new OpenAI({ baseURL: `${gateway.url('openai')}/v1`, apiKey: 'sk-test' });
  const messages = [{ role: 'user' as const, content: 'a title' }];
  await gpt.chat.completions.create({ model: 'nobody-knows', messages });
  expect(told).toEqual([
    'The price of openai/nobody-knows is not known, so its requests do not count toward any spending limit.',
  ]);
});

it('spending limits stop requests if the cost cannot be recorded', async () => {
  const { ask, vendor, path } = await bed({ ...OFF, perDay: 100 });
  mkdirSync(path);
  await expect(ask('a')).rejects.toThrow(/could not be recorded, so it was not sent.*leave out --at-max-cost stop/);
  expect(vendor.requests).toHaveLength(0);
});
