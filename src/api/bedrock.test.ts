import { afterEach, describe, expect, it, vi } from 'vitest';
import { startAnthropicServer } from '../../test/servers/anthropicServer';
import { callsTool, makeFaultyReply, makeErrorResponse, reply } from '../../test/servers/behaviour';
import type { ModelServer, Script } from '../../test/servers/modelServer';
import { testClock } from '../../test/servers/testClock';
import { createBedrockHandler, type AwsCredentials } from './bedrock';
import {
  assistant,
  counter,
  findEvent,
  TEST_API_KEY,
  collectOutcome,
  READ_FILE_TOOL,
  describeError,
  user,
} from './testing';
import type { ApiHandler } from './types';

let open: ModelServer | undefined;
afterEach(async () => {
  vi.unstubAllEnvs();
  await open?.close();
});

const ACCESS_KEY = 'AKIARECOGNISABLE0001';

async function start(
  script: Script,
  credentials: AwsCredentials = { apiKey: TEST_API_KEY },
  apiKey = TEST_API_KEY,
): Promise<{ server: ModelServer; handler: ApiHandler }> {
  open = await startAnthropicServer({ script, apiKey });
  const model = { id: 'anthropic.claude-sonnet-4-v1:0' };
  const handler = createBedrockHandler({
    region: 'eu-central-1',
    credentials,
    baseUrl: open.url,
    model,
    counter,
    clock: testClock(),
  });
  return { server: open, handler };
}

const hello = { messages: [user('hello')] };

describe('the Bedrock handler', () => {
  it("streams through AWS's binary framing", async () => {
    const { handler, server } = await start({
      ...callsTool({ name: 'read_file', input: { path: 'ä.ts' } }),
      text: ['one ', 'two'],
    });
    const { events, text, error } = await collectOutcome(handler.stream({ ...hello, tools: [READ_FILE_TOOL] }));
    expect(error).toBeUndefined();
    expect(text).toBe('one two');
    expect(findEvent(events, 'tool_call')?.input).toEqual({ path: 'ä.ts' });
    expect(findEvent(events, 'usage')?.usage).toMatchObject({ accounting: 'anthropic', source: 'reported' });
    expect(server.requests[0]?.path).toBe('/model/anthropic.claude-sonnet-4-v1:0/invoke-with-response-stream');
    expect(handler.modelInfo.vendor).toBe('bedrock');
  });

  it('signs with an access key, or with the key from the environment if none is given', async () => {
    const secret = {
      accessKeyId: ACCESS_KEY,
      secretAccessKey: 'RECOGNISABLE-secret',
      sessionToken: 'RECOGNISABLE-token',
    };
    const { handler, server } = await start(reply('ok'), secret, ACCESS_KEY);
    vi.stubEnv('AWS_BEARER_TOKEN_BEDROCK', 'not-this-profile');
    expect((await collectOutcome(handler.stream(hello))).error).toBeUndefined();
    expect(server.requests[0]?.headers.authorization).toMatch(
      /^AWS4-HMAC-SHA256 Credential=AKIARECOGNISABLE0001\/\d+\/eu-central-1\/bedrock/,
    );
    vi.stubEnv('AWS_ACCESS_KEY_ID', ACCESS_KEY);
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'environment');
    const byDefault = createBedrockHandler({
      region: 'us-east-1',
      credentials: 'default',
      baseUrl: server.url,
      model: { id: 'claude' },
      counter,
    });
    expect((await collectOutcome(byDefault.stream(hello))).text).toBe('ok');
  });

  it('reports errors inside the binary framing without showing secrets', async () => {
    const { handler } = await start([
      makeFaultyReply('error', 1),
      makeFaultyReply('malformed', 1),
      makeFaultyReply('cut', 1),
      makeErrorResponse(400, 'x', '', {
        body: JSON.stringify({ message: 'Input is too long for requested model.' }),
        contentType: 'application/json',
      }),
      makeErrorResponse(400, 'x', '', {
        body: JSON.stringify({ message: 'The provided model identifier is invalid.' }),
        contentType: 'application/json',
      }),
      makeErrorResponse(403, 'x', '', {
        body: JSON.stringify({ message: `No access with ${TEST_API_KEY}` }),
        contentType: 'application/json',
      }),
    ]);
    const kinds = [];
    for (let index = 0; index < 6; index++) {
      const { error } = await collectOutcome(handler.stream(hello));
      expect(describeError(error)).not.toContain('RECOGNISABLE');
      kinds.push(error?.kind);
    }
    expect(kinds).toEqual(['rate-limit', 'protocol', 'network', 'context-too-long', 'model', 'permission']);
  });

  it("rejects the same requests as Anthropic, and uses Amazon's address", async () => {
    const { handler } = await start(reply('ok'));
    expect((await collectOutcome(handler.stream({ messages: [assistant('x')] }))).error?.kind).toBe('invalid-request');
    const fetched = vi.spyOn(globalThis, 'fetch').mockRejectedValue(new Error('no network here'));
    await collectOutcome(
      createBedrockHandler({
        region: 'eu-west-1',
        credentials: { apiKey: TEST_API_KEY },
        model: { id: 'claude' },
        counter,
        retry: { retries: 0 },
      }).stream(hello),
    );
    const [url] = fetched.mock.calls[0] ?? [];
    fetched.mockRestore();
    expect(url).toBe('https://bedrock-runtime.eu-west-1.amazonaws.com/model/claude/invoke-with-response-stream');
  });
});
