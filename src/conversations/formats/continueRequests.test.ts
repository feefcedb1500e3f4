import { describe, expect, it } from 'vitest';
import { countPromptTokens } from '../../core/cost/usage';
import { readConversation } from '../read';

type Fields = Readonly<Record<string, unknown>>;

const user = (content: string): Fields => ({ message: { role: 'user', content }, contextItems: [] });
const answer = (content: string, usage: Fields | undefined, fields: Fields = {}): Fields => ({
  message: { role: 'assistant', content, ...(usage && { usage }) },
  contextItems: [],
  ...fields,
});
const read = (history: readonly Fields[], fields: Fields = {}) =>
  readConversation(
    JSON.stringify({ sessionId: 'k1', title: 'T', workspaceDirectory: '/work', history, ...fields }),
    { path: '/x/k1.json' },
    { history: 'all' },
  ).recorded;

const anthropic = (input: number, read: number, written: number): Fields => ({
  ...{ completion_tokens: 5, prompt_tokens: input, total_tokens: input + 5, model: 'claude-sonnet-4-5', cost_cents: 3 },
  prompt_tokens_details: { cache_write_tokens: written, cache_read_tokens: read, cached_tokens: read },
});

describe('the usage that Continue recorded', () => {
  it.each<[string, Fields, Fields]>([
    [
      'Anthropic: without what the cache held, however small that is',
      anthropic(8_904, 2_304, 10),
      { prompt: 11_218, inputTokens: 8_904, cacheReadTokens: 2_304, cacheWriteTokens: 10 },
    ],
    [
      'OpenAI chat: the vendor’s own counts, the cached tokens among the prompt',
      { prompt_tokens: 9_000, completion_tokens: 5, prompt_tokens_details: { cached_tokens: 2_304 }, model: 'gpt-5.1' },
      { prompt: 9_000, inputTokens: 9_000, cacheReadTokens: 2_304, cacheWriteTokens: 0 },
    ],
    [
      'the AI SDK: cached tokens among the prompt, under the names of the adapter for Anthropic',
      { ...anthropic(9_000, 2_304, 10), model: 'anthropic/claude-sonnet-4-5' },
      { prompt: 9_000, inputTokens: 9_000, cacheReadTokens: 2_304, cacheWriteTokens: 10 },
    ],
    [
      'OpenAI Responses: no word of the cache',
      { prompt_tokens: 9_000, completion_tokens: 5, total_tokens: 9_005, model: 'gpt-5.1' },
      { prompt: 9_000, inputTokens: 9_000, cacheReadTokens: 0, cacheWriteTokens: 0 },
    ],
  ])("is read according to its adapter's way of counting: %s", (_, usage, { prompt, ...expected }) => {
    const [request] = read([user('a'), answer('b', usage)])?.requests ?? [];
    expect(request?.usage).toMatchObject({ outputTokens: 5, ...expected });
    expect(request?.usage && countPromptTokens(request.usage)).toBe(prompt);
    // Continue makes up the price of most models, so it is ignored.
    expect(request?.recordedCost).toBeUndefined();
  });

  it('counts cached tokens in addition to all prompts of a session if one prompt is smaller than its cached tokens', () => {
    const usage = (input: number, cached: number): Fields => ({
      ...{ prompt_tokens: input, completion_tokens: 1, model: 'm' },
      prompt_tokens_details: { cached_tokens: cached },
    });
    const requests = read([user('a'), answer('b', usage(9_000, 100)), answer('c', usage(10, 9_000))])?.requests;
    expect(requests?.map(({ usage }) => usage && countPromptTokens(usage))).toEqual([9_100, 9_010]);
  });

  it('is marked as invalid if a count is a string; missing and negative counts become zero', () => {
    const requests = read([
      user('a'),
      answer('b', { ...anthropic(1, 2, 3), prompt_tokens: '12' }),
      answer('c', { ...anthropic(1, 2, 3), prompt_tokens: null, completion_tokens: -4 }),
    ])?.requests;
    expect(requests).toMatchObject([{ isOdd: true }, { usage: { inputTokens: 0, outputTokens: 0 } }]);
  });
});

describe('the total of a Continue session', () => {
  it('includes compactions and subagents, which are not recorded with the answers', () => {
    const recorded = read(
      [
        user('a'),
        answer('b', anthropic(10, 20, 30)),
        answer('c', anthropic(1, 2, 3), { conversationSummary: 'So far.' }),
      ],
      {
        usage: {
          ...{ totalCost: 1, promptTokens: 111, completionTokens: 17 },
          promptTokensDetails: { cachedTokens: 22, cacheWriteTokens: 40 },
        },
      },
    );
    expect(recorded?.totals).toMatchObject([
      {
        after: 2,
        compactions: 1,
        models: [{ usage: { inputTokens: 111, outputTokens: 17, cacheReadTokens: 22, cacheWriteTokens: 40 } }],
      },
    ]);
  });

  it("is the only trace of a compaction's usage", () => {
    const recorded = read([answer('So far.', undefined, { conversationSummary: 'So far.' })], {
      usage: {
        ...{ totalCost: 1, promptTokens: 224_975, completionTokens: 1_547 },
        promptTokensDetails: { cachedTokens: 32_057, cacheWriteTokens: 60_758 },
      },
    });
    expect(recorded?.requests).toEqual([]);
    expect(recorded?.totals).toMatchObject([
      { answers: 1, models: [{ usage: { accounting: 'anthropic', inputTokens: 224_975, cacheReadTokens: 32_057 } }] },
    ]);
  });

  it("excludes cached tokens for OpenAI's adapters", () => {
    const usage = {
      prompt_tokens: 100,
      completion_tokens: 5,
      prompt_tokens_details: { cached_tokens: 60 },
      model: 'm',
    };
    const recorded = read([user('a'), answer('b', usage)], {
      usage: { promptTokens: 100, completionTokens: 5, promptTokensDetails: { cachedTokens: 0 } },
    });
    expect(recorded?.totals).toMatchObject([{ models: [{ usage: recorded?.requests[0]?.usage ?? {} }] }]);
  });
});

it('requests copied into a Continue fork keep their original keys, and later ones get new keys', () => {
  const begin = [user('a'), answer('b', anthropic(1, 2, 3)), user('c'), answer('d', anthropic(2, 3, 4))];
  const keys = (history: readonly Fields[], id = 'k1') =>
    read(history, { sessionId: id })?.requests.map(({ key }) => key) ?? [];
  const origin = keys([...begin, user('e'), answer('f', anthropic(3, 4, 5))]);
  const fork = keys([...begin, user('x'), answer('f', anthropic(3, 4, 5))], 'k2');
  expect(new Set(origin).size).toBe(3);
  expect(fork.slice(0, 2)).toEqual(origin.slice(0, 2));
  expect(fork[2]).not.toBe(origin[2]);
});
