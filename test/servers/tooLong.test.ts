/**
 * Tests vendors' messages for prompts that are too long, as clients receive them with the plain
 * SDK.
 */
import { APIError, OpenAI } from 'openai';
import { afterEach, describe, expect, it } from 'vitest';
import { reply } from './behaviour';
import type { ModelServer } from './modelServer';
import { startOpenAIServer } from './openaiServer';
import { OTHER_ERRORS, TOO_LONG, tooLongAnswer, type TooLongVendor } from './tooLong';

let open: ModelServer | undefined;
afterEach(async () => {
  await open?.close();
});

const vendors = Object.keys(TOO_LONG) as TooLongVendor[];

describe('the error for a prompt that is too long', () => {
  it.each(vendors)("is recognized in %s's words", async (vendor) => {
    const { status, countsOutput = false } = tooLongAnswer(vendor);
    open = await startOpenAIServer({ tooLong: vendor, maxContextTokens: 300, tokenFactor: 1, script: reply('ok') });
    const client = new OpenAI({ apiKey: 'key', baseURL: `${open.url}/v1`, maxRetries: 0 });
    const ask = (length: number, output: number): Promise<unknown> =>
      client.chat.completions.create({
        model: 'm',
        messages: [{ role: 'user', content: 'x'.repeat(length) }],
        max_completion_tokens: output,
      });
    await ask(400, 10);
    const refusal: unknown = await ask(8000, 10).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(APIError);
    expect(refusal).toMatchObject({ status });
    // If the message contains the sent tokens, it contains the limit, too.
    const said = open.requests[1]?.refusal ?? '';
    if (said.includes('2004')) expect(said).toMatch(/\b300\b/);
    // Only some vendors count the requested output.
    const both = ask(400, 250);
    await (countsOutput ? expect(both).rejects.toMatchObject({ status }) : both);
  });

  it('is not confused with similar errors', () => {
    const bodies = Object.values(OTHER_ERRORS).map(({ body }) => body());
    const overflow = { tokens: 300_123, limit: 262_144, output: 1000 };
    for (const vendor of vendors) expect(bodies).not.toContain(tooLongAnswer(vendor).body(overflow));
  });
});
