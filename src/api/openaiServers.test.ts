import { describe, expect, it, vi } from 'vitest';
import { callsTool, makeErrorResponse } from '../../test/servers/behaviour';
import { type OpenAIServerOptions } from '../../test/servers/openaiServer';
import { createOpenAIHandler } from './openai';
import { assistant, counter, findEvent, imageBlock, TEST_API_KEY, collectOutcome, text, user } from './testing';
import type { ApiRequest } from './types';

import { chooseChatDialect } from './dialect';
import { HELLO_REQUEST, READ_FILE_HISTORY, startHandlerAndServer, startTestServer } from './testingOpenAI';

const ephemeral = { cache_control: { type: 'ephemeral' } };

describe('the Chat Completions handler with other servers', () => {
  it.each<[string, OpenAIServerOptions['quirks'], ApiRequest, number]>([
    ['max_completion_tokens', { maxTokensField: 'max_completion_tokens' }, { ...HELLO_REQUEST, maxOutputTokens: 9 }, 2],
    ['no stream_options', { noStreamOptions: true }, HELLO_REQUEST, 2],
    ['no temperature', { noTemperature: true }, { ...HELLO_REQUEST, temperature: 0 }, 2],
    [
      'no system role',
      { noSystemRole: true, alternateRoles: true },
      {
        system: 's',
        messages: [user('a'), user([imageBlock]), { role: 'system', content: 'late' }, assistant('b'), assistant('c')],
      },
      2,
    ],
    ['ids of nine letters', { shortCallIds: true }, { messages: [...READ_FILE_HISTORY, user('y')] }, 2],
    ['roles in turn', { alternateRoles: true }, { system: 's', messages: [user('a'), user('b'), assistant('c')] }, 2],
    [
      'all at once',
      { maxTokensField: 'max_completion_tokens', noStreamOptions: true, noTemperature: true },
      { ...HELLO_REQUEST, temperature: 0, maxOutputTokens: 9 },
      4,
    ],
  ])('adapts its requests to a server after a rejection: %s', async (_, quirks, request, requests) => {
    const { handler, server } = await startHandlerAndServer({ quirks: { ...quirks } });
    const first = await collectOutcome(handler.stream(request));
    expect(first.error).toBeUndefined();
    expect(first.text).toBe('ok');
    expect(server.requests).toHaveLength(requests);
    expect((await collectOutcome(handler.stream(request))).text).toBe('ok');
    expect(server.requests).toHaveLength(requests + 1);
  });

  it("knows in advance that Mistral's own server accepts only IDs of nine characters", () => {
    expect(chooseChatDialect(new URL('https://api.mistral.ai/v1')).shortIds).toBe(true);
    expect(chooseChatDialect(new URL('https://api.openai.com/v1')).shortIds).toBe(false);
  });

  it('adapts requests to a server even if several run in parallel', async () => {
    const { handler } = await startHandlerAndServer({
      quirks: { maxTokensField: 'max_completion_tokens', noStreamOptions: true },
    });
    const request = { ...HELLO_REQUEST, maxOutputTokens: 9 };
    const asked = await Promise.all([1, 2, 3, 4].map(() => collectOutcome(handler.stream(request))));
    expect(asked.map(({ text }) => text)).toEqual(['ok', 'ok', 'ok', 'ok']);
  });

  it('stops changing its requests if the server rejects each of them', async () => {
    const { handler, server } = await startHandlerAndServer({
      script: makeErrorResponse(400, 'invalid_request_error', 'temperature must be 1; max_tokens too'),
    });
    expect((await collectOutcome(handler.stream(HELLO_REQUEST))).error?.kind).toBe('invalid-request');
    expect(server.requests.length).toBeLessThan(8);
  });

  it.each<[string, OpenAIServerOptions['quirks']]>([
    ['Ollama', { callIndex: 'zero', stopForCalls: true, reasoningField: 'reasoning' }],
    ['a gateway to Gemini', { callIndex: 'none' }],
  ])('understands tool calls of %s', async (_, quirks) => {
    const script = { ...callsTool({ name: 'a', input: {} }, { name: 'b', input: { x: 1 } }), thinking: 'Hm.' };
    const { handler } = await startHandlerAndServer({ quirks: { ...quirks }, script });
    const { events } = await collectOutcome(handler.stream(HELLO_REQUEST));
    expect(events.filter(({ type }) => type === 'tool_call')).toMatchObject([
      { name: 'a' },
      { name: 'b', input: { x: 1 } },
    ]);
    expect(findEvent(events, 'end')?.stopReason).toBe('tool_use');
    expect(findEvent(events, 'thinking')?.text).toBe('Hm.');
  });

  it("signs in to Azure with Azure's own header and keeps the base URL's query", async () => {
    const { handler, server } = await startHandlerAndServer({}, {});
    await collectOutcome(handler.stream(HELLO_REQUEST));
    expect(server.requests[0]?.headers.authorization).toBe(`Bearer ${TEST_API_KEY}`);
    const fetched = vi.spyOn(globalThis, 'fetch').mockRejectedValue(new Error('no network here'));
    const azure = createOpenAIHandler({
      apiKey: TEST_API_KEY,
      baseUrl: 'https://mine.openai.azure.com/openai/deployments/gpt?api-version=2025-01-01',
      model: { id: 'gpt-4o' },
      counter,
      retry: { retries: 0 },
    });
    await collectOutcome(azure.stream({ ...HELLO_REQUEST, maxOutputTokens: 5 }));
    const [url, init] = fetched.mock.calls[0] ?? [];
    const headers = new Headers(init?.headers);
    fetched.mockRestore();
    expect(url).toBe('https://mine.openai.azure.com/openai/deployments/gpt/chat/completions?api-version=2025-01-01');
    expect(headers.get('api-key')).toBe(TEST_API_KEY);
    expect(headers.has('authorization')).toBe(false);
    expect(init?.body).toContain('"max_completion_tokens":5');
    expect(init?.redirect).toBe('manual');
  });

  it('keeps cache marks for OpenRouter and uses the costs that OpenRouter reports', async () => {
    const fetched = vi
      .spyOn(globalThis, 'fetch')
      .mockImplementation(() =>
        Promise.resolve(
          new Response(
            ': OPENROUTER PROCESSING\n\ndata: {"choices":[{"delta":{"content":"ok"},"finish_reason":"stop"}]}\n\ndata: {"choices":[],"usage":{"prompt_tokens":50,"completion_tokens":1,"cost":0.0012,"prompt_tokens_details":{"cached_tokens":10,"cache_write_tokens":30}}}\n\ndata: [DONE]\n\n',
            { headers: { 'content-type': 'text/event-stream' } },
          ),
        ),
      );
    const handler = createOpenAIHandler({
      apiKey: TEST_API_KEY,
      baseUrl: 'https://openrouter.ai/api/v1',
      model: { id: 'anthropic/claude' },
      counter,
    });
    const { events } = await collectOutcome(handler.stream({ messages: [user([{ ...text('a'), ...ephemeral }])] }));
    const body = JSON.stringify(fetched.mock.calls[0]?.[1]);
    fetched.mockRestore();
    expect(body).toContain('cache_control');
    expect(findEvent(events, 'usage')?.usage).toMatchObject({
      inputTokens: 50,
      cacheReadTokens: 10,
      cacheWriteTokens: 30,
      costUsd: 0.0012,
    });
  });

  it('needs no key for a local server and takes none from the environment', async () => {
    vi.stubEnv('OPENAI_API_KEY', 'other-key-of-the-environment');
    vi.stubEnv('OPENAI_ORG_ID', 'org-other');
    vi.stubEnv('OPENAI_CUSTOM_HEADERS', 'X-Secret: not-for-you');
    const server = await startTestServer();
    const handler = createOpenAIHandler({
      baseUrl: `${server.url}/v1/`,
      model: { id: 'llama' },
      counter,
      headers: { 'x-title': 'ours' },
    });
    expect((await collectOutcome(handler.stream(HELLO_REQUEST))).error).toBeUndefined();
    expect(server.requests[0]?.headers).toMatchObject({ 'x-title': 'ours' });
    for (const header of ['authorization', 'openai-organization', 'x-secret']) {
      expect(server.requests[0]?.headers).not.toHaveProperty(header);
    }
  });

  it.each<[string, OpenAIServerOptions, ApiRequest]>([
    ['auth', { apiKey: 'another-key' }, HELLO_REQUEST],
    ['context-too-long', { maxContextTokens: 50 }, { messages: [user('x'.repeat(1000))] }],
    [
      'context-too-long',
      { maxContextTokens: 50, quirks: { plainErrors: true } },
      { messages: [user('x'.repeat(1000))] },
    ],
    [
      'quota',
      {
        script: makeErrorResponse(429, 'insufficient_quota', 'You exceeded your current quota', {
          code: 'insufficient_quota',
        }),
      },
      HELLO_REQUEST,
    ],
    ['quota', { script: makeErrorResponse(402, 'x', 'Insufficient credits') }, HELLO_REQUEST],
    ['refusal', { script: makeErrorResponse(400, 'x', 'Filtered', { code: 'content_filter' }) }, HELLO_REQUEST],
    [
      'model',
      { script: makeErrorResponse(404, 'x', 'The model `gpt-9` does not exist', { code: 'model_not_found' }) },
      HELLO_REQUEST,
    ],
    ['model', { script: makeErrorResponse(400, 'x', 'model "llama9" not found, try pulling it first') }, HELLO_REQUEST],
  ])('reports a rejection as the error kind "%s"', async (kind, options, request) => {
    const { handler, server } = await startHandlerAndServer(options);
    const { error } = await collectOutcome(handler.stream(request));
    expect(error).toMatchObject({ kind, canRetry: false, offerOtherProfile: true });
    expect(error?.message).not.toContain(TEST_API_KEY);
    expect(server.requests).toHaveLength(1);
  });
});
