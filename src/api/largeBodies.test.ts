/**
 * Tests large requests: SDKs serialize a frame of the body, into which large texts are inserted.
 */
import { afterEach, describe, expect, it, vi } from 'vitest';
import { noisePng } from '../../test/generators/noisePng';
import { startAnthropicServer } from '../../test/servers/anthropicServer';
import { reply } from '../../test/servers/behaviour';
import { startGeminiServer } from '../../test/servers/geminiServer';
import type { ModelServer } from '../../test/servers/modelServer';
import { startOpenAIServer } from '../../test/servers/openaiServer';
import { createAnthropicHandler } from './anthropic';
import { createGeminiHandler } from './gemini';
import { createOpenAIHandler } from './openai';
import { assistant, call, counter, TEST_API_KEY, collectOutcome, READ_FILE_TOOL, result, user } from './testing';
import type { ApiHandler } from './types';

let server: ModelServer | undefined;
afterEach(async () => {
  vi.restoreAllMocks();
  await server?.close();
  server = undefined;
});

const WORDS = '"It\\fails"\n🎉é\u0001 '.repeat(12_000);
const IMAGE = noisePng(1280, 720, 607_000, 1).toString('base64');

const START: Readonly<Record<string, () => Promise<readonly [ModelServer, ApiHandler]>>> = {
  Anthropic: async () => {
    const started = await startAnthropicServer({ apiKey: TEST_API_KEY, script: reply('Done.') });
    const model = { id: 'claude-sonnet-4' };
    return [started, createAnthropicHandler({ apiKey: TEST_API_KEY, baseUrl: started.url, model, counter })];
  },
  'Chat Completions': async () => {
    const started = await startOpenAIServer({ apiKey: TEST_API_KEY, script: reply('Done.') });
    return [
      started,
      createOpenAIHandler({ apiKey: TEST_API_KEY, baseUrl: `${started.url}/v1`, model: { id: 'gpt-4o' }, counter }),
    ];
  },
  Responses: async () => {
    const started = await startOpenAIServer({ apiKey: TEST_API_KEY, script: reply('Done.') });
    const options = { apiKey: TEST_API_KEY, baseUrl: `${started.url}/v1`, model: { id: 'gpt-5' }, counter };
    return [started, createOpenAIHandler({ ...options, api: 'responses' })];
  },
  Gemini: async () => {
    const started = await startGeminiServer({ apiKey: TEST_API_KEY, script: reply('Done.') });
    const model = { id: 'gemini-3.5-flash' };
    return [
      started,
      createGeminiHandler({ apiKey: TEST_API_KEY, baseUrl: started.url, model, counter, retry: { retries: 0 } }),
    ];
  },
};

describe('a request body of several megabytes', () => {
  it.each(Object.entries(START))(
    "to %s is serialized in pieces that together equal JSON.stringify's bytes",
    async (_, start) => {
      const [started, handler] = await start();
      server = started;
      const shot = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: IMAGE } };
      const messages = [
        user([{ type: 'text', text: WORDS }, shot]),
        assistant([call('call_1', { path: 'a.ts' })]),
        user([result('call_1', `${WORDS}!`)]),
      ];
      const stringify = vi.spyOn(JSON, 'stringify');
      const { text, error } = await collectOutcome(handler.stream({ messages, tools: [READ_FILE_TOOL] }));
      const longest = Math.max(...stringify.mock.results.map(({ value }) => String(value).length));
      stringify.mockRestore();
      expect(error).toBeUndefined();
      expect(text).toBe('Done.');
      const [sent] = server.requests;
      const json = JSON.stringify(sent?.body);
      expect(json.includes(JSON.stringify(`${WORDS}!`).slice(1, -1))).toBe(true);
      expect(json.includes(IMAGE)).toBe(true);
      expect(sent?.bytes).toBe(Buffer.byteLength(json));
      // The body is not chunked, since some servers and proxies require a content length.
      expect(sent?.headers['content-length']).toBe(String(sent?.bytes));
      expect(sent?.headers['content-type']).toMatch(/^application\/json/);
      expect(longest).toBeLessThan(0.9 * json.length);
    },
  );
});
