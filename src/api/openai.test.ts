import { describe, expect, it } from 'vitest';
import { callsTool, reply } from '../../test/servers/behaviour';
import { convertFromOpenAI } from '../conversations/formats/openai/openai';
import {
  assistant,
  call,
  findEvent,
  imageBlock,
  collectOutcome,
  TINY_PNG_BASE64,
  READ_FILE_TOOL,
  result,
  text,
  user,
} from './testing';
import { countPromptTokens, countUncachedInput } from '../core/cost/usage';

import { HELLO_REQUEST, startHandlerAndServer } from './testingOpenAI';

const ephemeral = { cache_control: { type: 'ephemeral' } };

describe('the Chat Completions handler', () => {
  it("streams the reply's text, thinking, token usage and end", async () => {
    const { handler, server } = await startHandlerAndServer({ script: reply(['Hel', 'lo'], { thinking: 'Hm.' }) });
    const { events, error } = await collectOutcome(
      handler.stream({ ...HELLO_REQUEST, system: 'Be short.', maxOutputTokens: 500, temperature: 0 }),
    );
    expect(error).toBeUndefined();
    expect(events).toEqual([
      { type: 'thinking', text: 'Hm.' },
      { type: 'text', text: 'Hel' },
      { type: 'text', text: 'lo' },
      {
        type: 'usage',
        usage: {
          accounting: 'openai',
          source: 'reported',
          inputTokens: server.tokensOf('hello') + server.tokensOf('Be short.') + 8,
          outputTokens: server.tokensOf('Hello') + server.tokensOf('Hm.'),
          cacheReadTokens: 0,
          cacheWriteTokens: 0,
          reasoningTokens: server.tokensOf('Hm.'),
        },
      },
      { type: 'end', stopReason: 'end_turn' },
    ]);
    expect(server.requests[0]?.body).toMatchObject({
      messages: [
        { role: 'system', content: 'Be short.' },
        { role: 'user', content: 'hello' },
      ],
      max_tokens: 500,
      temperature: 0,
    });
  });

  it('sends calls back byte for byte, and results in the tool role', async () => {
    const { handler, server } = await startHandlerAndServer({
      script: [
        callsTool({ name: 'read_file', input: '{"path":  "a.ts"}' }, { name: 'read_file', input: '{}' }),
        reply('Done.'),
      ],
    });
    const request = {
      messages: [user('Read')],
      tools: [READ_FILE_TOOL, { name: 'web_search', type: 'web_search_20250305' }],
    };
    const { events } = await collectOutcome(handler.stream(request));
    const calls = events.filter((event) => event.type === 'tool_call');
    expect(calls).toMatchObject([
      { input: { path: 'a.ts' }, rawArguments: '{"path":  "a.ts"}' },
      { input: {}, rawArguments: '{}' },
    ]);
    expect(findEvent(events, 'end')?.stopReason).toBe('tool_use');
    const messages = [
      user('Read'),
      assistant([
        { type: 'thinking', thinking: 'x', signature: 's' },
        text('So.'),
        text('Now.'),
        ...calls.map(({ id, input, name, rawArguments }) => ({ ...call(id, input, name), rawArguments, ts: 5 })),
      ]),
      user([
        ...calls.map(({ id }) => ({ ...result(id, [text('seen'), imageBlock, { type: 'odd' }]), ...ephemeral })),
        text('go on'),
      ]),
      assistant([{ type: 'thinking', thinking: 'only thought', signature: 's' }]),
    ];
    expect((await collectOutcome(handler.stream({ ...request, messages }))).text).toBe('Done.');
    expect(server.requests[1]?.body['tools']).toHaveLength(1);
    expect(server.requests[1]?.body['messages']).toEqual([
      { role: 'user', content: 'Read' },
      {
        role: 'assistant',
        content: 'So.\nNow.',
        tool_calls: calls.map(({ id, rawArguments }) => ({
          id,
          type: 'function',
          function: { name: 'read_file', arguments: rawArguments },
        })),
      },
      { role: 'tool', tool_call_id: calls[0]?.id, content: 'seen\n[image 1, shown below]\n{"type":"odd"}' },
      { role: 'tool', tool_call_id: calls[1]?.id, content: 'seen\n[image 2, shown below]\n{"type":"odd"}' },
      {
        role: 'user',
        content: [
          text('go on'),
          text('Images of the results above:'),
          ...[1, 2].map(() => ({ type: 'image_url', image_url: { url: `data:image/png;base64,${TINY_PNG_BASE64}` } })),
        ],
      },
    ]);
  });

  it('sends images, files and content that came from OpenAI', async () => {
    const { handler, server } = await startHandlerAndServer();
    const raw = [
      { role: 'developer', content: 'Rules.', name: 'boss' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'hear' },
          { type: 'input_audio', input_audio: { data: 'AA==', format: 'wav' } },
        ],
      },
      { role: 'assistant', content: 'Yes', refusal: null, annotations: [], ts: 3 },
    ];
    const pdf = {
      type: 'document',
      title: 'a.pdf',
      source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERg==' },
    };
    const note = { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'words' } };
    const other = { type: 'document', source: { type: 'file', file_id: 'f' } };
    const url = { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } };
    const messages = [
      ...convertFromOpenAI(raw),
      { ...user([pdf, note, other, url, { ...text('see'), ...ephemeral }]), ts: 1 },
    ];
    expect(
      (await collectOutcome(handler.stream({ messages, system: [text('a') as never, text('b') as never] }))).error,
    ).toBeUndefined();
    expect(server.requests[0]?.body['messages']).toEqual([
      { role: 'system', content: 'a\nb' },
      { role: 'developer', content: 'Rules.', name: 'boss' },
      raw[1],
      { role: 'assistant', content: 'Yes', refusal: null },
      {
        role: 'user',
        content: [
          { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERg==' } },
          text('words'),
          text(JSON.stringify(other)),
          { type: 'image_url', image_url: { url: 'https://example.com/a.png' } },
          text('see'),
        ],
      },
    ]);
  });

  it('reports cached tokens as part of the input', async () => {
    const { handler } = await startHandlerAndServer();
    const messages = [user('x'.repeat(8000))];
    await collectOutcome(handler.stream({ messages }));
    const { events } = await collectOutcome(handler.stream({ messages: [...messages, assistant('ok'), user('next')] }));
    const usage = findEvent(events, 'usage')?.usage;
    expect(usage).toMatchObject({ accounting: 'openai', inputTokens: 2215, cacheReadTokens: 2176 });
    expect(usage && countPromptTokens(usage)).toBe(2215);
    expect(usage && countUncachedInput(usage)).toBe(39);
  });

  it.each([
    ['required', 'required'],
    [{ name: 'read_file' }, { type: 'function', function: { name: 'read_file' } }],
  ] as const)("sends the tool choice %j in OpenAI's form", async (toolChoice, sent) => {
    const { handler, server } = await startHandlerAndServer();
    await collectOutcome(
      handler.stream({
        ...HELLO_REQUEST,
        tools: [{ name: 'read_file', input_schema: {} }],
        toolChoice,
        extraBody: { seed: 1 },
      }),
    );
    expect(server.requests[0]?.body).toMatchObject({ tool_choice: sent, seed: 1 });
  });

  it('counts the tokens itself if the server reports no usage', async () => {
    const { handler } = await startHandlerAndServer({ quirks: { noUsage: true }, script: reply('12345678') });
    const { events } = await collectOutcome(handler.stream(HELLO_REQUEST));
    expect(findEvent(events, 'usage')?.usage).toEqual({
      accounting: 'openai',
      source: 'counted',
      inputTokens: 6,
      outputTokens: 2,
      cacheReadTokens: 0,
      cacheWriteTokens: 0,
    });
    expect(handler.modelInfo).toEqual({ id: 'gpt-4o', vendor: 'openai', accounting: 'openai' });
  });

  it('gives an ID to a call that has none, and keeps arguments that are not JSON', async () => {
    const { handler } = await startHandlerAndServer({
      quirks: { noCallIds: true },
      script: callsTool({ name: 'a', input: '{"x": ' }),
    });
    const { events } = await collectOutcome(handler.stream(HELLO_REQUEST));
    expect(findEvent(events, 'tool_call')).toMatchObject({
      id: expect.stringMatching(/^call_[\w-]{36}$/),
      input: { invalidArguments: '{"x": ' },
      rawArguments: '{"x": ',
    });
  });

  it.each([
    ['max-tokens', 'max_tokens'],
    ['filter', 'refusal'],
    ['refusal', 'refusal'],
  ] as const)('reports the stop reason %s', async (stop, stopReason) => {
    const { handler } = await startHandlerAndServer({ script: reply('Well', { stop }) });
    const { events, text: words } = await collectOutcome(handler.stream(HELLO_REQUEST));
    expect(findEvent(events, 'end')).toEqual({ type: 'end', stopReason });
    expect(words).toBe('Well');
  });
});
