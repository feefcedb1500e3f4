/** Tests the test servers with the plain SDKs. */
import { Anthropic } from '@anthropic-ai/sdk';
import { OpenAI } from 'openai';
import { afterEach, describe, expect, it } from 'vitest';
import { startAnthropicServer } from '../../test/servers/anthropicServer';
import { callsTool, emptyReply, makeErrorResponse, reply, type Reply } from '../../test/servers/behaviour';
import type { ModelServer } from '../../test/servers/modelServer';
import { startOpenAIServer } from '../../test/servers/openaiServer';

let open: ModelServer | undefined;
afterEach(async () => {
  await open?.close();
});

const scripted: Reply = { ...callsTool({ name: 'a', input: { x: 1 } }), text: 'So.', thinking: 'Hm.' };
const hello = [{ role: 'user' as const, content: 'hello' }];

describe('a test server that answers without streaming', () => {
  it('answers as Anthropic does', async () => {
    open = await startAnthropicServer({ script: [scripted, emptyReply()] });
    const client = new Anthropic({ apiKey: 'key', baseURL: open.url, maxRetries: 0 });
    const request = { model: 'claude', max_tokens: 10, messages: hello };
    const message = await client.messages.create(request);
    expect(message.content.map(({ type }) => type)).toEqual(['thinking', 'text', 'tool_use']);
    expect(message).toMatchObject({ stop_reason: 'tool_use', usage: { input_tokens: open.tokensOf('hello') + 3 } });
    expect(await client.messages.create(request)).toMatchObject({ content: [], stop_reason: 'end_turn' });
    expect(await client.messages.countTokens({ model: 'claude', messages: hello })).toEqual({
      input_tokens: open.tokensOf('hello') + 3,
    });
    await expect(client.models.list()).rejects.toMatchObject({ status: 404 });
  });

  it('answers as OpenAI does', async () => {
    open = await startOpenAIServer({ script: scripted });
    const client = new OpenAI({ apiKey: 'key', baseURL: `${open.url}/v1`, maxRetries: 0 });
    const completion = await client.chat.completions.create({ model: 'gpt', messages: hello });
    expect(completion.choices[0]).toMatchObject({
      finish_reason: 'tool_calls',
      message: { content: 'So.', tool_calls: [{ id: 'call_0_0', function: { name: 'a', arguments: '{"x":1}' } }] },
    });
    expect(completion.usage?.prompt_tokens).toBe(open.tokensOf('hello') + 4);
    const response = await client.responses.create({ model: 'gpt', input: 'hello' });
    expect(response).toMatchObject({ status: 'completed', output_text: 'So.' });
    expect(response.output.map(({ type }) => type)).toEqual(['reasoning', 'message', 'function_call']);
    open.play(reply('No.', { stop: 'refusal' }));
    const declined = await client.chat.completions.create({ model: 'gpt', messages: hello });
    expect(declined.choices[0]?.message).toMatchObject({ content: null, refusal: 'No.' });
    await expect(client.models.list()).rejects.toMatchObject({ status: 404 });
  });
});

describe('the script of a test server', () => {
  it('may be a function of the request, or a list of answers whose last entry repeats', async () => {
    const server = (open = await startAnthropicServer({
      script: ({ index, body }) => reply(`${index} ${String(body['model'])}`),
    }));
    const client = new Anthropic({ apiKey: 'key', baseURL: server.url, maxRetries: 0 });
    const ask = async (): Promise<unknown> =>
      (await client.messages.create({ model: 'claude', max_tokens: 10, messages: hello })).content[0];
    expect(await ask()).toMatchObject({ text: '0 claude' });
    server.play([reply('first'), reply('last')]);
    expect([await ask(), await ask(), await ask()]).toMatchObject([
      { text: 'first' },
      { text: 'last' },
      { text: 'last' },
    ]);
    server.play([makeErrorResponse(418, 'odd', 'Teapot')]);
    await expect(ask()).rejects.toMatchObject({ status: 418 });
    expect(server.requests.map(({ status, isAborted }) => ({ status, isAborted }))).toEqual([
      ...[200, 200, 200, 200].map((status) => ({ status, isAborted: false })),
      { status: 418, isAborted: false },
    ]);
  });
});

it('a test server does not keep the process alive', async () => {
  const server = (open = await startOpenAIServer());
  expect(process.getActiveResourcesInfo().filter((name) => name === 'TCPServerWrap')).toEqual([]);
  expect(server.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
});
