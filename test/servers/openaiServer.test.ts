/** Tests OpenAI's optional rules and OpenRouter's fields with the plain SDK. */
import { OpenAI } from 'openai';
import { afterEach, describe, expect, it } from 'vitest';
import { callsTool, reply, type Reply } from './behaviour';
import { isObject, objects, type Json } from './json';
import type { ModelServer } from './modelServer';
import { startOpenAIServer, type OpenAIServerOptions } from './openaiServer';
import { AGEING } from './promptCache';

let open: ModelServer | undefined;
afterEach(async () => {
  await open?.close();
});

async function server(options: OpenAIServerOptions): Promise<{ readonly at: ModelServer; readonly client: OpenAI }> {
  const at = (open = await startOpenAIServer(options));
  return { at, client: new OpenAI({ apiKey: 'key', baseURL: `${at.url}/v1`, maxRetries: 0 }) };
}

/** Returns the error of a request; undefined if the server answers. */
async function requestRefusal(at: ModelServer, body: Json, api = 'chat/completions'): Promise<string | undefined> {
  const answer = await fetch(`${at.url}/v1/${api}`, { method: 'POST', body: JSON.stringify({ model: 'm', ...body }) });
  await answer.text();
  return answer.ok ? undefined : `${answer.status} ${at.requests.at(-1)?.refusal ?? ''}`;
}

const user = { role: 'user', content: 'x' };
const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } };
const tool = { type: 'function', function: { name: 'a', parameters: { type: 'object' } } };

describe('fields of the OpenAI SDK', () => {
  it('are accepted by the test server, and other fields are rejected', async () => {
    const { at } = await server({});
    const more = {
      prompt_cache_key: 'k',
      prompt_cache_options: { ttl: '30m' },
      service_tier: 'flex',
      verbosity: 'low',
    };
    expect(await requestRefusal(at, { messages: [user], ...more })).toBeUndefined();
    expect(
      await requestRefusal(at, { input: 'x', ...more, verbosity: undefined, truncation: 'auto' }, 'responses'),
    ).toBeUndefined();
    expect(await requestRefusal(at, { messages: [user], session_id: 's' })).toBe(
      "400 Unknown parameter: 'session_id'.",
    );
    expect(await requestRefusal(at, { messages: [user], cache_control: { type: 'ephemeral' } })).toContain(
      'cache_control',
    );
    expect(await requestRefusal(at, { messages: [user], tools: [{ ...tool, cache_control: {} }] })).toContain(
      'tools[0].cache_control',
    );
    expect(await requestRefusal(at, { input: 'x', max_tokens: 1 }, 'responses')).toContain("'max_tokens'");
  });

  it('are only partly accepted by a test server that imitates a compatible one', async () => {
    const { at } = await server({ quirks: { plainFields: true } });
    expect(await requestRefusal(at, { messages: [user], prompt_cache_key: 'k' })).toContain('prompt_cache_key');
  });
});

describe('limits of a model on the OpenAI test server', () => {
  it('reject more output than it can write', async () => {
    const { at } = await server({ strict: { maxOutputTokens: 1000 } });
    for (const field of ['max_tokens', 'max_completion_tokens']) {
      expect(await requestRefusal(at, { messages: [user], [field]: 1000 })).toBeUndefined();
      expect(await requestRefusal(at, { messages: [user], [field]: 1001 })).toContain(
        'supports at most 1000 completion tokens',
      );
    }
    expect(await requestRefusal(at, { input: 'x', max_output_tokens: 1001 }, 'responses')).toContain('at most 1000');
  });

  it('reject images if it has no vision', async () => {
    const { at } = await server({ quirks: { textOnly: true } });
    expect(await requestRefusal(at, { messages: [{ role: 'user', content: [image] }] })).toContain(
      'unknown variant `image_url`',
    );
    const content = [{ type: 'input_image', image_url: 'data:image/png;base64,AAAA' }];
    expect(await requestRefusal(at, { input: [{ role: 'user', content }] }, 'responses')).toContain(
      'only supported by certain models',
    );
  });

  it('reject too many bytes with 413', async () => {
    const { at } = await server({ strict: { maxBytes: 200 } });
    expect(await requestRefusal(at, { messages: [user] })).toBeUndefined();
    expect(await requestRefusal(at, { messages: [{ role: 'user', content: 'x'.repeat(200) }] })).toMatch(/^413/);
  });

  it('reject call IDs that are not in Mistral’s form, if the model requires it', async () => {
    const { at } = await server({ quirks: { shortCallIds: true } });
    const turn = (id: string): Json => ({
      messages: [
        user,
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id, type: 'function', function: { name: 'a', arguments: '{}' } }],
        },
        { role: 'tool', tool_call_id: id, content: 'x' },
      ],
    });
    expect(await requestRefusal(at, turn('toolu_01D7FLrfh4GYq7yT1ULFeyMV'))).toContain(
      'but must be a-z, A-Z, 0-9, with a length of 9',
    );
    expect(await requestRefusal(at, turn('aB3dE5fG7'))).toBeUndefined();
  });
});

describe('an OpenAI test server that truncates silently', () => {
  it('reads half of its window if the prompt is longer', async () => {
    const { client } = await server({ cutsAt: 1000, tokenFactor: 1, maxContextTokens: 500 });
    const ask = async (length: number): Promise<number | undefined> => {
      const content = 'x'.repeat(length);
      return (await client.chat.completions.create({ model: 'm', messages: [{ role: 'user', content }] })).usage
        ?.prompt_tokens;
    };
    expect(await ask(3900)).toBe(979);
    expect(await ask(4100)).toBe(502);
  });
});

const toInput = (output: readonly OpenAI.Responses.ResponseOutputItem[]): OpenAI.Responses.ResponseInput =>
  output.filter(
    ({ type }) => type === 'reasoning' || type === 'message' || type === 'function_call',
  ) as OpenAI.Responses.ResponseInput;

describe('encrypted reasoning on the OpenAI test server', () => {
  const thinks: Reply = { ...callsTool({ name: 'a', input: {} }), thinking: 'y'.repeat(4000) };
  const tools = [{ type: 'function' as const, name: 'a', parameters: { type: 'object' }, strict: null }];

  /**
   * Returns the input tokens of the next request in the same turn (`now`) and in the next turn
   * (`later`), and the length of the encrypted reasoning (`long`).
   */
  async function billed(
    reasoning: 'current_turn' | 'all_turns',
  ): Promise<{ readonly now: number; readonly later: number; readonly long: number }> {
    const { client } = await server({
      strict: { reasoning },
      tokenFactor: 1,
      script: [thinks, reply('so'), reply('ok')],
    });
    const asked = { role: 'user' as const, content: 'x' };
    const first = await client.responses.create({ model: 'm', input: [asked], tools });
    const call = first.output.find((item) => item.type === 'function_call');
    const answer = { type: 'function_call_output' as const, call_id: call?.call_id ?? '', output: 'z' };
    const turn = [asked, ...toInput(first.output), answer];
    const second = await client.responses.create({ model: 'm', input: turn, tools });
    const third = await client.responses.create({
      model: 'm',
      input: [...turn, ...toInput(second.output), asked],
      tools,
    });
    const [item] = first.output;
    const long = item?.type === 'reasoning' ? (item.encrypted_content ?? '').length : 0;
    return { now: second.usage?.input_tokens ?? 0, later: third.usage?.input_tokens ?? 0, long };
  }

  it('counts as the tokens that it was generated from, but only in its turn', async () => {
    const { now, later, long } = await billed('current_turn');
    expect(now).toBeGreaterThan(1000);
    expect(later).toBeLessThan(200);
    // As text, the encrypted reasoning would count far more tokens.
    expect(long / 4).toBeGreaterThan(1500);
  });

  it('counts in every turn from GPT-5.6 on', async () => {
    const { now, later } = await billed('all_turns');
    expect(later).toBeGreaterThan(now);
  });

  it('must come back with its message’s phase if required', async () => {
    const { client } = await server({ strict: { phases: true }, script: [reply('so'), reply('ok')] });
    const input = [{ role: 'user' as const, content: 'x' }];
    const { output } = await client.responses.create({ model: 'm', input });
    expect(output[0]).toMatchObject({ phase: 'final_answer' });
    await expect(
      client.responses.create({ model: 'm', input: [...input, ...toInput(output), ...input] }),
    ).resolves.toBeDefined();
    const dropped = { role: 'assistant' as const, content: 'so' };
    await expect(client.responses.create({ model: 'm', input: [...input, dropped, ...input] })).rejects.toThrow(
      'phase',
    );
  });
});

describe('the cache of the OpenAI test server', () => {
  const long = { role: 'user', content: 'x'.repeat(8000) };
  const cached = (at: ModelServer): unknown => {
    const details = at.requests.at(-1)?.usage?.['prompt_tokens_details'];
    return isObject(details) ? details['cached_tokens'] : undefined;
  };

  it('is still warm after six minutes, and cold after a day', async () => {
    let now = 0;
    const { at } = await server({ cache: AGEING.openaiKept, now: () => now });
    await requestRefusal(at, { messages: [long] });
    now += 6 * 60_000;
    await requestRefusal(at, { messages: [long, user] });
    expect(cached(at)).toBeGreaterThan(2000);
    now += 25 * 3_600_000;
    await requestRefusal(at, { messages: [long, user] });
    expect(cached(at)).toBe(0);
  });

  it('is shared only by requests with one key, if the server requires it', async () => {
    const { at } = await server({ strict: { cacheKeys: true } });
    await requestRefusal(at, { messages: [long], prompt_cache_key: 'one' });
    await requestRefusal(at, { messages: [long], prompt_cache_key: 'two' });
    expect(cached(at)).toBe(0);
    await requestRefusal(at, { messages: [long], prompt_cache_key: 'one' });
    expect(cached(at)).toBeGreaterThan(2000);
  });
});

describe('the OpenRouter test server', () => {
  const model = 'anthropic/claude-opus-5.5';
  const mark = { cache_control: { type: 'ephemeral' } };
  const text = (content: string, more: Json = {}): Json[] => [{ type: 'text', text: content, ...more }];
  const call = (id: string): Json => ({ id, type: 'function', function: { name: 'a', arguments: '{}' } });
  const step = (id: string, more: Json = {}): Json[] => [
    { role: 'assistant', content: null, tool_calls: [call(id)] },
    { role: 'tool', tool_call_id: id, content: text('y'.repeat(8000), more) },
  ];
  const getUsage = (at: ModelServer): unknown => at.requests.at(-1)?.usage?.['prompt_tokens_details'];

  it('caches a tool loop if the results are marked, and nothing otherwise', async () => {
    const { at } = await server({ quirks: { openRouter: true }, cache: AGEING.openrouter });
    const ask = (steps: readonly Json[], more: Json = {}): Promise<string | undefined> =>
      requestRefusal(at, { model, messages: [{ role: 'user', content: 'go' }, ...steps], tools: [tool], ...more });
    expect(await ask(step('c1'))).toBeUndefined();
    expect(await ask([...step('c1'), ...step('c2')])).toBeUndefined();
    expect(getUsage(at)).toEqual({ cached_tokens: 0, cache_write_tokens: 0 });
    expect(await ask(step('c1', mark))).toBeUndefined();
    expect(await ask([...step('c1'), ...step('c2', mark)])).toBeUndefined();
    expect(getUsage(at)).toMatchObject({ cached_tokens: expect.closeTo(2200, -3) as number });
    // The top-level breakpoint marks the last block of each request.
    expect(await ask([...step('c1'), ...step('c2'), ...step('c3')], mark)).toBeUndefined();
    expect(getUsage(at)).toMatchObject({ cached_tokens: expect.closeTo(4400, -3) as number });
  });

  it("accepts OpenRouter's fields and enforces their limits", async () => {
    const { at } = await server({ quirks: { openRouter: true } });
    const messages = [
      { role: 'system', content: text('s', mark) },
      { role: 'user', content: text('x', mark) },
    ];
    const more = {
      session_id: 's',
      provider: { order: ['anthropic'] },
      reasoning: { effort: 'high' },
      usage: { include: true },
    };
    expect(await requestRefusal(at, { model, messages, ...more, tools: [{ ...tool, ...mark }] })).toBeUndefined();
    expect(
      await requestRefusal(at, {
        model,
        messages,
        ...mark,
        tools: [
          { ...tool, ...mark },
          { ...tool, function: { ...tool.function, name: 'b' }, ...mark },
        ],
      }),
    ).toContain('Found 5');
    expect(await requestRefusal(at, { model, messages, session_id: 'x'.repeat(257) })).toContain('at most 256');
    expect(await requestRefusal(at, { model, messages, frobnicate: 1 })).toContain('frobnicate');
  });

  it('separates caches by session, or by the beginning of a conversation', async () => {
    const { at } = await server({
      quirks: { openRouter: true },
      strict: { cacheKeys: true },
      cache: AGEING.openrouter,
    });
    const messages = [{ role: 'user', content: text('x'.repeat(8000), mark) }];
    await requestRefusal(at, { model, messages, session_id: 'one' });
    await requestRefusal(at, { model, messages, session_id: 'two' });
    expect(getUsage(at)).toMatchObject({ cached_tokens: 0 });
    await requestRefusal(at, { model, messages, session_id: 'one' });
    expect(getUsage(at)).toMatchObject({ cache_write_tokens: 0 });
  });

  it('returns reasoning details and requires them unchanged', async () => {
    const scripted: Reply = { ...callsTool({ name: 'a', input: {} }), thinking: 'Hm.', hiddenThinking: 'Oh.' };
    const { at, client } = await server({
      quirks: { openRouter: true },
      strict: { reasoningDetails: true },
      script: [scripted, reply('ok')],
    });
    const asked = { role: 'user' as const, content: 'x' };
    const first = await client.chat.completions.create({ model, messages: [asked] });
    const made: unknown = first.choices[0]?.message;
    const message: Json = isObject(made) ? made : {};
    const details = objects(message['reasoning_details']);
    expect(details.map(({ type }) => type)).toEqual(['reasoning.text', 'reasoning.encrypted']);
    const [sent] = objects(message['tool_calls']);
    const answer = { role: 'tool', tool_call_id: sent?.['id'], content: 'z' };
    const ask = (more: Json): Promise<string | undefined> =>
      requestRefusal(at, {
        model,
        messages: [asked, { role: 'assistant', content: null, tool_calls: message['tool_calls'], ...more }, answer],
        tools: [tool],
      });
    expect(await ask({ reasoning_details: details })).toBeUndefined();
    expect(await ask({})).toContain('Expected `thinking`');
    expect(await ask({ reasoning_details: [{ ...details[0], text: 'Hmm.' }] })).toContain('Invalid `signature`');
  });

  it('streams reasoning details, usage even if not requested, and errors with numeric codes', async () => {
    const { client } = await server({
      quirks: { openRouter: true },
      script: { ...reply('ok'), thinking: 'Hm.' },
      maxContextTokens: 500,
    });
    const deltas: Json[] = [];
    let usage: unknown;
    for await (const chunk of await client.chat.completions.create({
      model,
      messages: [{ role: 'user', content: 'x' }],
      stream: true,
    })) {
      const delta: unknown = chunk.choices[0]?.delta;
      if (isObject(delta)) deltas.push(delta);
      usage = chunk.usage ?? usage;
    }
    expect(deltas.flatMap((delta) => objects(delta['reasoning_details']))).toHaveLength(1);
    expect(usage).toMatchObject({ prompt_tokens_details: { cached_tokens: 0 } });
    const content = 'x'.repeat(8000);
    await expect(
      client.chat.completions.create({ model, messages: [{ role: 'user', content }] }),
    ).rejects.toMatchObject({ status: 400, error: { code: 400 } });
  });
});
