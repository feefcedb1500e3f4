import { expect, it } from 'vitest';
import type { ApiEvent, ApiHandler, ApiRequest } from '../api/types';
import { streamAnswer } from './answer';
import { ThinkingStore, keepThinkingOfAnswers } from './thinkingStore';

const thinking = (text: string): ApiEvent => ({ type: 'block', block: { type: 'thinking', thinking: text } });
const never = (): void => undefined;
const PARTS = { shouldRetry: () => false, shouldCorrect: () => true };
const call = (id: string): ApiEvent => ({ type: 'tool_call', id, name: 'read_file', input: {}, rawArguments: '{}' });
const END: ApiEvent = { type: 'end', stopReason: 'tool_use' };

it("a correction of an answer's tool calls sends them back to the model in their original order", async () => {
  const turns: ApiEvent[][] = [
    [thinking('a'), { type: 'text', text: 'I read.' }, thinking('b'), call('c1'), thinking('c'), call('c2'), END],
    [call('c3'), END],
  ];
  const requests: ApiRequest[] = [];
  const handler: ApiHandler = {
    modelInfo: { vendor: 'anthropic', id: 'm', accounting: 'anthropic' },
    async *stream(request) {
      requests.push(request);
      yield* await Promise.resolve(turns[requests.length - 1] ?? []);
    },
  };
  const reported: string[] = [];
  await streamAnswer(
    { messages: [{ role: 'user', content: 'go' }] },
    {
      ...PARTS,
      handler: keepThinkingOfAnswers(handler, new ThinkingStore(), 'm'),
      signal: new AbortController().signal,
      expand: (input) => Promise.resolve(requests.length === 1 ? { error: 'No such reference.' } : { input }),
      onText: () => undefined,
      onThinking: () => undefined,
      onCall: (id) => reported.push(id),
      onUsage: () => undefined,
    },
  );
  expect(reported).toEqual(['c3']);
  expect(requests[1]?.messages[1]?.content).toMatchObject([
    { thinking: 'a' },
    { text: 'I read.' },
    { thinking: 'b' },
    { id: 'c1' },
    { thinking: 'c' },
    { id: 'c2' },
  ]);
});

it("a correction of an answer's tool calls makes duplicate call IDs unique", async () => {
  const requests: ApiRequest[] = [];
  const handler: ApiHandler = {
    modelInfo: { vendor: 'openai', id: 'm', accounting: 'openai' },
    async *stream(request) {
      requests.push(request);
      yield* await Promise.resolve([call('call_0'), END]);
    },
  };
  const reported: string[] = [];
  await streamAnswer(
    {
      messages: [
        { role: 'user', content: 'go' },
        { role: 'assistant', content: [{ type: 'tool_use', id: 'call_0', name: 'read_file', input: {} }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call_0', content: 'a' }] },
      ],
    },
    {
      ...PARTS,
      handler,
      signal: new AbortController().signal,
      expand: (input) => Promise.resolve(requests.length < 3 ? { error: 'No such reference.' } : { input }),
      onText: never,
      onThinking: never,
      onCall: (id) => reported.push(id),
      onUsage: never,
    },
  );
  expect(reported).toEqual(['call_0']);
  const blocks = (requests[2]?.messages ?? []).flatMap(({ content }) => (typeof content === 'string' ? [] : content));
  expect(blocks.map(({ id, tool_use_id }) => id ?? tool_use_id)).toEqual([
    'call_0',
    'call_0',
    'call_0_2',
    'call_0_2',
    'call_0_3',
    'call_0_3',
  ]);
});
