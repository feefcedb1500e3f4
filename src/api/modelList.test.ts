import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { createAnthropicHandler } from './anthropic';
import { createGeminiHandler } from './gemini';
import { parseModelList } from './modelList';
import { createOpenAIHandler } from './openai';
import { counter } from './testing';
import type { ApiHandler } from './types';

const KEY = 'sk-a-key-of-a-test';
const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

/**
 * Starts a server that lists these models if the key is valid. If the body is `never`, it does not
 * respond.
 */
async function startVendor(body: unknown): Promise<{ url: string; paths: string[] }> {
  const paths: string[] = [];
  const server = createServer(({ url = '', headers, method = '' }, response) => {
    paths.push(`${method} ${url.replace(/\?.*/, '')}`);
    if (body === 'never') return;
    const isKnown = [headers.authorization, headers['x-api-key'], headers['x-goog-api-key']].join(' ').includes(KEY);
    response.writeHead(isKnown ? 200 : 401, { 'content-type': 'application/json' });
    response.end(JSON.stringify(isKnown ? body : { error: { type: 'authentication_error', message: 'invalid key' } }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, paths };
}

const options = { counter, model: { id: 'm' }, retry: { retries: 0 } };
const HANDLERS = {
  anthropic: (url: string, apiKey: string) => createAnthropicHandler({ ...options, apiKey, baseUrl: url }),
  openai: (url: string, apiKey: string) => createOpenAIHandler({ ...options, apiKey, baseUrl: `${url}/v1` }),
  gemini: (url: string, apiKey: string) => createGeminiHandler({ ...options, apiKey, baseUrl: url }),
} satisfies Record<string, (url: string, apiKey: string) => ApiHandler>;
type Listing = keyof typeof HANDLERS;

const ANTHROPIC = {
  data: [
    {
      type: 'model',
      id: 'claude-opus-5-5',
      display_name: 'Claude Opus 5.5',
      created_at: '2026-09-01T00:00:00Z',
      max_input_tokens: 1_000_000,
      max_tokens: 128_000,
      capabilities: { image_input: { supported: true } },
    },
    { type: 'model', id: 'claude-haiku-5-5', max_input_tokens: null, max_tokens: 0 },
  ],
  has_more: false,
};
const OPENROUTER = {
  data: [
    {
      id: 'anthropic/claude-haiku-5.5',
      context_length: 1_000_000,
      architecture: { input_modalities: ['text', 'image'] },
      top_provider: { context_length: 900_000, max_completion_tokens: 128_000 },
      pricing: {
        prompt: '0.0000001',
        completion: '0.0000005',
        input_cache_read: '0.00000001',
        overrides: [{ min_prompt_tokens: 100_000, prompt: '0.0000005', completion: '0.0000025' }],
      },
    },
    { id: 'openrouter/auto', context_length: 2_000_000, pricing: { prompt: '-1', completion: '-1' } },
  ],
};
const GEMINI = {
  models: [{ name: 'models/gemini-3.5-flash', inputTokenLimit: 1_048_576, outputTokenLimit: 65_536 }],
};

it.each<readonly [Listing, string, unknown, string, unknown[]]>([
  [
    'anthropic',
    'Anthropic',
    ANTHROPIC,
    'GET /v1/models',
    [
      { id: 'claude-haiku-5-5' },
      { id: 'claude-opus-5-5', contextWindow: 1_000_000, maxOutputTokens: 128_000, seesImages: true },
    ],
  ],
  [
    'openai',
    'OpenRouter',
    OPENROUTER,
    'GET /v1/models',
    [
      {
        id: 'anthropic/claude-haiku-5.5',
        contextWindow: 900_000,
        maxOutputTokens: 128_000,
        seesImages: true,
        prices: {
          input: 0.1,
          output: 0.5,
          cacheRead: 0.01,
          longPrompts: { aboveTokens: 100_000, input: 0.5, output: 2.5 },
        },
      },
      { id: 'openrouter/auto', contextWindow: 2_000_000 },
    ],
  ],
  ['openai', 'OpenAI', { data: [{ id: 'gpt-5.6', object: 'model' }] }, 'GET /v1/models', [{ id: 'gpt-5.6' }]],
  [
    'openai',
    'vLLM',
    { data: [{ id: 'qwen', max_model_len: 32_768 }] },
    'GET /v1/models',
    [{ id: 'qwen', contextWindow: 32_768 }],
  ],
  [
    'openai',
    'Groq',
    { data: [{ id: 'llama', context_window: 131_072, max_completion_tokens: 32_768 }] },
    'GET /v1/models',
    [{ id: 'llama', contextWindow: 131_072, maxOutputTokens: 32_768 }],
  ],
  [
    'openai',
    'Mistral',
    { data: [{ id: 'codestral', max_context_length: 256_000, capabilities: { vision: false } }] },
    'GET /v1/models',
    [{ id: 'codestral', contextWindow: 256_000, seesImages: false }],
  ],
  [
    'openai',
    'Together',
    [{ id: 'a/b', context_length: 8_192 }],
    'GET /v1/models',
    [{ id: 'a/b', contextWindow: 8_192 }],
  ],
  [
    'gemini',
    'Gemini',
    GEMINI,
    'GET /v1beta/models',
    [{ id: 'gemini-3.5-flash', contextWindow: 1_048_576, maxOutputTokens: 65_536 }],
  ],
])('the %s handler lists the models of %s', async (handler, _name, body, path, expected) => {
  const { url, paths } = await startVendor(body);
  expect(await HANDLERS[handler](url, KEY).listModels?.()).toEqual(expected);
  expect(paths).toEqual([path]);
});

const LISTING: readonly Listing[] = ['anthropic', 'openai', 'gemini'];

it.each(LISTING)('the %s handler reports a rejected key when listing models, without showing it', async (handler) => {
  const { url } = await startVendor({});
  const wrong = 'sk-another-key-of-a-test';
  const refusal = HANDLERS[handler](url, wrong).listModels?.();
  await expect(refusal).rejects.toMatchObject({ kind: 'auth' });
  await expect(refusal).rejects.not.toThrow(wrong);
});

it.each(LISTING)('the %s handler can cancel listing models', async (handler) => {
  const { url } = await startVendor('never');
  const abort = new AbortController();
  const listed = HANDLERS[handler](url, KEY).listModels?.(abort.signal);
  abort.abort();
  await expect(listed).rejects.toMatchObject({ kind: 'aborted' });
});

it('listing models reports an answer that is not a list', async () => {
  const { url } = await startVendor({ hello: 'world' });
  await expect(HANDLERS.openai(url, KEY).listModels?.()).rejects.toMatchObject({ kind: 'protocol' });
});

it('listing models skips invalid entries and ignores invalid fields', () => {
  const wrong = { id: 'x', context_length: 'long', pricing: { prompt: 'free' }, architecture: 7, top_provider: null };
  expect(parseModelList([null, 3, {}, { id: '' }, wrong])).toEqual([{ id: 'x' }]);
});
