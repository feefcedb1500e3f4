import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { startAnthropicServer } from '../../test/servers/anthropicServer';
import { makeErrorResponse, type Reply } from '../../test/servers/behaviour';
import type { ModelServer } from '../../test/servers/modelServer';
import { startOpenAIServer } from '../../test/servers/openaiServer';
import { isToolResult } from '../core/messages/blocks';
import { assistant, call, result, text, user } from '../core/testing';
import type { ApiProfile } from '../settings/profiles';
import { ThinkingStore } from './thinkingStore';
import { counter } from '../api/testing';
import type { AgentRequest, PreparedRequest } from '../live/request';
import { FakeChat, readInformation, PassThroughConversations, createProvider } from './testing';

const servers: ModelServer[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

const thinking = { type: 'thinking', thinking: 'hm', signature: 's' };

describe('thinking blocks that the chat cannot represent', () => {
  it('are restored at their positions only for the same model and the same calls', () => {
    const kept = new ThinkingStore();
    const before = { block: thinking, afterText: false, afterCalls: 0 };
    const middle = { block: { type: 'openai_reasoning', item: { id: 1 } }, afterText: true, afterCalls: 0 };
    const behind = { block: { type: 'openai_reasoning', item: { id: 2 } }, afterText: true, afterCalls: 1 };
    kept.keepBlocks('m', ['a', 'b'], [before, middle, behind]);
    kept.keepBlocks('m', [], [before]);
    kept.keepBlocks('m', ['none'], []);
    const messages = [
      user('go'),
      assistant(text('words'), call('a', 'x'), call('b', 'x')),
      user(result('a'), result('b')),
    ];
    expect(kept.restoreBlocks('m', messages)).toEqual([
      messages[0],
      assistant(thinking, text('words'), middle.block, call('a', 'x'), behind.block, call('b', 'x')),
      messages[2],
    ]);
    expect(kept.restoreBlocks('other', messages)).toEqual(messages);
    expect(kept.countRestoredTokens({ key: 'm' }, messages, counter)).toBe(counter.countBlock(thinking));
    expect(kept.countRestoredTokens({ key: 'other' }, messages, counter)).toBe(0);
    const fewer = [assistant(call('a', 'x'))];
    expect(kept.restoreBlocks('m', fewer)[0]).toBe(fewer[0]);
    kept.forgetBlocksBeforeAnswer('m', [...messages, assistant(text('done')), user('next'), assistant(call('c', 'x'))]);
    expect(kept.restoreBlocks('m', messages)).toEqual(messages);
  });

  describe('if part of the current turn is condensed', () => {
    const phase = { type: 'openai_phase', phase: 'commentary' };
    const step = (id: string) => [assistant(call(id, 'x')), user(result(id))];
    const turn = [user('go'), ...step('a'), assistant(text('done'))];
    const messages = [...turn, user('next'), ...step('b'), ...step('c'), ...step('d')];
    function condensed(keepsTurn: boolean): string[] {
      const kept = new ThinkingStore();
      for (const id of ['a', 'b', 'c', 'd']) {
        const blocks = [thinking, phase].map((block) => ({ block, afterText: false, afterCalls: 0 }));
        kept.keepBlocks('m', [id], blocks, 100);
      }
      kept.forgetBlocksBeforeAnswer('m', messages, keepsTurn);
      const restored = kept.restoreBlocks('m', messages);
      const answers = restored.filter(({ role }, index) => role === 'assistant' && index !== turn.length - 1);
      const blocks = answers.map(({ content }) => content as object[]);
      // Counts only answers that still have their thinking.
      const tokens = blocks.filter((each) => each.some((block) => block === thinking)).length * 100;
      expect(kept.countRestoredTokens({ key: 'm' }, messages, counter)).toBe(tokens);
      expect(blocks.every((each) => each.some((block) => block === phase))).toBe(true);
      return ['a', 'b', 'c', 'd'].filter((_, index) => blocks[index]?.includes(thinking));
    }

    // With a thinking budget, Anthropic requires a turn to begin with its thinking; without it,
    // thinking is turned off for the rest of the turn.
    it("stay in the turn's first and last answers, and OpenAI's phase blocks stay in all answers", () => {
      expect(condensed(false)).toEqual(['b', 'd']);
    });

    it('stay in all answers of the unfinished turn if the model requires it', () => {
      expect(condensed(true)).toEqual(['b', 'c', 'd']);
    });
  });

  it('are dropped if the model does not read earlier thinking, but the phase blocks of the same answers stay', () => {
    const kept = new ThinkingStore();
    const phase = { type: 'openai_phase', phase: 'commentary' };
    const blocks = [thinking, phase].map((block) => ({ block, afterText: false, afterCalls: 0 }));
    kept.keepBlocks('m', ['a'], blocks, 100);
    kept.setScope('m', 'current_turn');
    const messages = [user('go'), assistant(call('a', 'x')), user(result('a')), user('next')];
    expect(kept.restoreBlocks('m', messages)[1]).toEqual(assistant(phase, call('a', 'x')));
  });

  it('are counted with the tokens that the vendor reported if the model reads them again', () => {
    const kept = new ThinkingStore();
    const block = { type: 'openai_reasoning', item: { encrypted_content: 'x'.repeat(20_000) } };
    const keep = (id: string): void => {
      kept.keepBlocks('m', [id], [{ block, afterText: false, afterCalls: 0 }], 300);
    };
    keep('a');
    keep('b');
    const step = (id: string) => [assistant(call(id, 'x')), user(result(id))];
    const messages = [user('go'), ...step('a'), user('next'), ...step('b')];
    expect(kept.countRestoredTokens({ key: 'm', tokenFactor: 1.5 }, messages, counter)).toBe(400);
    kept.setScope('m', 'current_turn');
    expect(kept.countRestoredTokens({ key: 'm' }, messages, counter)).toBe(300);
    expect(kept.restoreBlocks('m', messages).slice(0, 4)).toEqual(messages.slice(0, 4));
    expect(kept.restoreBlocks('m', messages)[4]).toEqual(assistant(block, call('b', 'x')));
    // A scope that the vendor reported stays, since the model's name alone does not say how much
    // thinking the model reads again.
    kept.setScopeIfUnknown('m', 'all_turns');
    expect(kept.countRestoredTokens({ key: 'm' }, messages, counter)).toBe(300);
  });
});

/** A model's answer, and what happens in the chat before the next one. */
interface Step {
  readonly reply: Reply;
  readonly next: 'go on' | 'restart' | 'forget';
}

const step: fc.Arbitrary<Step> = fc.record({
  reply: fc
    .record(
      {
        thinking: fc.constantFrom('first this', 'then that'),
        hiddenThinking: fc.constantFrom('hidden', 'more hidden'),
        text: fc.constantFrom('words', ['in ', 'pieces']),
        calls: fc
          .integer({ min: 1, max: 3 })
          .map((count) => Array.from({ length: count }, () => ({ name: 'read_file', input: { path: 'a' } }))),
      },
      { requiredKeys: [] },
    )
    // A model that thinks always says something afterwards.
    .map((reply): Reply => ({
      kind: 'reply',
      ...reply,
      ...(reply.text === undefined && !reply.calls && { text: 'end' }),
    })),
  next: fc.constantFrom('go on', 'go on', 'go on', 'restart', 'forget'),
});

/**
 * Runs the steps like a chat, on a provider that may restart in between.
 * @returns all statuses
 */
async function statusesOf(
  server: ModelServer,
  profile: ApiProfile,
  steps: readonly Step[],
): Promise<(number | undefined)[]> {
  server.play(({ index }) => steps[index - first]?.reply ?? { kind: 'reply', text: 'end' });
  const first = server.requests.length;
  const make = async () => {
    const live = new PassThroughConversations();
    const { provider } = createProvider([profile], live, { key: 'sk-any' });
    const [model] = await readInformation(provider);
    return { live, provider, model: model! };
  };
  let made = await make();
  let chat = new FakeChat(made.provider, made.model);
  chat.user('go');
  for (const { next } of steps) {
    const { calls } = await chat.ask();
    for (const each of calls) chat.result(each, 'done');
    if (calls.length === 0) chat.user('go on');
    if (next === 'forget') {
      const { live } = made;
      const prepare = live.prepare.bind(live);
      // Pretends that the conversation was just condensed.
      live.prepare = async (request) => ({ ...(await prepare(request)), outcome: { kind: 'condensed' } as never });
    }
    if (next === 'restart') {
      made = await make();
      const { messages } = chat;
      chat = new FakeChat(made.provider, made.model);
      chat.messages.push(...messages);
    }
  }
  await chat.ask();
  return server.requests.slice(first).map(({ status }) => status);
}

/** Live conversations that cut older results, as condensations do. */
class CuttingLive extends PassThroughConversations {
  private behind = 0;

  /** Cuts the results before this message from the next request on. */
  condense(behind: number): void {
    this.behind = behind;
  }

  override async prepare(request: AgentRequest): Promise<PreparedRequest> {
    const prepared = await super.prepare(request);
    const messages = prepared.messages.map((message, index) =>
      index < this.behind && Array.isArray(message.content)
        ? {
            ...message,
            content: message.content.map((block) => (isToolResult(block) ? { ...block, content: 'cut' } : block)),
          }
        : message,
    );
    return { ...prepared, messages };
  }
}

describe("the chat's requests with thinking", () => {
  const steps = fc.array(step, { minLength: 1, maxLength: 8 });

  it("are never rejected by Anthropic's API, with or without thinking, whatever the sequence of answers", async () => {
    const server = await startAnthropicServer({ strict: { turns: true } });
    servers.push(server);
    const profile: ApiProfile = {
      id: 'p',
      name: 'P',
      vendor: 'anthropic',
      model: 'claude-sonnet-4',
      baseUrl: server.url,
      offerInChat: true,
    };
    await fc.assert(
      fc.asyncProperty(steps, fc.boolean(), async (all, thinks) => {
        const statuses = await statusesOf(server, { ...profile, ...(thinks && { thinkingTokens: 1024 }) }, all);
        expect(statuses).toEqual(statuses.map(() => 200));
      }),
    );
  });

  it("are never rejected by OpenAI's APIs with encrypted reasoning, whatever the sequence of answers", async () => {
    const server = await startOpenAIServer();
    servers.push(server);
    const profile: ApiProfile = {
      id: 'p',
      name: 'P',
      vendor: 'openai',
      model: 'gpt-5',
      baseUrl: `${server.url}/v1`,
      offerInChat: true,
    };
    await fc.assert(
      fc.asyncProperty(steps, fc.constantFrom('chat' as const, 'responses' as const), async (all, api) => {
        const statuses = await statusesOf(server, { ...profile, api }, all);
        expect(statuses).toEqual(statuses.map(() => 200));
      }),
    );
  });

  it.each(['reasoning_content', 'thought_signature'] as const)(
    'are never rejected by a model that requires its %s back, whatever the sequence of answers',
    async (wants) => {
      const server = await startOpenAIServer({ quirks: { wants } });
      servers.push(server);
      const profile: ApiProfile = {
        id: 'p',
        name: 'P',
        vendor: 'openai',
        model: 'kimi-k3',
        baseUrl: `${server.url}/v1`,
        offerInChat: true,
      };
      await fc.assert(
        fc.asyncProperty(steps, async (all) => {
          const statuses = await statusesOf(server, profile, all);
          // The server states its requirement once to each handler.
          const handlers = 1 + all.filter(({ next }) => next === 'restart').length;
          expect(statuses.filter((status) => status !== 200).length).toBeLessThanOrEqual(handlers);
          expect(statuses.at(-1)).toBe(200);
        }),
      );
      const calls = [{ name: 'read_file', input: {} }];
      server.forget();
      // The first answer arrives before the server has stated its requirement, so later
      // requests contain a placeholder in its place.
      const thinking = (words: string): Step => ({ reply: { kind: 'reply', thinking: words, calls }, next: 'go on' });
      await statusesOf(server, profile, [thinking('early'), thinking('refused'), thinking('first this')]);
      const sent = JSON.stringify(server.requests.at(-1)?.body['messages']);
      expect(sent).toContain(wants === 'reasoning_content' ? '"reasoning_content":"first this"' : '"signed ');
    },
  );

  it('are never rejected by a Claude model that binds thinking to the messages before it, despite condensations', async () => {
    const server = await startAnthropicServer({ adaptive: true });
    servers.push(server);
    const profile: ApiProfile = {
      id: 'p',
      name: 'P',
      vendor: 'anthropic',
      model: 'claude-opus-5-5',
      baseUrl: server.url,
      offerInChat: true,
    };
    const condensed = fc.array(fc.record({ calls: fc.integer({ min: 0, max: 2 }), condenses: fc.boolean() }), {
      minLength: 1,
      maxLength: 8,
    });
    await fc.assert(
      fc.asyncProperty(condensed, async (all) => {
        const live = new CuttingLive();
        const { provider } = createProvider([profile], live, { key: 'sk-any' });
        const [model] = await readInformation(provider);
        const chat = new FakeChat(provider, model!);
        const first = server.requests.length;
        chat.user('go');
        for (const [index, { calls: count, condenses }] of all.entries()) {
          const named = Array.from({ length: count }, () => ({ name: 'read_file', input: { path: 'a' } }));
          server.play({ kind: 'reply', thinking: `thought ${index}`, text: 'so', calls: named });
          const { calls } = await chat.ask();
          for (const each of calls) chat.result(each, `done ${index}`);
          chat.user('go on');
          if (condenses) live.condense(chat.messages.length - 2);
        }
        // A rejected request is sent once more without the thinking, and each condensation causes
        // at most one rejection.
        const refusals = server.requests.slice(first).filter(({ status }) => status !== 200).length;
        expect(refusals).toBeLessThanOrEqual(all.filter(({ condenses }) => condenses).length);
      }),
    );
  });

  it('are not resent if their rejection has another reason than thinking, or if no thinking was restored in them', async () => {
    const server = await startAnthropicServer();
    servers.push(server);
    const profile: ApiProfile = {
      id: 'p',
      name: 'P',
      vendor: 'anthropic',
      model: 'claude-opus-5-5',
      baseUrl: server.url,
      offerInChat: true,
    };
    server.play(makeErrorResponse(400, 'invalid_request_error', 'The block is bound to a different conversation.'));
    const { provider } = createProvider([profile], new PassThroughConversations(), { key: 'sk-any' });
    const [model] = await readInformation(provider);
    const chat = new FakeChat(provider, model!);
    chat.user('go');
    await expect(chat.ask()).rejects.toThrow('bound to a different conversation');
    expect(server.requests).toHaveLength(1);
  });

  it('are resent once without their thinking if the vendor rejects the thinking', async () => {
    const server = await startAnthropicServer();
    servers.push(server);
    const profile: ApiProfile = {
      id: 'p',
      name: 'P',
      vendor: 'anthropic',
      model: 'claude-opus-5-5',
      baseUrl: server.url,
      offerInChat: true,
    };
    const { provider } = createProvider([profile], new PassThroughConversations(), { key: 'sk-any' });
    const [model] = await readInformation(provider);
    const chat = new FakeChat(provider, model!);
    server.play({ kind: 'reply', thinking: 'hm', calls: [{ name: 'read_file', input: {} }] });
    chat.user('go');
    for (const each of (await chat.ask()).calls) chat.result(each, 'done');
    server.play(makeErrorResponse(400, 'invalid_request_error', 'The block is bound to a different conversation.'));
    await expect(chat.ask()).rejects.toThrow('bound to a different conversation');
    expect(server.requests.map(({ body }) => JSON.stringify(body['messages']).includes('"thinking"'))).toEqual([
      false,
      true,
      false,
    ]);
  });

  it('send thinking back exactly as the vendor signed it', async () => {
    const server = await startAnthropicServer();
    servers.push(server);
    const profile: ApiProfile = {
      id: 'p',
      name: 'P',
      vendor: 'anthropic',
      model: 'claude-sonnet-4',
      baseUrl: server.url,
      offerInChat: true,
      thinkingTokens: 1024,
    };
    const calls = [{ name: 'read_file', input: {} }];
    await statusesOf(server, profile, [{ reply: { kind: 'reply', thinking: 'first this', calls }, next: 'go on' }]);
    expect(server.requests.map(({ body }) => body['thinking'])).toEqual(
      Array(2).fill({ type: 'enabled', budget_tokens: 1024 }),
    );
    expect(server.requests[1]?.body['messages']).toMatchObject([
      {},
      { content: [{ type: 'thinking', thinking: 'first this' }, { type: 'tool_use' }] },
      {},
    ]);
  });
});
