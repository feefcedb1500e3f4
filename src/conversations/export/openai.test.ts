import { describe, expect, it } from 'vitest';
import type { ApiMessage } from '../../core/messages/types';
import {
  type Json,
  body,
  exportTo,
  checkWithOpenAIServer,
  user,
  assistant,
  text,
  call,
  result,
  image,
  messages,
} from './testing';

describe('the OpenAI export', () => {
  it('puts the system prompt first, results in separate messages with images after them, and keeps raw arguments', () => {
    const raw = [
      messages[0]!,
      assistant(text('I look.'), { ...call('c1'), rawArguments: '{ "path": "a" }' }),
      messages[2]!,
      messages[3]!,
    ];
    const { text: output, notes } = exportTo({ messages: raw, request: { system: 'Be careful.' } }, 'openai');
    const imagePart = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } };
    expect(JSON.parse(output)).toMatchObject({
      messages: [
        { role: 'system', content: 'Be careful.' },
        { role: 'user', content: [text('Fix it'), imagePart] },
        {
          role: 'assistant',
          content: 'I look.',
          tool_calls: [{ id: 'c1', type: 'function', function: { name: 'Read', arguments: '{ "path": "a" }' } }],
        },
        { role: 'tool', tool_call_id: 'c1', content: 'line\n[image]' },
        { role: 'user', content: [text('Images of the results above:'), imagePart] },
        { role: 'assistant', content: 'Done.' },
      ],
      tools: [{ type: 'function', function: { name: 'Read' } }],
    });
    expect(notes).toEqual(['1 tool: declared as taking any parameters, since theirs were not recorded.']);
  });

  it('lists in its notes what could not be exported', () => {
    const pdf = { type: 'base64', media_type: 'application/pdf', data: 'AA' };
    const { text: output, notes } = exportTo(
      {
        messages: [
          user(
            { type: 'image', source: {} },
            { type: 'document', source: pdf, title: 'a.pdf' },
            { type: 'document', source: {} },
          ),
          assistant({ type: 'thinking', thinking: 'x' }, image, result('c0', 'x'), call('c1')),
          user(result('c1', 'bad', { is_error: true }), { type: 'document', source: { type: 'text', data: 'words' } }),
          assistant({ type: 'later' }),
        ],
      },
      'openai',
    );
    expect(checkWithOpenAIServer(JSON.parse(output) as Json)).toBeUndefined();
    expect(output).toContain('data:application/pdf;base64,AA');
    expect(notes).toEqual([
      '1 image: left out because it has no address.',
      '1 document: left out because OpenAI does not accept this type.',
      '1 thought: left out because Chat Completions has no equivalent.',
      '1 image: left out because OpenAI allows none for an assistant.',
      '1 block of type “later”: left out because OpenAI has no equivalent.',
      '1 tool: declared as taking any parameters, since theirs were not recorded.',
      '1 failed result: not marked as failed because OpenAI has no equivalent.',
    ]);
  });
});

it("the OpenAI export keeps system messages in place, but moves those before a call's result after the result", () => {
  const messages: ApiMessage[] = [
    user(text('Fix it')),
    assistant(call('c1')),
    { role: 'system', content: 'Be brief.' },
    user(result('c1', 'line'), text('Go on')),
    { role: 'system', content: [text('Now plan.')] },
    assistant(text('Done.')),
  ];
  const made = body(messages, 'openai');
  expect(checkWithOpenAIServer(made)).toBeUndefined();
  expect(made['messages']).toMatchObject([
    { role: 'user', content: 'Fix it' },
    { role: 'assistant' },
    { role: 'tool' },
    { role: 'user', content: 'Go on' },
    { role: 'system', content: 'Be brief.' },
    { role: 'system', content: 'Now plan.' },
    { role: 'assistant', content: 'Done.' },
  ]);
});

it.each(['openai', 'anthropic', 'markdown', 'handover'] as const)(
  'half a surrogate pair is replaced in the %s export',
  (target) => {
    const input = { path: 'a\udc00', env: { 'NAME\ud83d': 'x' } };
    const messages = [user(text('cut \ud83d here')), assistant(text('I look.'), call('c1', input))];
    const { text: out, notes } = exportTo({ messages }, target);
    expect(out.isWellFormed()).toBe(true);
    expect(out).not.toMatch(/(?<!\\)\\ud[89a-f]/);
    expect(notes.join()).toContain('half of a surrogate pair');
  },
);
