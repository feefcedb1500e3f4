/** Tests the Converse server with AWS's SDK. */
import {
  BedrockRuntimeClient,
  ConverseCommand,
  ConverseStreamCommand,
  type ContentBlock,
  type ConverseCommandInput,
  type ConverseStreamOutput,
  type Message,
} from '@aws-sdk/client-bedrock-runtime';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import { afterEach, describe, expect, it } from 'vitest';
import { callsTool, makeFaultyReply, makeErrorResponse, reply, type Reply } from './behaviour';
import { startConverseServer, type ConverseServerOptions } from './converseServer';
import { isObject, type Json } from './json';
import type { ModelServer } from './modelServer';

let open: ModelServer | undefined;
afterEach(async () => {
  await open?.close();
});

async function server(
  options: ConverseServerOptions = {},
): Promise<{ readonly at: ModelServer; readonly client: BedrockRuntimeClient }> {
  const at = (open = await startConverseServer(options));
  const client = new BedrockRuntimeClient({
    region: 'eu-central-1',
    endpoint: at.url,
    token: { token: 'key' },
    authSchemePreference: ['httpBearerAuth'],
    maxAttempts: 1,
    requestHandler: new NodeHttpHandler(),
  });
  return { at, client };
}

const modelId = 'amazon.nova-2-pro-v1:0';
/** This example is from the user guide "Call a tool with the Converse API". */
const radio: ConverseCommandInput = {
  modelId,
  system: [{ text: 'You know the radio.' }, { cachePoint: { type: 'default' } }],
  messages: [{ role: 'user', content: [{ text: 'What is the most popular song on WZPZ?' }] }],
  inferenceConfig: { maxTokens: 1000 },
  toolConfig: {
    tools: [
      {
        toolSpec: {
          name: 'top_song',
          description: 'Get the most popular song played on a radio station.',
          inputSchema: { json: { type: 'object', properties: { sign: { type: 'string' } }, required: ['sign'] } },
        },
      },
    ],
  },
};
const asks = { name: 'top_song', input: { sign: 'WZPZ' } };
const answers = (content: readonly ContentBlock[] = [], ...more: readonly ContentBlock[]): Message => ({
  role: 'user',
  content: [
    ...content.flatMap(({ toolUse }): ContentBlock[] =>
      toolUse
        ? [{ toolResult: { toolUseId: toolUse.toolUseId, content: [{ json: { song: 'Elemental Hotel' } }] } }]
        : [],
    ),
    ...more,
  ],
});

describe('an SDK request to the Converse test server', () => {
  it('is answered with reasoning, calls and cached tokens', async () => {
    const scripted: Reply = { ...callsTool(asks, asks), text: 'So.', thinking: 'Hm.', hiddenThinking: 'Oh.' };
    const { client, at } = await server({ script: [scripted, reply('Done.')], minCacheTokens: 1 });
    const first = await client.send(new ConverseCommand(radio));
    expect(first.stopReason).toBe('tool_use');
    const made = first.output?.message;
    expect(made?.content?.map((block) => Object.keys(block)[0])).toEqual([
      'reasoningContent',
      'reasoningContent',
      'text',
      'toolUse',
      'toolUse',
    ]);
    expect(first.usage?.cacheWriteInputTokens).toBeGreaterThan(0);
    const messages = [...(radio.messages ?? []), made ?? { role: 'assistant', content: [] }, answers(made?.content)];
    const second = await client.send(new ConverseCommand({ ...radio, messages }));
    expect(second.output?.message?.content).toEqual([{ text: 'Done.' }]);
    expect(second.usage?.cacheReadInputTokens).toBe(first.usage?.cacheWriteInputTokens);
    expect(at.requests.map(({ refusal }) => refusal)).toEqual([undefined, undefined]);
  });

  it('is streamed in frames that can be joined and sent back', async () => {
    const { client } = await server({
      script: [{ ...callsTool(asks), text: ['So', '.'], thinking: 'Hm.' }, reply('Done.')],
    });
    const { stream } = await client.send(new ConverseStreamCommand(radio));
    const events: ConverseStreamOutput[] = [];
    for await (const event of stream ?? []) events.push(event);
    const deltas = events.flatMap(({ contentBlockDelta }) => contentBlockDelta?.delta ?? []);
    expect(deltas.map(({ text }) => text ?? '').join('')).toBe('So.');
    expect(JSON.parse(deltas.map(({ toolUse }) => toolUse?.input ?? '').join(''))).toEqual(asks.input);
    const signature = deltas.map(({ reasoningContent }) => reasoningContent?.signature ?? '').join('');
    const called = events.flatMap(({ contentBlockStart }) => contentBlockStart?.start?.toolUse ?? [])[0];
    expect(events.at(-1)?.metadata?.usage?.outputTokens).toBeGreaterThan(0);
    const content: ContentBlock[] = [
      { reasoningContent: { reasoningText: { text: 'Hm.', signature } } },
      { text: 'So.' },
      { toolUse: { toolUseId: called?.toolUseId, name: 'top_song', input: asks.input } },
    ];
    const messages: Message[] = [
      ...(radio.messages ?? []),
      { role: 'assistant', content },
      answers(content, { text: 'And?' }),
    ];
    expect((await client.send(new ConverseCommand({ ...radio, messages }))).stopReason).toBe('end_turn');
  });

  it('fails as on AWS', async () => {
    const throttled = makeErrorResponse(
      429,
      'ThrottlingException',
      'Too many tokens, please wait before trying again.',
    );
    const { client } = await server({ script: [throttled, makeFaultyReply('error', 1)] });
    await expect(client.send(new ConverseCommand(radio))).rejects.toMatchObject({
      name: 'ThrottlingException',
      message: 'Too many tokens, please wait before trying again.',
    });
    const { stream } = await client.send(new ConverseStreamCommand(radio));
    const read = async (): Promise<number> => {
      let seen = 0;
      for await (const { contentBlockDelta } of stream ?? []) seen += contentBlockDelta ? 1 : 0;
      return seen;
    };
    await expect(read()).rejects.toMatchObject({ name: 'ThrottlingException' });
  });
});

describe('the Converse test server checks, as AWS does,', () => {
  const words = { text: 'x' };
  const use = (id = 't1'): Json => ({ toolUse: { toolUseId: id, name: 'top_song', input: {} } });
  const result = (id = 't1', more: Json = {}): Json => ({ toolResult: { toolUseId: id, content: [words], ...more } });
  const image = { image: { format: 'png', source: { bytes: 'AAAA' } } };
  const asked = (...content: readonly Json[]): Json => ({ role: 'user', content });
  const said = (...content: readonly Json[]): Json => ({ role: 'assistant', content });
  const point = (ttl?: string): Json => ({ cachePoint: { type: 'default', ...(ttl !== undefined && { ttl }) } });

  async function requestRefusal(at: ModelServer, body: object): Promise<string | undefined> {
    const answer = await fetch(`${at.url}/model/m/converse`, { method: 'POST', body: JSON.stringify(body) });
    const parsed: unknown = await answer.json();
    return answer.ok || !isObject(parsed)
      ? undefined
      : `${answer.status} ${answer.headers.get('x-amzn-errortype') ?? ''}: ${String(parsed['message'])}`;
  }
  const { toolConfig } = radio;

  it.each<[string, Json[], string | undefined]>([
    ['nothing', [], 'messages list is empty'],
    ['an assistant at the beginning', [said(words)], 'must start with a user message'],
    ['two messages of the user', [asked(words), asked(words)], 'must alternate'],
    ['a blank text', [asked({ text: ' ' })], 'is blank'],
    ['no content', [asked()], 'is empty'],
    ['a block of two kinds', [asked({ text: 'x', ...image })], 'exactly one field'],
    ['a block of an unknown kind', [asked({ type: 'text', text: 'x' })], 'exactly one field'],
    ['an image of the assistant', [asked(words), said(image)], 'only allowed in messages with the user role'],
    [
      'an image of an unknown format',
      [asked({ image: { format: 'bmp', source: { bytes: 'AAAA' } } })],
      'enum value set: [png',
    ],
    ['a call of the user', [asked(use())], 'only allowed in messages with the assistant role'],
    [
      'a call without an answer',
      [asked(words), said(use())],
      'Expected toolResult blocks at messages.2.content for the following Ids: t1',
    ],
    ['half of the answers', [asked(words), said(use(), use('t2')), asked(result())], 'following Ids: t2'],
    ['an answer without a call', [asked(result())], 'exceeds the number of toolUse blocks'],
    ['two answers to one call', [asked(words), said(use()), asked(result(), result())], 'exceeds the number'],
    [
      'a call whose input is a text',
      [asked(words), said({ toolUse: { toolUseId: 't1', name: 'a', input: '{}' } }), asked(result())],
      'Provide a json object',
    ],
    [
      'an empty answer',
      [asked(words), said(use()), asked(result('t1', { content: [{ text: '' }] }))],
      'must be non-empty',
    ],
    [
      'a failed answer without words',
      [asked(words), said(use()), asked(result('t1', { content: [], status: 'error' }))],
      'cannot be empty when status value is error',
    ],
    [
      'reasoning of another',
      [asked(words), said({ reasoningContent: { reasoningText: { text: 'x', signature: 'y' } } })],
      'Invalid `signature`',
    ],
    [
      'five cache points',
      [asked(words, point(), words, point(), words, point(), words, point(), words, point())],
      'maximum is 4',
    ],
    ['a long lifetime behind a short one', [asked(words, point('5m'), words, point('1h'))], 'must not be longer'],
    ['nothing where an answer comes with words', [asked(words), said(use()), asked(result(), words)], undefined],
  ])('messages with %s', async (_, messages, message) => {
    const { at } = await server();
    const refusal = await requestRefusal(at, { messages, toolConfig });
    if (message === undefined) expect(refusal).toBeUndefined();
    else expect(refusal).toContain(message);
    if (message !== undefined) expect(refusal).toMatch(/^400 ValidationException: /);
  });

  it.each<[string, Json, string]>([
    [
      'tools in the messages alone',
      { messages: [asked(words), said(use()), asked(result())] },
      'toolConfig field must be defined',
    ],
    ['an unknown field', { max_tokens: 1 }, 'extraneous key [max_tokens]'],
    ['more output than the model has', { inferenceConfig: { maxTokens: 65_000 } }, 'exceeds the model limit of 64000'],
    ['a blank system prompt', { system: [{ text: '' }] }, 'is blank'],
    ['no tools', { toolConfig: { tools: [] } }, 'greater than or equal to 1'],
    [
      'a tool without a schema',
      { toolConfig: { tools: [{ toolSpec: { name: 'a', inputSchema: { json: {} } } }] } },
      'must be one of the following: object',
    ],
    [
      'a tool with an empty description',
      {
        toolConfig: {
          tools: [{ toolSpec: { name: 'a', description: '', inputSchema: { json: { type: 'object' } } } }],
        },
      },
      'description',
    ],
  ])('the other fields: %s', async (_, more, message) => {
    const { at } = await server();
    expect(await requestRefusal(at, { messages: [asked(words)], ...more })).toContain(message);
  });

  it('the rules of a particular model, if it imitates that model', async () => {
    const { at } = await server({ strict: { textOnly: true, resultsAlone: true } });
    expect(await requestRefusal(at, { messages: [asked(image)] })).toContain("doesn't support the image content block");
    const mixed = [asked(words), said(use()), asked(result(), words)];
    expect(await requestRefusal(at, { messages: mixed, toolConfig })).toContain('cannot be provided in the same turn');
  });

  it("the limits of tokens and bytes, and the caller's key", async () => {
    const { at } = await server({ maxContextTokens: 1000, maxBytes: 20_000 });
    const long = 'x'.repeat(5000);
    expect(await requestRefusal(at, { messages: [asked({ text: long })] })).toBe(
      `400 ValidationException: The model returned the following errors: prompt is too long: ${at.tokensOf(long) + 3} tokens > 1000 maximum`,
    );
    expect(await requestRefusal(at, { messages: [asked({ text: 'x'.repeat(30_000) })] })).toMatch(/^413 /);
    await at.close();
    const { client } = await server({ apiKey: 'other' });
    await expect(client.send(new ConverseCommand(radio))).rejects.toMatchObject({
      name: 'UnrecognizedClientException',
    });
  });
});
