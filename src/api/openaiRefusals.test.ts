import { describe, expect, it } from 'vitest';
import { assistant, call, imageBlock, collectOutcome, result, text, user } from './testing';
import type { ApiRequest } from './types';

import { READ_FILE_HISTORY, startHandlerAndServer } from './testingOpenAI';

describe('the OpenAI test server, called through the SDK,', () => {
  it.each<[string, RegExp, Partial<ApiRequest>]>([
    [
      'a call without its result',
      /did not have response messages: c1/,
      { messages: [user('x'), assistant([call('c1')]), user('y')] },
    ],
    ['a call at the end', /did not have response messages/, { messages: [user('x'), assistant([call('c1')])] }],
    [
      'a result without its call',
      /must be a response to a preceeding message/,
      { messages: [user('x'), user([result('c1')])] },
    ],
    [
      'two results of one call',
      /must be a response/,
      { messages: [user('x'), assistant([call('c1')]), user([result('c1'), result('c1')])] },
    ],
    ['ids used twice', /Duplicate or missing/, { messages: [...READ_FILE_HISTORY, ...READ_FILE_HISTORY.slice(1)] }],
    ['no messages', /empty array/, { messages: [] }],
    [
      'a tool without a schema',
      /Invalid 'tools\[0\]'/,
      { messages: [user('x')], tools: [{ name: '', input_schema: {} }] },
    ],
    ['a field that is unknown', /Unknown parameter: 'odd'/, { messages: [user('x')], extraBody: { odd: 1 } }],
    ['empty text in parts', /empty string/, { messages: [user([text(''), imageBlock])] }],
    ['a message without content', /empty array/, { messages: [user([])] }],
  ])('rejects an invalid request with %s, like Chat Completions', async (_, words, request) => {
    const { handler } = await startHandlerAndServer();
    const { error } = await collectOutcome(handler.stream({ messages: [], ...request }));
    expect(error).toMatchObject({ kind: 'invalid-request', details: { status: 400 } });
    expect(error?.message).toMatch(words);
  });
});
