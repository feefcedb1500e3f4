/**
 * Tool results that only programs read take up no context. Every format that records a call's
 * caller is tested.
 */
import { describe, expect, it } from 'vitest';
import { readConversation } from './read';
import { createCounter } from '../core/testingCounter';
import { listContents } from '../core/messages/content';
import { listToolExchanges } from '../core/messages/exchanges';
import { markResultsReadByPrograms } from '../core/messages/programs';
import type { ApiMessage } from '../core/messages/types';

const DATA = 'row, '.repeat(2_000);

const PROGRAMS = [
  { type: 'code_execution_20250825', tool_id: 'srvtoolu_1' },
  { type: 'code_execution_20260120', tool_id: 'srvtoolu_1' },
  { type: 'program', id: 'p' },
  { type: 'a-kind-of-tomorrow' },
];
const MODELS = [undefined, { type: 'direct' }, null, 'direct', { tool_id: 'srvtoolu_1' }];

const lines = (...records: readonly object[]): string => records.map((record) => JSON.stringify(record)).join('\n');

/** Creates a session with one call whose result is the data, by format. */
const SESSIONS: Readonly<Record<string, (caller: unknown) => string>> = {
  anthropic: (caller) =>
    JSON.stringify([
      { role: 'user', content: 'Go' },
      { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'query', input: {}, caller }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't', content: DATA }] },
    ]),
  'claude-code': (caller) =>
    lines(
      { uuid: 'a', parentUuid: null, sessionId: 's', type: 'user', message: { role: 'user', content: 'Go' } },
      {
        uuid: 'b',
        parentUuid: 'a',
        sessionId: 's',
        type: 'assistant',
        message: { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'query', input: {}, caller }] },
      },
      {
        uuid: 'c',
        parentUuid: 'b',
        sessionId: 's',
        type: 'user',
        message: { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't', content: DATA }] },
      },
    ),
  'responses, said at the call': (caller) =>
    JSON.stringify({
      model: 'gpt-6',
      input: [
        { role: 'user', content: 'Go' },
        { type: 'function_call', call_id: 't', name: 'query', arguments: '{}', caller },
        { type: 'function_call_output', call_id: 't', output: DATA },
      ],
    }),
  'responses, said at the output': (caller) =>
    JSON.stringify({
      model: 'gpt-6',
      input: [
        { role: 'user', content: 'Go' },
        { type: 'custom_tool_call', call_id: 't', name: 'query', input: 'x' },
        { type: 'custom_tool_call_output', call_id: 't', output: [{ type: 'input_text', text: DATA }], caller },
      ],
    }),
  codex: (caller) =>
    lines(
      { timestamp: '2026-11-20T09:00:00Z', type: 'session_meta', payload: { id: 's', cwd: '/p' } },
      ...[
        { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Go' }] },
        { type: 'function_call', call_id: 't', name: 'query', arguments: '{}', caller },
        { type: 'function_call_output', call_id: 't', output: DATA },
      ].map((payload) => ({ timestamp: '2026-11-20T09:00:01Z', type: 'response_item', payload })),
    ),
};

const messagesIn = (text: string): readonly ApiMessage[] => readConversation(text, { name: 'test' }).messages;

describe.each(Object.entries(SESSIONS))('calls made by a program in %s', (_, session) => {
  it.each(PROGRAMS)(
    'with the caller $type have results that count no tokens and are not offered to passes',
    (caller) => {
      const messages = messagesIn(session(caller));
      expect(createCounter().countMessages(messages)).toBeLessThan(100);
      expect(messages.flatMap(listContents).filter(({ type }) => type === 'toolResults')).toEqual([]);
      expect(listToolExchanges(messages)).toMatchObject([{ tool: 'query', results: [] }]);
      expect(JSON.stringify(messages)).toContain(DATA);
    },
  );

  it.each(MODELS)('have results that count as usual if the caller is the model itself (%j)', (caller) => {
    const messages = messagesIn(session(caller));
    expect(createCounter().countMessages(messages)).toBeGreaterThan(2_000);
    expect(messages.flatMap(listContents).some(({ text }) => text === DATA)).toBe(true);
  });
});

it('a call ID used twice in a conversation refers to the last call', () => {
  const called = (caller: unknown): readonly ApiMessage[] => [
    { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'query', input: {}, caller }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't', content: DATA }] },
  ];
  const counted = markResultsReadByPrograms([...called({ type: 'program' }), ...called(undefined)]).map(
    (message) => createCounter().countMessage(message) > 1_000,
  );
  expect(counted).toEqual([false, false, false, true]);
});

it('messages without calls by programs are returned unchanged', () => {
  const messages: readonly ApiMessage[] = [
    { role: 'user', content: 'Go' },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't', content: DATA }] },
  ];
  expect(markResultsReadByPrograms(messages)).toEqual(messages);
  expect(markResultsReadByPrograms(messages)[1]).toBe(messages[1]);
});
