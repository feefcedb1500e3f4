import { describe, expect, it } from 'vitest';
import { compareTexts, listConversationTexts, listRequestTexts, type SentText } from './texts';

const user = (text: string): SentText => ({ role: 'user', kind: 'text', text });
const result = (text: string): SentText => ({ role: 'user', kind: 'result', text });
const answer = (text: string): SentText => ({ role: 'assistant', kind: 'text', text });

describe('comparing the texts that an agent sent with those that we read', () => {
  it.each<[string, SentText[], SentText[], string[]]>([
    ['equal texts', [user('a'), answer('b')], [user('a'), answer('b')], []],
    ['one text that the other side has as two', [user('a\nb')], [user('a'), user('b')], []],
    ['a text that is not read', [user('a'), user('b'), answer('c')], [user('a'), answer('c')], ['missing']],
    ['a text that was not sent', [user('a')], [user('a'), answer('c')], ['extra']],
    ['a text that is read twice', [user('a')], [user('a'), user('a')], ['extra']],
    ['another order', [user('a'), answer('b')], [answer('b'), user('a')], ['moved']],
    ['another role', [user('a'), user('b')], [user('a'), answer('b')], ['moved']],
    ['other words', [user('a'), user('b')], [user('a'), user('c')], ['changed']],
    ['a reminder at the end of a result', [result('a\nb')], [result('a'), user('b')], ['cut']],
  ])('finds the differences in %s', (_name, sent, read, expected) => {
    expect(compareTexts(sent, read).map(({ what }) => what)).toEqual(expected);
  });
});

describe('the texts found in a recorded request', () => {
  const words = [
    user('Go'),
    { role: 'assistant', kind: 'text', text: 'Yes' },
    { role: 'assistant', kind: 'call', text: 'read {"a":1,"b":2}' },
    result('done'),
  ];

  it.each<[string, Record<string, unknown>]>([
    [
      'Anthropic',
      {
        system: 'S',
        messages: [
          { role: 'user', content: 'Go' },
          {
            role: 'assistant',
            content: [
              { type: 'text', text: 'Yes' },
              { type: 'tool_use', id: 'c', name: 'read', input: { b: 2, a: 1 } },
            ],
          },
          { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c', content: 'done' }] },
        ],
      },
    ],
    [
      'chat',
      {
        messages: [
          { role: 'system', content: 'S' },
          { role: 'user', content: [{ type: 'text', text: 'Go' }] },
          {
            role: 'assistant',
            content: 'Yes',
            tool_calls: [{ id: 'c', type: 'function', function: { name: 'read', arguments: '{"b":2,"a":1}' } }],
          },
          { role: 'tool', tool_call_id: 'c', content: 'done' },
        ],
      },
    ],
    [
      'Responses',
      {
        input: [
          { type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'S' }] },
          { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Go' }] },
          { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Yes' }] },
          { type: 'function_call', call_id: 'c', name: 'read', arguments: '{"b":2,"a":1}' },
          { type: 'function_call_output', call_id: 'c', output: 'done' },
        ],
      },
    ],
    [
      'Gemini',
      {
        contents: [
          { role: 'user', parts: [{ text: 'Go' }] },
          { role: 'model', parts: [{ text: 'Yes' }, { functionCall: { name: 'read', args: { b: 2, a: 1 } } }] },
          { role: 'user', parts: [{ functionResponse: { name: 'read', response: { output: 'done' } } }] },
        ],
      },
    ],
  ])('for %s equal those of the other vendors', (_wire, body) => {
    expect(listRequestTexts(body)).toEqual(words);
  });
});

describe('the texts found in a conversation', () => {
  it('keep the role with which a message was sent', () => {
    const texts = listConversationTexts([
      { role: 'user', content: 'Go' },
      { role: 'user', content: 'Reminder', sentAs: 'system' },
    ]);
    expect(texts.map(({ role }) => role)).toEqual(['user', 'system']);
  });
});
