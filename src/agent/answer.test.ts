import { expect, it } from 'vitest';
import type { ApiEvent, ApiHandler, ApiRequest } from '../api/types';
import { answer } from './answer';
import { KeptThinking, withKeptThinking } from './keptThinking';

const thinking = (text: string): ApiEvent => ({ type: 'block', block: { type: 'thinking', thinking: text } });
const never = (): void => undefined;
const call = (id: string): ApiEvent => ({ type: 'tool_call', id, name: 'read_file', input: {}, rawArguments: '{}' });
const END: ApiEvent = { type: 'end', stopReason: 'tool_use' };

it('an answer that the model has to correct goes back in the order in which it came', async () => {
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
    countTokens: () => Promise.resolve({ tokens: 0, exact: true }),
  };
  const reported: string[] = [];
  await answer(
    { messages: [{ role: 'user', content: 'go' }] },
    {
      handler: withKeptThinking(handler, { kept: new KeptThinking(), model: 'm', onLeftOut: never }),
      signal: new AbortController().signal,
      expand: (input) => Promise.resolve(requests.length === 1 ? { error: 'No such reference.' } : { input }),
      text: () => undefined,
      thinking: () => undefined,
      call: (id) => reported.push(id),
      used: () => undefined,
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
