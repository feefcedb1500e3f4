import { describe, expect, it } from 'vitest';
import { callsTool, reply } from '../../test/servers/behaviour';
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
import type { ApiRequest } from './types';

import { HELLO_REQUEST, startHandlerAndServer } from './testingOpenAI';

describe('the Responses API handler', () => {
  const responses = { api: 'responses' } as const;

  it('streams thinking, calls and text, and sends encrypted reasoning back, which the server verifies', async () => {
    const script = [
      { ...callsTool({ name: 'read_file', input: '{"path":  "a.ts"}' }), thinking: 'Let me see.' },
      reply(['Do', 'ne.']),
    ];
    const { handler, server } = await startHandlerAndServer({ script }, responses);
    const request: ApiRequest = {
      system: 'Be short.',
      messages: [user('Read a.ts')],
      tools: [READ_FILE_TOOL, { name: 'search', type: 'x' }],
      maxOutputTokens: 99,
      temperature: 1,
      toolChoice: 'auto',
    };
    const { events } = await collectOutcome(handler.stream(request));
    const called = findEvent(events, 'tool_call');
    expect(called).toMatchObject({ name: 'read_file', input: { path: 'a.ts' }, rawArguments: '{"path":  "a.ts"}' });
    expect(findEvent(events, 'thinking')?.text).toBe('Let me see.');
    expect(findEvent(events, 'end')?.stopReason).toBe('tool_use');
    const reasoning = findEvent(events, 'block')?.block ?? text('');
    expect(reasoning.type).toBe('openai_reasoning');
    const answered = (block = reasoning) => [
      user('Read a.ts'),
      assistant([
        block,
        { type: 'thinking', thinking: 'not theirs' },
        text('So.'),
        { ...call(called?.id ?? '', called?.input), rawArguments: called?.rawArguments },
      ]),
      user([result(called?.id ?? '', [text('seen'), imageBlock]), text('go on'), imageBlock]),
      assistant('Hm'),
      user([{ type: 'document', source: { type: 'text', data: 'words' } }]),
    ];
    const second = await collectOutcome(handler.stream({ ...request, messages: answered() }));
    expect(second.text).toBe('Done.');
    expect(findEvent(second.events, 'usage')?.usage).toMatchObject({
      accounting: 'openai',
      source: 'reported',
      outputTokens: server.tokensOf('Done.'),
    });
    expect(server.requests[1]?.body).toMatchObject({
      instructions: 'Be short.',
      store: false,
      max_output_tokens: 99,
      temperature: 1,
      tool_choice: 'auto',
    });
    const imageItem = { type: 'input_image', image_url: `data:image/png;base64,${TINY_PNG_BASE64}`, detail: 'auto' };
    expect(server.requests[1]?.body['input']).toEqual([
      { role: 'user', content: 'Read a.ts' },
      reasoning['item'],
      { role: 'assistant', content: [{ type: 'output_text', text: 'So.' }] },
      { type: 'function_call', call_id: called?.id, name: 'read_file', arguments: '{"path":  "a.ts"}' },
      { type: 'function_call_output', call_id: called?.id, output: [{ type: 'input_text', text: 'seen' }, imageItem] },
      { role: 'user', content: [{ type: 'input_text', text: 'go on' }, imageItem] },
      { role: 'assistant', content: 'Hm' },
      { role: 'user', content: [{ type: 'input_text', text: 'words' }] },
    ]);
    const item = { ...(reasoning['item'] as object), encrypted_content: 'changed.x' };
    const forged = await collectOutcome(handler.stream({ ...request, messages: answered({ ...reasoning, item }) }));
    expect(forged.error?.message).toContain('could not be verified');
  });

  it.each([
    ['max-tokens', 'max_tokens'],
    ['filter', 'refusal'],
    ['refusal', 'refusal'],
    ['end', 'end_turn'],
  ] as const)('reports the stop reason %s', async (stop, stopReason) => {
    const { handler } = await startHandlerAndServer({ script: reply('Well', { stop }) }, responses);
    expect(findEvent((await collectOutcome(handler.stream(HELLO_REQUEST))).events, 'end')).toEqual({
      type: 'end',
      stopReason,
    });
  });

  it('learns from a rejection that a model does not support reasoning', async () => {
    const quirks = { noReasoning: true, noTemperature: true };
    const { handler, server } = await startHandlerAndServer({ quirks }, responses);
    expect((await collectOutcome(handler.stream({ ...HELLO_REQUEST, temperature: 0 }))).text).toBe('ok');
    expect(server.requests).toHaveLength(3);
    expect(server.requests[2]?.body).not.toHaveProperty('include');
    expect((await collectOutcome(handler.stream(HELLO_REQUEST))).text).toBe('ok');
    expect(server.requests).toHaveLength(4);
  });

  it('reports a content filter that arrives as an error event', async () => {
    const error = { type: 'invalid_request_error', code: 'content_policy_violation', message: 'No.' };
    const { handler } = await startHandlerAndServer(
      { script: reply(['a', 'b'], { fault: { kind: 'error', after: 1, error } }) },
      responses,
    );
    expect(
      (
        await collectOutcome(
          handler.stream({ ...HELLO_REQUEST, tools: [READ_FILE_TOOL], toolChoice: { name: 'read_file' } }),
        )
      ).error?.kind,
    ).toBe('refusal');
  });

  it.each<[string, ApiRequest]>([
    ['No tool call found', { messages: [user('x'), user([result('c1')])] }],
    ['No tool output found', { messages: [user('x'), assistant([call('c1')])] }],
    ['Duplicate function call', { messages: [user('x'), assistant([call('c1'), call('c1')]), user([result('c1')])] }],
    ['Duplicate output', { messages: [user('x'), assistant([call('c1')]), user([result('c1'), result('c1')])] }],
    ["Missing required parameter: 'input'", { messages: [] }],
    ['Unknown parameter', { ...HELLO_REQUEST, extraBody: { odd: 1 } }],
  ])('reports the server’s rejection "%s"', async (words, request) => {
    const { handler } = await startHandlerAndServer({}, responses);
    const { error } = await collectOutcome(handler.stream(request));
    expect(error).toMatchObject({ kind: 'invalid-request', details: { status: 400 } });
    expect(error?.message).toContain(words);
  });

  it('reports a request that is too long', async () => {
    const { handler } = await startHandlerAndServer({ maxContextTokens: 50 }, responses);
    expect((await collectOutcome(handler.stream({ messages: [user('x'.repeat(900))] }))).error?.kind).toBe(
      'context-too-long',
    );
  });
});
