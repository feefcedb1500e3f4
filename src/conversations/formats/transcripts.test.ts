/**
 * Tests formats that are only partly known: Cursor's transcripts, VS Code's chat sessions, and
 * records of runs.
 */
import { describe, expect, it } from 'vitest';
import { checkConversation } from '../../core/messages/firewall';
import { OWN_VSCODE_VENDOR } from '../../core/vendors/ownVendor';
import { readConversation } from '../read';
import { listDamage } from '../notes';

type Value = Readonly<Record<string, unknown>>;

const lines = (values: readonly unknown[]): string => values.map((value) => JSON.stringify(value)).join('\n');
const read = (text: string) => readConversation(text, { path: '/x/y' });
const text = (words: string) => ({ type: 'text', text: words });

describe('a Cursor transcript', () => {
  const said = (role: string, ...content: readonly Value[]): Value => ({ role, message: { content } });

  it('gets IDs, and empty results for calls without recorded results', () => {
    const conversation = read(
      lines([
        said('user', text('<user_info>\nOS: linux\n</user_info>\n<user_query>\nFix the test\n</user_query>')),
        said('assistant', text('I look.'), { type: 'tool_use', name: 'Read', input: { path: 'a.ts' } }),
        said('assistant', { type: 'tool_use', name: 'Shell', input: { command: 'ls' } }),
        said('user', { type: 'tool_result', content: 'a.ts' }),
        said('assistant', text('Done.')),
        { type: 'turn_ended', status: 'ok' },
      ]),
    );
    expect(conversation).toMatchObject({
      format: 'cursor',
      title: 'Fix the test',
      notes: [
        '1 tool result that Cursor did not record; they are empty.',
        'Left out because it is not sent to the model: 1 turn_ended.',
      ],
    });
    expect(conversation.messages.slice(1)).toEqual([
      {
        role: 'assistant',
        content: [text('I look.'), { type: 'tool_use', id: 'call_2_1', name: 'Read', input: { path: 'a.ts' } }],
      },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call_2_1' }] },
      { role: 'assistant', content: [{ type: 'tool_use', id: 'call_3_0', name: 'Shell', input: { command: 'ls' } }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call_3_0', content: 'a.ts' }] },
      { role: 'assistant', content: [text('Done.')] },
    ]);
    expect(checkConversation(conversation.messages)).toEqual([]);
  });

  it('is rejected if it contains no message', () => {
    expect(() => read(lines([said('user'), { type: 'turn_ended' }]))).toThrow('expected a Cursor transcript');
  });
});

describe('a chat session of VS Code', () => {
  const piece = {
    $mid: 23,
    value: {
      node: {
        type: 1,
        children: [
          { type: 2, text: 'one' },
          { type: 1, children: [{ type: 2, text: 'two', lineBreakBefore: true }] },
        ],
      },
    },
  };
  const request = {
    message: { text: 'Fix it' },
    response: [{ value: 'Shown' }],
    result: {
      metadata: {
        renderedUserMessage: [{ type: 1, text: '<context>today</context>\nFix it' }],
        toolCallRounds: [
          {
            response: 'I look.',
            thinking: { id: 't', text: ['Hm', '.'] },
            toolCalls: [{ id: 'c1', name: 'read_file', arguments: '{"filePath":"a.ts"}' }],
          },
          { response: 'Done.', toolCalls: [] },
        ],
        toolCallResults: { c1: { content: [piece, { value: 'three' }] } },
      },
    },
  };
  const shownOnly = {
    message: { text: 'And now?' },
    response: [
      { value: 'Let me ' },
      { kind: 'toolInvocationSerialized' },
      { kind: 'markdownContent', content: { value: 'see.' } },
    ],
  };
  const session = { version: 3, sessionId: 'V1', customTitle: 'Mending', requests: [request, shownOnly] };
  const expected = [
    { role: 'user', content: [text('<context>today</context>\nFix it')] },
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'Hm.' },
        text('I look.'),
        { type: 'tool_use', id: 'c1', name: 'read_file', input: { filePath: 'a.ts' } },
      ],
    },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c1', content: 'one\ntwo\nthree' }] },
    { role: 'assistant', content: [text('Done.')] },
    { role: 'user', content: [text('And now?')] },
    { role: 'assistant', content: [text('Let me see.')] },
  ];

  it("is read with its agent's rounds, calls and results", () => {
    const conversation = read(JSON.stringify(session));
    expect(conversation).toMatchObject({
      id: 'vscode:V1',
      format: 'vscode-chat',
      title: 'Mending',
      notes: ['1 answer of which VS Code kept only what it showed: their tool calls are missing.'],
    });
    expect(conversation.messages).toEqual(expected);
    expect(checkConversation(conversation.messages)).toEqual([]);
  });

  it('reports the last request with a recorded size, and how many messages followed', () => {
    const metadata = { ...request.result.metadata, promptTokens: 900, outputTokens: 7 };
    const sized = { ...request, result: { ...request.result, metadata } };
    const lastRequest = (requests: readonly object[]) => read(JSON.stringify({ ...session, requests })).lastRequest;
    const usage = { inputTokens: 900, outputTokens: 7 };
    expect(lastRequest([sized])).toMatchObject({ usage, messagesSince: 0 });
    expect(lastRequest([sized, shownOnly])).toMatchObject({ usage, messagesSince: 2 });
    expect(lastRequest([shownOnly, request])).toBeUndefined();
    const lastRequestWith = (fields: object) => {
      const metadata = { id: 'b', maxInputTokens: 136_000, maxOutputTokens: 64_000, ...fields };
      const inputState = { selectedModel: { identifier: 'a/b', metadata } };
      return read(JSON.stringify({ ...session, inputState, requests: [sized] })).lastRequest;
    };
    expect(lastRequestWith({})).toMatchObject({ usage, window: 200_000 });
    // Our own models declare more input than the model accepts.
    const own = { vendor: OWN_VSCODE_VENDOR, maxInputTokens: 936_000 };
    expect(lastRequestWith({ ...own, maxContextWindowTokens: 128_192 })).toMatchObject({ usage, window: 128_192 });
    expect(lastRequestWith(own)).not.toHaveProperty('window');
    expect(lastRequest([sized])).not.toHaveProperty('window');
  });

  it('stored as a log of changes is read as the result of the changes', () => {
    const log = [
      { kind: 0, v: { version: 3, sessionId: 'V1', requests: [{ message: { text: 'gone' } }] } },
      { kind: 2, k: ['requests'], v: [{ ...request, result: {} }, { message: { text: 'old' } }], i: 0 },
      { kind: 1, k: ['requests', 0, 'result'], v: request.result },
      { kind: 3, k: ['requests', 0, 'response'] },
      { kind: 2, k: ['requests'], v: [shownOnly], i: 1 },
      { kind: 1, k: ['customTitle'], v: 'Mending' },
    ];
    expect(read(lines(log))).toMatchObject({ title: 'Mending', messages: expected });
    const { customTitle: _, ...untitled } = session;
    expect(read(JSON.stringify(untitled))).toMatchObject({ title: 'Fix it', messages: expected });
    expect(read(lines(log.slice(0, 1))).messages).toHaveLength(1);
  });

  it.each<[string, unknown]>([
    ['something that does not exist', { kind: 1, k: ['requests', 5, 'x'], v: 1 }],
    ['something that does not exist', { kind: 1, k: ['requests', 1_000_000_000], v: 1 }],
    ['something that does not exist', { kind: 1, k: ['__proto__'], v: { polluted: true } }],
    ['something that does not exist', { kind: 1, k: ['constructor', 'prototype', 'x'], v: 1 }],
    ['something that is not a list', { kind: 2, k: ['sessionId'], v: [1] }],
    ['an unknown kind', { kind: 9, k: ['a'] }],
  ])('skips a change to %s, naming the line', (what, change) => {
    const log = [{ kind: 0, v: { version: 3, sessionId: 'V1', requests: [request] } }, change];
    const { messages, notes } = read(lines(log));
    expect(messages).toEqual(read(lines(log.slice(0, 1))).messages);
    expect(listDamage(notes)[0]).toMatch(
      new RegExp(`^Line 2 is damaged; skipped \\d+ bytes: found a change .*${what}`),
    );
  });

  it('is rejected as empty if it has no messages', () => {
    expect(() => read(JSON.stringify({ version: 3, sessionId: 'V1', requests: [] }))).toThrow(
      'in which nothing was said',
    );
  });
});

describe('a recorded agent run', () => {
  it('in ATIF has steps with calls and observations', () => {
    const conversation = read(
      JSON.stringify({
        schema_version: 'ATIF-v1.4',
        session_id: 'A1',
        agent: { name: 'x', version: '1' },
        steps: [
          { step_id: 1, source: 'system', message: 'Be good.' },
          { step_id: 2, source: 'user', message: 'Fix it' },
          {
            step_id: 3,
            source: 'agent',
            message: 'I look.',
            reasoning_content: 'Hm.',
            tool_calls: [{ tool_call_id: 'c1', function_name: 'bash', arguments: { command: 'ls' } }],
            observation: { results: [{ source_call_id: 'c1', content: 'a.ts' }, { content: 'The clock is late.' }] },
          },
          {
            step_id: 4,
            source: 'agent',
            message: [
              { type: 'text', text: 'Done.' },
              { type: 'image', source: 'x' },
            ],
          },
        ],
      }),
    );
    expect(conversation).toMatchObject({ id: 'atif:A1', format: 'trajectory', title: 'Fix it' });
    expect(conversation.messages).toEqual([
      { role: 'system', content: [text('Be good.')] },
      { role: 'user', content: [text('Fix it')] },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'Hm.' },
          text('I look.'),
          { type: 'tool_use', id: 'c1', name: 'bash', input: { command: 'ls' } },
        ],
      },
      {
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: 'c1', content: 'a.ts' }, text('The clock is late.')],
      },
      {
        role: 'assistant',
        content: [text('Done.'), { type: 'trajectory_part', part: { type: 'image', source: 'x' } }],
      },
    ]);
    expect(checkConversation(conversation.messages)).toEqual([]);
  });

  it('of SWE-agent has a history like Chat Completions', () => {
    const call = { id: 'c1', type: 'function', function: { name: 'bash', arguments: '{"command":"ls"}' } };
    const conversation = read(
      JSON.stringify({
        environment: 'swe_main',
        trajectory: [{ action: 'ls', observation: 'a.ts' }],
        history: [
          { role: 'system', content: 'Be good.', agent: 'main', message_type: 'system_prompt' },
          { role: 'user', content: [{ type: 'text', text: 'Fix it' }], agent: 'main' },
          { role: 'assistant', content: 'I look.', thought: 'I look.', tool_calls: [call] },
          { role: 'tool', content: 'a.ts', tool_call_ids: ['c1'] },
        ],
      }),
    );
    expect(conversation).toMatchObject({ format: 'trajectory', title: 'Fix it' });
    expect(conversation.messages.at(-2)?.content).toMatchObject([
      text('I look.'),
      { id: 'c1', input: { command: 'ls' } },
    ]);
    expect(conversation.messages.at(-1)?.content).toMatchObject([{ tool_use_id: 'c1', content: 'a.ts' }]);
    expect(checkConversation(conversation.messages)).toEqual([]);
  });

  it.each([
    ['as a list', (events: readonly Value[]): unknown => events],
    ['as a history', (events: readonly Value[]): unknown => ({ instance_id: 'x', history: events })],
  ])('of OpenHands is a list of events, given %s', (_, shape) => {
    const metadata = {
      function_name: 'execute_bash',
      tool_call_id: 'c1',
      model_response: {
        choices: [{ message: { tool_calls: [{ id: 'c1', function: { arguments: '{"command":"ls","timeout":1}' } }] } }],
      },
    };
    const conversation = read(
      JSON.stringify(
        shape([
          { id: 0, source: 'agent', action: 'system', args: { content: 'Be good.' } },
          { id: 1, source: 'user', action: 'message', args: { content: 'Fix it' } },
          { id: 2, source: 'agent', action: 'recall', args: {} },
          {
            id: 3,
            source: 'agent',
            action: 'run',
            args: { command: 'ls', thought: 'I look.' },
            tool_call_metadata: metadata,
          },
          { id: 4, source: 'agent', observation: 'run', cause: 3, content: 'a.ts', tool_call_metadata: metadata },
          { id: 5, source: 'agent', action: 'read', args: { path: 'a.ts', thought: '' } },
          { id: 6, source: 'agent', observation: 'error', cause: 5, content: 'no such file' },
          { id: 7, source: 'agent', action: 'message', args: { content: 'Done.' } },
        ]),
      ),
    );
    expect(conversation).toMatchObject({
      format: 'trajectory',
      title: 'Fix it',
      notes: ['Left out because it is not sent to the model: 1 recall.'],
    });
    expect(conversation.messages.slice(2)).toEqual([
      {
        role: 'assistant',
        content: [
          text('I look.'),
          { type: 'tool_use', id: 'c1', name: 'execute_bash', input: { command: 'ls', timeout: 1 } },
        ],
      },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c1', content: 'a.ts' }] },
      { role: 'assistant', content: [{ type: 'tool_use', id: 'event_5', name: 'read', input: { path: 'a.ts' } }] },
      {
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: 'event_5', content: 'no such file', is_error: true }],
      },
      { role: 'assistant', content: [text('Done.')] },
    ]);
    expect(checkConversation(conversation.messages)).toEqual([]);
  });
});
