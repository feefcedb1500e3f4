import { afterEach, describe, expect, it } from 'vitest';
import { startAnthropicServer } from '../../test/servers/anthropicServer';
import type { ModelServer } from '../../test/servers/modelServer';
import { startOpenAIServer } from '../../test/servers/openaiServer';
import { makeErrorResponse } from '../../test/servers/behaviour';
import { OTHER_ERRORS, TOO_LONG, tooLongAnswer, type TooLongVendor } from '../../test/servers/tooLong';
import { createAnthropicHandler } from './anthropic';
import { createOpenAIHandler } from './openai';
import { counter, TEST_API_KEY, collectOutcome, user } from './testing';

let open: ModelServer | undefined;
afterEach(async () => {
  await open?.close();
});

const vendors = Object.keys(TOO_LONG) as TooLongVendor[];
const overflow = { tokens: 300_123, limit: 262_144, output: 0 };
const hello = { messages: [user('hello')] };

/** Returns the error that the vendor's SDK makes of a response. */
async function requestError(answer: { status: number; body: string; contentType?: string | undefined }) {
  const { status, body, contentType = 'application/json' } = answer;
  open = await startOpenAIServer({ script: { ...makeErrorResponse(status, 'any', 'any'), body, contentType } });
  const model = { id: 'm' };
  const handler = createOpenAIHandler({
    apiKey: TEST_API_KEY,
    baseUrl: `${open.url}/v1`,
    model,
    counter,
    retry: { retries: 0 },
  });
  return (await collectOutcome(handler.stream(hello))).error;
}

describe('the error for a prompt that is too long', () => {
  it.each(vendors)("is recognized in %s's words, with the numbers in them", async (vendor) => {
    const { status, contentType, body } = tooLongAnswer(vendor);
    const error = await requestError({ status, body: body(overflow), contentType });
    expect(error?.kind).toBe('context-too-long');
    const parsed = error?.details.overflow ?? {};
    const said = body(overflow);
    // Ollama states only the excess.
    if (said.includes('300123')) expect(parsed.tokens).toBe(300_123);
    if (said.includes('262144')) expect(parsed.limit).toBe(262_144);
    // MiniMax's 2013 is the error code.
    if (!/300123|262144/.test(said)) expect(parsed).toEqual({});
  });

  it("is recognized in Anthropic's words if only prompt and answer together exceed the window", async () => {
    open = await startAnthropicServer({ maxContextTokens: 10_000 });
    const model = { id: 'claude-sonnet-4-5', maxOutputTokens: 9_990 };
    const handler = createAnthropicHandler({ apiKey: TEST_API_KEY, baseUrl: open.url, model, counter });
    const { error } = await collectOutcome(handler.stream({ messages: [user('x'.repeat(4_000))] }));
    expect(error).toMatchObject({ kind: 'context-too-long', details: { overflow: { limit: 10_000 } } });
    expect(error?.details.overflow?.tokens).toBeGreaterThan(1_000);
  });
});

describe('an error that resembles the one for a long prompt', () => {
  it.each([
    ['anthropicBytes', 'too-many-bytes'],
    ['proxyBytes', 'too-many-bytes'],
    ['geminiBytes', 'too-many-bytes'],
    ['groqTokensPerMinute', 'context-too-long'],
    ['bedrockThrottling', 'rate-limit'],
    ['anthropicOutput', 'invalid-request'],
    ['openaiOutput', 'invalid-request'],
    ['groqOutput', 'invalid-request'],
    ['qwenOutput', 'invalid-request'],
    ['openrouterCredits', 'quota'],
  ] as const)('is not mistaken for it: %s is classified as %s', async (name, kind) => {
    const entry: { status: number; contentType?: string; body: () => string } = OTHER_ERRORS[name];
    const error = await requestError({ status: entry.status, body: entry.body(), contentType: entry.contentType });
    expect(error?.kind).toBe(kind);
  });
});

describe("the message of a server's rejection is found wherever the server puts it", () => {
  it.each<[string, number, unknown, string]>([
    ['in an array', 400, [{ error: { code: 400, message: 'Function call is missing.' } }], 'Function call is missing.'],
    ['without `error`', 422, { object: 'error', message: { detail: [{ msg: 'Extra inputs' }] } }, 'Extra inputs'],
    ['under `detail`', 400, { detail: 'No such field.' }, 'No such field.'],
    ['as a string', 400, { code: 'x', error: 'Not this.' }, 'Not this.'],
    [
      'wrapped by OpenRouter',
      400,
      { error: { code: 400, message: 'Provider returned error', metadata: { raw: '{"message":"The real reason."}' } } },
      'Provider returned error: The real reason.',
    ],
  ])('in the response body: %s', async (_, status, body, words) => {
    const error = await requestError({ status, body: JSON.stringify(body) });
    expect(error?.details).toMatchObject({ status, vendorMessage: expect.stringContaining(words) as string });
  });
});
