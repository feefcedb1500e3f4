/** Provides an OpenAI server that is closed after each test, and a handler for it. */
import { afterEach, vi } from 'vitest';
import type { ModelServer } from '../../test/servers/modelServer';
import { startOpenAIServer, type OpenAIServerOptions } from '../../test/servers/openaiServer';
import { createOpenAIHandler, type OpenAIOptions } from './openai';
import { assistant, call, counter, TEST_API_KEY, result, user } from './testing';
import type { ApiHandler, ApiRequest } from './types';

let openServer: ModelServer | undefined;
afterEach(async () => {
  vi.unstubAllEnvs();
  await openServer?.close();
});

export async function startTestServer(options: OpenAIServerOptions = {}): Promise<ModelServer> {
  openServer = await startOpenAIServer(options);
  return openServer;
}

export async function startHandlerAndServer(
  server: OpenAIServerOptions = {},
  options: Partial<OpenAIOptions> = {},
): Promise<{ server: ModelServer; handler: ApiHandler }> {
  const testServer = await startTestServer({ apiKey: TEST_API_KEY, ...server });
  const handler = createOpenAIHandler({
    apiKey: TEST_API_KEY,
    baseUrl: `${testServer.url}/v1`,
    model: { id: 'gpt-4o' },
    counter,
    ...options,
  });
  return { server: testServer, handler };
}

export const HELLO_REQUEST: ApiRequest = { messages: [user('hello')] };
export const READ_FILE_HISTORY = [
  user('Read a.ts'),
  assistant([call('call_1', { path: 'a.ts' })]),
  user([result('call_1')]),
];
