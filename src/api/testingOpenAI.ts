/** An OpenAI server that is closed after each test, and a handler for it. */
import { afterEach, vi } from 'vitest';
import type { ModelServer } from '../../test/servers/modelServer';
import { startOpenAIServer, type OpenAIServerOptions } from '../../test/servers/openaiServer';
import { createOpenAIHandler, type OpenAIOptions } from './openai';
import { assistant, call, counter, KEY, result, user } from './testing';
import type { ApiHandler, ApiRequest } from './types';

let open: ModelServer | undefined;
afterEach(async () => {
  vi.unstubAllEnvs();
  await open?.close();
});

export async function startServer(options: OpenAIServerOptions = {}): Promise<ModelServer> {
  open = await startOpenAIServer(options);
  return open;
}

export async function start(
  server: OpenAIServerOptions = {},
  options: Partial<OpenAIOptions> = {},
): Promise<{ server: ModelServer; handler: ApiHandler }> {
  const opened = await startServer({ apiKey: KEY, ...server });
  const handler = createOpenAIHandler({
    apiKey: KEY,
    baseUrl: `${opened.url}/v1`,
    model: { id: 'gpt-4o' },
    counter,
    ...options,
  });
  return { server: opened, handler };
}

export const hello: ApiRequest = { messages: [user('hello')] };
export const history = [user('Read a.ts'), assistant([call('call_1', { path: 'a.ts' })]), user([result('call_1')])];
