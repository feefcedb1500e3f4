import { describe, expect, it } from 'vitest';
import { getBlocks } from '../../../core/messages/blocks';
import { checkConversation } from '../../../core/messages/firewall';
import { readConversation } from '../../read';

type Fields = Record<string, unknown>;

const HEAD = {
  sessionId: 'f86f',
  projectHash: '79b6',
  startTime: '2026-01-01T00:00:00Z',
  lastUpdated: '2026-01-01T00:00:00Z',
};
const PATH = '/home/dev/.gemini/tmp/79b6/chats/session-2026-01-01T00-00-f86f.json';
const record = (id: string, type: string, content: unknown, more: Fields = {}): Fields => ({
  id,
  type,
  content,
  ...more,
});
const answer = (output: unknown): Fields[] => [
  { functionResponse: { id: 'c', name: 'read_file', response: { output } } },
];

const document = (messages: readonly unknown[], more: Fields = {}) =>
  readConversation(JSON.stringify({ ...HEAD, ...more, messages }), { path: PATH });
const lines = (records: readonly Fields[], path = PATH) =>
  readConversation(records.map((each) => JSON.stringify(each)).join('\n'), { path });
const texts = (records: readonly Fields[]): unknown[] =>
  lines(records).messages.map((message) => getBlocks(message)[0]?.['text']);

describe('a Gemini CLI session in one document', () => {
  it('is read with thoughts, calls and results', () => {
    const conversation = document([
      record('1', 'user', 'List the files'),
      record('2', 'info', 'Update available'),
      record('3', 'gemini', 'I look.', {
        thoughts: [{ subject: 'Looking', description: 'At files' }, { description: 'More' }],
        toolCalls: [
          { id: 'c1', name: 'list_directory', args: { path: '.' }, status: 'success', result: answer('a.ts') },
          {
            id: 'c2',
            name: 'read_file',
            args: {},
            status: 'error',
            result: [{ functionResponse: { response: { error: 'gone' } } }],
          },
          {
            id: 'c3',
            name: 'web',
            args: {},
            status: 'success',
            result: [{ functionResponse: { response: { a: 1 } } }, { text: 'x' }],
          },
        ],
        model: 'gemini-2.5-pro',
      }),
      record('4', 'gemini', [{ text: 'Done.' }, { executableCode: {} }]),
    ]);
    expect(conversation).toMatchObject({
      id: 'gemini:f86f',
      format: 'gemini',
      title: 'List the files',
      notes: ['Left out because it is not sent to the model: 1 info.'],
    });
    expect(conversation.messages).toEqual([
      { role: 'user', content: [{ type: 'text', text: 'List the files' }] },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: '**Looking**\nAt files\n\nMore' },
          { type: 'text', text: 'I look.' },
          { type: 'tool_use', id: 'c1', name: 'list_directory', input: { path: '.' } },
          { type: 'tool_use', id: 'c2', name: 'read_file', input: {} },
          { type: 'tool_use', id: 'c3', name: 'web', input: {} },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'c1', content: [{ type: 'text', text: 'a.ts' }] },
          { type: 'tool_result', tool_use_id: 'c2', content: 'gone', is_error: true },
          {
            type: 'tool_result',
            tool_use_id: 'c3',
            content: [
              { type: 'text', text: '{"a":1}' },
              { type: 'text', text: 'x' },
            ],
          },
        ],
      },
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'Done.' },
          { type: 'gemini_part', part: { executableCode: {} } },
        ],
      },
    ]);
    expect(checkConversation(conversation.messages)).toEqual([]);
  });

  it('keeps images, documents, and calls without a result', () => {
    const media = (mimeType: string): Fields => ({ inlineData: { mimeType, data: 'AAAA' } });
    const { messages, notes } = document([
      record('1', 'user', [media('image/png'), media('application/pdf'), media('audio/wav'), 7, '']),
      record('2', 'gemini', '', { toolCalls: [{ id: 'c', name: 'n', result: null }, { args: 1 }] }),
    ]);
    expect(messages[0]?.content).toMatchObject([{ type: 'image' }, { type: 'document' }, { type: 'gemini_part' }]);
    expect(messages[1]?.content).toMatchObject([
      { type: 'tool_use', input: {} },
      { type: 'gemini_part', part: { args: 1 } },
    ]);
    expect(notes).toEqual(['1 tool call without a result (first: message 2); left as it is.']);
  });

  it('uses its summary as the title if no person wrote anything', () => {
    expect(document([record('1', 'gemini', 'hi')], { summary: 'Greeting' }).title).toBe('Greeting');
  });

  it('is rejected if it has no messages', () => {
    expect(() => document([])).toThrow('found no messages; expected');
    expect(() => document([record('1', 'error', 'x')])).toThrow('found no messages, only 1 error');
  });
});

describe('a Gemini CLI session in lines', () => {
  it('applies records that replace others, change the header or rewind messages', () => {
    expect(
      texts([
        HEAD,
        record('1', 'user', 'one'),
        record('2', 'gemini', 'draft'),
        record('2', 'gemini', 'final'),
        { $set: { lastUpdated: 'later', directories: ['/home/dev/app'] } },
        record('3', 'user', 'wrong'),
        record('4', 'gemini', 'reply'),
        { $rewindTo: '3' },
        record('5', 'user', 'two'),
      ]),
    ).toEqual(['one', 'final', 'two']);
  });

  it('is emptied by a rewind to a missing message, and gets all messages that a $set record contains', () => {
    const rewound = lines([HEAD, record('1', 'user', 'one'), { $rewindTo: 'x' }, record('2', 'user', 'two')]);
    expect(rewound.messages).toHaveLength(1);
    expect(rewound.notes).toContain('Left out: 1 message taken back (rewound).');
    const set = { $set: { messages: [record('9', 'user', 'compressed'), { type: 'user', content: 'no id' }] } };
    expect(texts([HEAD, record('1', 'user', 'one'), set, record('2', 'user', 'two')])).toEqual([
      'compressed',
      'no id',
      'two',
    ]);
  });

  it('of a subagent is linked to the session whose folder it is in', () => {
    const subagent = [{ ...HEAD, kind: 'subagent', directories: ['/w'] }, record('1', 'user', 'one')];
    expect(lines(subagent, '/g/chats/parent-id/s.jsonl')).toMatchObject({
      parent: 'gemini:parent-id',
      workspace: '/w',
    });
    expect(lines(subagent, '/g/chats/s.jsonl')).not.toHaveProperty('parent');
  });
});

describe('Gemini CLI results repeated in a user record', () => {
  const response = (id: string, output: string) => ({
    functionResponse: { id, name: 'read_file', response: { output } },
  });
  const made = (id: string) => ({ functionCall: { id, name: 'read_file', args: { path: id } } });
  const result = (id: string, words: string) => ({
    type: 'tool_result',
    tool_use_id: id,
    content: [{ type: 'text', text: words }],
  });

  it('appear once, with their call', () => {
    const { messages } = lines([
      record('1', 'user', 'Read it'),
      record('2', 'gemini', 'Yes', {
        toolCalls: [{ id: 'c', name: 'read_file', args: {}, status: 'success', result: [response('c', 'words')] }],
      }),
      record('3', 'user', [response('c', 'words')]),
      record('4', 'gemini', 'Done'),
    ]);
    expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant']);
    expect(messages[2]?.content).toEqual([result('c', 'words')]);
  });

  it('are matched to the calls in a resumed session, which repeats each part', () => {
    const conversation = lines([
      record('1', 'user', 'Read both'),
      record('2', 'gemini', [{ text: 'I think.', thought: true }, { text: 'Yes' }, made('c1'), made('c2')]),
      record('3', 'user', [response('c1', 'one'), response('c2', 'two')]),
      record('4', 'user', [response('c1', 'one'), response('c2', 'two')]),
      record('5', 'gemini', 'Done'),
    ]);
    expect(conversation.messages[1]?.content).toEqual([
      { type: 'thinking', thinking: 'I think.' },
      { type: 'text', text: 'Yes' },
      { type: 'tool_use', id: 'c1', name: 'read_file', input: { path: 'c1' } },
      { type: 'tool_use', id: 'c2', name: 'read_file', input: { path: 'c2' } },
    ]);
    expect(conversation.messages.slice(2, -1)).toEqual([
      { role: 'user', content: [result('c1', 'one'), result('c2', 'two')] },
    ]);
    expect(checkConversation(conversation.messages)).toEqual([]);
  });

  it('remain parts of the message if the previous answer has no matching call', () => {
    const { messages } = document([record('1', 'user', 'Go'), record('2', 'user', [response('c', 'words')])]);
    expect(messages[1]?.content).toEqual([{ type: 'gemini_part', part: response('c', 'words') }]);
  });
});

it.each(['gemini', 'model'])('a Gemini CLI request whose answer is a record of type "%s" is counted', (type) => {
  const tokens = { input: 100, output: 5, cached: 40, thoughts: 7, tool: 3 };
  const text = [HEAD, record('1', 'user', 'Go'), record('2', type, 'done', { tokens, model: 'gemini-3-pro' })]
    .map((each) => JSON.stringify(each))
    .join('\n');
  expect(readConversation(text, { path: PATH }, { history: 'all' }).recorded?.requests).toMatchObject([
    { message: 1, usage: { inputTokens: 103, outputTokens: 12, cacheReadTokens: 40 } },
  ]);
});
