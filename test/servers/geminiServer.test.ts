/** Tests the Gemini server with Google's SDK. */
import { GoogleGenAI, type Content, type GenerateContentConfig } from '@google/genai';
import { afterEach, describe, expect, it } from 'vitest';
import { callsTool, makeFaultyReply, makeRateLimitError, reply, type Reply } from './behaviour';
import { startGeminiServer, type GeminiServerOptions } from './geminiServer';
import { isObject, objects, type Json } from './json';
import type { ModelServer } from './modelServer';

let open: ModelServer | undefined;
afterEach(async () => {
  await open?.close();
});

async function server(
  options: GeminiServerOptions = {},
): Promise<{ readonly at: ModelServer; readonly ai: GoogleGenAI }> {
  const at = (open = await startGeminiServer(options));
  return {
    at,
    ai: new GoogleGenAI({ apiKey: 'key', httpOptions: { baseUrl: at.url, retryOptions: { attempts: 1 } } }),
  };
}

const model = 'gemini-3.5-flash';
/** This example is from the guide "Function calling". */
const lights: GenerateContentConfig = {
  systemInstruction: 'You set the lights.',
  tools: [
    {
      functionDeclarations: [
        {
          name: 'set_light_values',
          description: 'Sets the brightness and color temperature of a light.',
          parametersJsonSchema: {
            type: 'object',
            properties: { brightness: { type: 'number' }, color_temp: { type: 'string' } },
            required: ['brightness'],
            additionalProperties: false,
          },
        },
      ],
    },
  ],
};
const user = (text: string): Content => ({ role: 'user', parts: [{ text }] });
const makeAnswer = (...outputs: readonly string[]): Content => ({
  role: 'user',
  parts: outputs.map((output) => ({ functionResponse: { name: 'set_light_values', response: { output } } })),
});
const dims = { name: 'set_light_values', input: { brightness: 25 } };

async function requestRefusal(at: ModelServer, body: object, action = 'generateContent'): Promise<string | undefined> {
  const answer = await fetch(`${at.url}/v1beta/models/${model}:${action}`, {
    method: 'POST',
    body: JSON.stringify(body),
  });
  const said: unknown = await answer.json();
  const error = isObject(said) ? said['error'] : undefined;
  return isObject(error) ? `${answer.status} ${String(error['status'])} ${String(error['message'])}` : undefined;
}

describe('an SDK request to the Gemini test server', () => {
  it('is answered with thoughts, calls and cached tokens', async () => {
    const scripted: Reply = { ...callsTool(dims, dims), text: 'So.', thinking: 'Hm.' };
    const { ai, at } = await server({ script: [scripted, reply('Done.')], minCacheTokens: 1 });
    const contents = [user('Dim the lights.')];
    const first = await ai.models.generateContent({ model, contents, config: lights });
    expect(first.functionCalls).toHaveLength(2);
    expect(first.usageMetadata).toMatchObject({
      thoughtsTokenCount: at.tokensOf('Hm.'),
      totalTokenCount:
        (first.usageMetadata?.promptTokenCount ?? 0) +
        (first.usageMetadata?.candidatesTokenCount ?? 0) +
        (first.usageMetadata?.thoughtsTokenCount ?? 0),
    });
    const made = first.candidates?.[0]?.content;
    expect(made?.parts?.map((part) => part.thoughtSignature !== undefined)).toEqual([false, false, true, false]);
    const more = [...contents, made ?? {}, makeAnswer('dimmed', 'dimmed')];
    const second = await ai.models.generateContent({ model, contents: more, config: lights });
    expect(second.text).toBe('Done.');
    expect(second.usageMetadata?.cachedContentTokenCount).toBe(first.usageMetadata?.promptTokenCount);
    expect(at.requests.map(({ refusal }) => refusal)).toEqual([undefined, undefined]);
  });

  it('is streamed, and a chat keeps its own history', async () => {
    const { ai } = await server({ script: [reply(['Hel', 'lo']), reply('again')] });
    const chat = ai.chats.create({ model });
    const pieces: (string | undefined)[] = [];
    for await (const chunk of await chat.sendMessageStream({ message: 'Hi' })) pieces.push(chunk.text);
    expect(pieces.join('')).toBe('Hello');
    expect((await chat.sendMessage({ message: 'Hi' })).text).toBe('again');
  });

  it('can count tokens and list models with their limits', async () => {
    const { ai } = await server({ models: [model], maxContextTokens: 5000 });
    const { totalTokens } = await ai.models.countTokens({ model, contents: 'hello' });
    expect(totalTokens).toBeGreaterThan(0);
    expect(await ai.models.get({ model })).toMatchObject({ inputTokenLimit: 5000, outputTokenLimit: 65_536 });
    await expect(ai.models.generateContent({ model: 'other', contents: 'x' })).rejects.toMatchObject({ status: 404 });
  });

  it("fails as on Google's servers", async () => {
    const { ai, at } = await server({ script: [makeRateLimitError(), makeFaultyReply('error')] });
    const ask = async (): Promise<string | undefined> => {
      let last: string | undefined;
      for await (const { text } of await ai.models.generateContentStream({ model, contents: 'x' })) last = text;
      return last;
    };
    await expect(ask()).rejects.toMatchObject({ status: 429 });
    await expect(ask()).rejects.toThrow('overloaded');
    at.play(reply('', { stop: 'filter' }));
    expect((await ai.models.generateContent({ model, contents: 'x' })).promptFeedback?.blockReason).toBe(
      'PROHIBITED_CONTENT',
    );
    at.play(callsTool({ name: 'a', input: '{"x":' }));
    const broken = await ai.models.generateContent({ model, contents: 'x' });
    expect(broken.candidates?.[0]?.finishReason).toBe('MALFORMED_FUNCTION_CALL');
  });
});

describe('the Gemini test server checks, as Google does,', () => {
  const call = (args: object = {}, thoughtSignature?: string): Json => ({
    functionCall: { name: 'a', args },
    ...(thoughtSignature !== undefined && { thoughtSignature }),
  });
  const said = (...parts: readonly Json[]): Json => ({ role: 'model', parts });
  const asked = (...parts: readonly Json[]): Json => ({ role: 'user', parts });
  const result = (response: unknown = { output: 'x' }): Json => ({ functionResponse: { name: 'a', response } });
  const DUMMY = 'skip_thought_signature_validator';
  const words = { text: 'x' };

  it.each<[string, Json[], string | undefined]>([
    ['nothing', [], 'contents is not specified'],
    ['an unknown role', [{ role: 'assistant', parts: [words] }], 'valid role'],
    ['no parts', [asked()], 'parts must not be empty'],
    ['an empty text', [asked({ text: '' })], "oneof field 'data' must have one"],
    ['a part of two kinds', [asked({ text: 'x', inlineData: { mimeType: 'image/png', data: 'AAAA' } })], 'already set'],
    ['an unknown field', [asked({ text: 'x', cacheControl: {} })], 'Unknown name "cacheControl"'],
    ['an image that is no base64', [asked({ inlineData: { mimeType: 'image/png', data: '§' } })], 'Base64'],
    [
      'a call without an answer',
      [asked(words), said(call({}, DUMMY)), asked(words)],
      'number of function response parts',
    ],
    [
      'half of the answers',
      [asked(words), said(call({}, DUMMY), call()), asked(result())],
      'number of function response parts',
    ],
    ['an answer without a call', [asked(result())], 'function response turn comes immediately after'],
    ['a call at the beginning', [said(call({}, DUMMY)), asked(result())], 'function call turn comes immediately after'],
    [
      'a call after the model',
      [asked(words), said(words), said(call({}, DUMMY)), asked(result())],
      'function call turn comes',
    ],
    ['a call at the end', [asked(words), said(call({}, DUMMY))], 'single turn requests end with a user role'],
    ['an answer that is a text', [asked(words), said(call({}, DUMMY)), asked(result('x'))], 'protobuf.Struct'],
    ['an answer in a list', [asked(words), said(call({}, DUMMY)), asked(result(['x']))], 'protobuf.Struct'],
    ['a call without its signature', [asked(words), said(call()), asked(result())], 'missing a thought_signature'],
    ['a signature of another', [asked(words), said(call({}, 'AAAA')), asked(result())], 'Corrupted thought signature'],
    [
      'a signature that is not base64',
      [asked(words), said(call({}, 'x y')), asked(result())],
      'Base64 decoding failed',
    ],
    [
      'nothing where a turn is over',
      [asked(words), said(call()), asked(result()), said(words), asked(words)],
      undefined,
    ],
    [
      'nothing where one of two calls is signed',
      [asked(words), said(call({}, DUMMY), call()), asked(result(), result())],
      undefined,
    ],
    [
      'the second step without its own',
      [asked(words), said(call({}, DUMMY)), asked(result()), said(call()), asked(result())],
      'position 4',
    ],
  ])('contents with %s', async (_, contents, message) => {
    const { at } = await server();
    const refusal = await requestRefusal(at, { contents });
    if (message === undefined) expect(refusal).toBeUndefined();
    else expect(refusal).toMatch(new RegExp(`^400 INVALID_ARGUMENT [^]*${message.replace(/[().]/g, '\\$&')}`));
  });

  it.each<[string, Json, string]>([
    ['an unknown field', { prompt_cache_key: 'x' }, 'Unknown name "prompt_cache_key": Cannot find field.'],
    [
      'an unknown setting',
      { generationConfig: { max_tokens: 1 } },
      'Unknown name "max_tokens" at \'generation_config\'',
    ],
    ['more output than the model has', { generationConfig: { maxOutputTokens: 70_000 } }, 'supported range is from 1'],
    [
      'two thinking settings',
      { generationConfig: { thinkingConfig: { thinkingBudget: 1, thinkingLevel: 'LOW' } } },
      'only one',
    ],
    ['a function name with a blank', { tools: [{ functionDeclarations: [{ name: 'a b' }] }] }, 'Invalid function name'],
    [
      "JSON Schema in OpenAPI's place",
      {
        tools: [
          { functionDeclarations: [{ name: 'a', parameters: { type: 'object', properties: { x: { $ref: '#/y' } } } }] },
        ],
      },
      'Unknown name "$ref"',
    ],
    [
      'one name twice',
      { tools: [{ functionDeclarations: [{ name: 'a' }, { name: 'a' }] }] },
      'Duplicate function declaration',
    ],
    ['an empty system instruction', { systemInstruction: { parts: [{ text: '' }] } }, 'must not be empty'],
  ])('the other fields: %s', async (_, more, message) => {
    const { at } = await server();
    expect(await requestRefusal(at, { contents: [asked(words)], ...more })).toContain(message);
  });

  it('the limits of tokens and bytes, each with its own message', async () => {
    const { at } = await server({ maxContextTokens: 1000, maxBytes: 20_000 });
    const long = 'x'.repeat(5000);
    expect(await requestRefusal(at, { contents: [asked({ text: long })] })).toBe(
      `400 INVALID_ARGUMENT The input token count (${at.tokensOf(long) + 2}) exceeds the maximum number of tokens allowed (1000).`,
    );
    expect(await requestRefusal(at, { contents: [asked({ text: 'x'.repeat(30_000) })] })).toContain(
      'payload size exceeds the limit',
    );
  });

  it('a stream without events, answered with a list of errors', async () => {
    const { at } = await server();
    const answer = await fetch(`${at.url}/v1beta/models/${model}:streamGenerateContent`, {
      method: 'POST',
      body: '{}',
    });
    expect(objects(await answer.json())).toHaveLength(1);
  });

  it('signatures, which older models do not require', async () => {
    const { at } = await server({ strict: { signatures: false } });
    expect(await requestRefusal(at, { contents: [asked(words), said(call()), asked(result())] })).toBeUndefined();
  });

  it('the key', async () => {
    const { ai } = await server({ apiKey: 'other' });
    await expect(ai.models.generateContent({ model, contents: 'x' })).rejects.toThrow('API key not valid');
  });
});
