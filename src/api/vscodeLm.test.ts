import { describe, expect, it } from 'vitest';
import { testClock } from '../../test/servers/testClock';
import {
  assistant,
  call,
  counter,
  findEvent,
  imageBlock,
  collectOutcome,
  TINY_PNG_BASE64,
  READ_FILE_TOOL,
  result,
  text,
  user,
} from './testing';
import type { ApiHandler } from './types';
import {
  convertLmMessages,
  listOtherModels,
  createVscodeLmHandler,
  type LmMessage,
  type LmAnswerPart,
  type LmModel,
  type LmRequestOptions,
} from './vscodeLm';

type Answer = (signal: AbortSignal) => AsyncIterable<LmAnswerPart>;

interface LmCall {
  readonly messages: readonly LmMessage[];
  readonly options: LmRequestOptions;
}

function model(answer: Answer | Error, vendor = 'copilot', id = 'gpt-4o'): LmModel & { readonly asked: LmCall[] } {
  const asked: LmCall[] = [];
  return {
    asked,
    vendor,
    id,
    family: id,
    name: id,
    maxInputTokens: 100_000,
    sendRequest(messages, options, signal) {
      asked.push({ messages, options });
      return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer(signal));
    },
  };
}

const says = (...parts: readonly LmAnswerPart[]): Answer =>
  async function* () {
    await Promise.resolve();
    yield* parts;
  };

function createHandler(models: readonly LmModel[], vendor?: string): ApiHandler {
  return createVscodeLmHandler({
    models: {
      selectChatModels: ({ id }) => Promise.resolve(models.filter((one) => id === undefined || one.id === id)),
    },
    ownVendor: 'condenser',
    selector: { id: 'gpt-4o', ...(vendor !== undefined && { vendor }) },
    counter,
    clock: testClock(),
    contextWindow: 128_000,
  });
}

const hello = { messages: [user('hello')] };

describe("the handler for VS Code's models", () => {
  it('uses the token usage that a model reports', async () => {
    const fields = { prompt_tokens: 900, completion_tokens: 7, prompt_tokens_details: { cached_tokens: 600 } };
    const handler = createHandler([model(says({ kind: 'text', text: 'Hi' }, { kind: 'usage', fields }))]);
    const { events } = await collectOutcome(handler.stream(hello));
    expect(findEvent(events, 'usage')?.usage).toMatchObject({
      source: 'reported',
      inputTokens: 900,
      outputTokens: 7,
      cacheReadTokens: 600,
    });
  });

  // Regression: such errors were reported as a broken answer or a refusal.
  it.each([
    [{ name: 'ChatRateLimited', message: "Sorry, you've been rate-limited." }, 'rate-limit'],
    [{ name: 'ChatQuotaExceeded', message: 'You have exhausted your AI credits.' }, 'quota'],
    [
      { code: 'Blocked', message: 'The extension has been temporarily blocked due to making too many requests.' },
      'rate-limit',
    ],
    [{ message: 'prompt token count of 130171 exceeds the limit of 128000' }, 'context-too-long'],
  ])('classifies the failure %o', async (fields, kind) => {
    const failure = Object.assign(new Error(fields.message), fields);
    expect((await collectOutcome(createHandler([model(failure)]).stream(hello))).error?.kind).toBe(kind);
  });

  it('streams, and counts the tokens that VS Code does not report', async () => {
    const parts: LmAnswerPart[] = [
      { kind: 'thinking', text: 'Hm.' },
      { kind: 'text', text: '' },
      { kind: 'text', text: '12345678' },
      { kind: 'data', mimeType: 'usage', data: new Uint8Array() },
    ];
    const handler = createHandler([model(says(...parts))]);
    expect(await collectOutcome(handler.stream({ ...hello, system: 'Be short.' }))).toEqual({
      text: '12345678',
      error: undefined,
      events: [
        { type: 'thinking', text: 'Hm.' },
        { type: 'text', text: '12345678' },
        {
          type: 'usage',
          usage: {
            accounting: 'openai',
            source: 'counted',
            inputTokens: 9,
            outputTokens: 3,
            cacheReadTokens: 0,
            cacheWriteTokens: 0,
          },
        },
        { type: 'end', stopReason: 'end_turn' },
      ],
    });
    expect(handler.modelInfo).toEqual({
      vendor: 'vscode',
      id: 'gpt-4o',
      accounting: 'openai',
      contextWindow: 128_000,
    });
  });

  it('passes on tools and calls', async () => {
    const lm = model(
      says(
        { kind: 'toolCall', callId: 'c1', name: 'read_file', input: { path: 'a' } },
        { kind: 'toolCall', callId: 'c2', name: 'x', input: 'odd' },
      ),
    );
    const { events } = await collectOutcome(
      createHandler([lm]).stream({
        ...hello,
        tools: [READ_FILE_TOOL, { name: 'server_tool' }],
        toolChoice: 'required',
        extraBody: { a: 1 },
      }),
    );
    expect(events.filter(({ type }) => type === 'tool_call')).toEqual([
      { type: 'tool_call', id: 'c1', name: 'read_file', input: { path: 'a' }, rawArguments: '{"path":"a"}' },
      { type: 'tool_call', id: 'c2', name: 'x', input: { input: 'odd' }, rawArguments: '"odd"' },
    ]);
    expect(findEvent(events, 'end')?.stopReason).toBe('tool_use');
    expect(lm.asked[0]?.options).toEqual({
      tools: [{ name: 'read_file', description: 'Reads a file.', inputSchema: READ_FILE_TOOL.input_schema }],
      toolRequired: true,
      modelOptions: { a: 1 },
    });
    await collectOutcome(
      createHandler([lm]).stream({ ...hello, tools: [{ name: 'a', input_schema: {} }], toolChoice: 'none' }),
    );
    expect(lm.asked[1]?.options).toEqual({ tools: [], toolRequired: false, modelOptions: {} });
  });

  it("never calls the extension's own models", async () => {
    const own = model(says({ kind: 'text', text: 'loop' }), 'condenser');
    const other = model(says({ kind: 'text', text: 'other' }), 'ollama');
    expect((await collectOutcome(createHandler([own, other]).stream(hello))).text).toBe('other');
    expect((await collectOutcome(createHandler([own]).stream(hello))).error).toMatchObject({ kind: 'model' });
    expect((await collectOutcome(createHandler([own], 'condenser').stream(hello))).error?.message).toContain(
      'it would call itself',
    );
    expect((await collectOutcome(createHandler([]).stream(hello))).error?.message).toContain(
      'VS Code currently has no model “gpt-4o”.',
    );
    expect(await listOtherModels({ selectChatModels: () => Promise.resolve([own, other]) }, 'condenser')).toEqual([
      other,
    ]);
    expect(own.asked).toEqual([]);
  });

  it.each([
    ['NoPermissions', 'permission'],
    ['Blocked', 'permission'],
    ['NotFound', 'model'],
    ['unknown', 'protocol'],
  ])('classifies the error code %s', async (code, kind) => {
    const failure = Object.assign(new Error('Language model said no'), { code, name: 'LanguageModelError' });
    expect((await collectOutcome(createHandler([model(failure)]).stream(hello))).error).toMatchObject({
      kind,
      details: { vendorMessage: 'Language model said no' },
    });
  });

  it.each([
    'Cannot have more than 128 tools per request.',
    'You may not include more than 128 tools in your request.',
    'LanguageModelChatToolMode.Required is not supported with more than one tool',
  ])('reports an invalid request: %s', async (words) => {
    const { error } = await collectOutcome(createHandler([model(new Error(words))]).stream(hello));
    expect(error).toMatchObject({ kind: 'invalid-request', canRetry: false });
    expect(error?.message).toContain(words);
  });

  it('reports a message that is too long', async () => {
    const tooLong = new Error('Message exceeds token limit.');
    expect((await collectOutcome(createHandler([model(tooLong)]).stream(hello))).error?.kind).toBe('context-too-long');
  });

  it('stops waiting for an unresponsive model when it is cancelled', async () => {
    let seen: AbortSignal | undefined;
    const lm = model((signal) => {
      seen = signal;
      return { [Symbol.asyncIterator]: () => ({ next: () => new Promise(() => undefined) }) };
    });
    const controller = new AbortController();
    const outcome = collectOutcome(createHandler([lm]).stream(hello, controller.signal));
    while (!seen) await new Promise(setImmediate);
    controller.abort();
    expect((await outcome).error?.kind).toBe('aborted');
    expect(seen.aborted).toBe(true);
  });
});

describe("converting messages for VS Code's models", () => {
  const say = (words: string): LmAnswerPart => ({ kind: 'text', text: words });

  it('puts the system prompt before the first message, and later system messages after tool results', () => {
    const messages = [
      { role: 'system', content: 'first' } as const,
      user([text('task'), text(' '), imageBlock]),
      assistant([{ type: 'thinking', thinking: 'x' }, text('So.'), call('c1', { a: 1 }), call('c2', 'odd')]),
      { role: 'system', content: 'note' } as const,
      user([
        result('c1'),
        result('c2', [text('seen'), imageBlock]),
        { type: 'image', source: { type: 'url', url: 'u' } },
      ]),
      assistant([{ type: 'redacted_thinking', data: 'x' }]),
      assistant('  '),
    ];
    const data = { kind: 'data', mimeType: 'image/png', data: Buffer.from(TINY_PNG_BASE64, 'base64') };
    expect(convertLmMessages({ system: [text('zero') as never], messages })).toEqual([
      { role: 'user', content: [say('zero'), say('first'), say('task'), data] },
      {
        role: 'assistant',
        content: [
          say('So.'),
          { kind: 'toolCall', callId: 'c1', name: 'read_file', input: { a: 1 } },
          { kind: 'toolCall', callId: 'c2', name: 'read_file', input: {} },
        ],
      },
      {
        role: 'user',
        content: [
          { kind: 'toolResult', callId: 'c1', content: [say('done')] },
          { kind: 'toolResult', callId: 'c2', content: [say('seen'), data] },
          say('{"type":"image","source":{"type":"url","url":"u"}}'),
          say('<system>\nnote\n</system>'),
        ],
      },
    ]);
  });

  it('gives the system prompt a message of its own if the assistant speaks first', () => {
    expect(convertLmMessages({ system: 's', messages: [assistant('x')] })).toEqual([
      { role: 'user', content: [say('s')] },
      { role: 'assistant', content: [say('x')] },
    ]);
    expect(convertLmMessages({ messages: [user('x')] })).toEqual([{ role: 'user', content: [say('x')] }]);
  });
});
