import { describe, expect, it } from 'vitest';
import { readConversation } from '../read';
import { selectEffectiveHistory } from './roo';
import type { ReadOptions } from '../types';

const TASK =
  '/home/me/.config/Code/User/globalStorage/rooveterinaryinc.roo-cline/tasks/019a3f1e-5a5b-7c3d-8e9f-0123456789ab/api_conversation_history.json';
const read = (value: unknown, options: ReadOptions = {}, path = TASK) =>
  readConversation(JSON.stringify(value), { path }, options);
const say = (role: 'user' | 'assistant', words: string, ts: number, fields = {}) => ({
  role,
  content: [{ type: 'text', text: words }],
  ts,
  ...fields,
});

describe('a Roo task', () => {
  const xmlEra = [
    say('user', '<task>\nAdd a test\n</task>', 1, {
      content: [
        { type: 'text', text: '<task>\nAdd a test\n</task>' },
        { type: 'text', text: '<environment_details>\n# Time\n</environment_details>' },
      ],
    }),
    say('assistant', '<read_file><path>a.ts</path></read_file>', 2),
    say('user', "[read_file for 'a.ts'] Result:", 3),
  ];

  it('is read with all its fields, including tool calls in text', () => {
    const conversation = read(xmlEra);
    expect(conversation).toMatchObject({
      id: 'roo:019a3f1e-5a5b-7c3d-8e9f-0123456789ab',
      format: 'roo',
      title: 'Add a test',
      notes: [],
    });
    expect(conversation.messages).toEqual(xmlEra);
  });

  it("has the ID of its folder only if the folder is a task's", () => {
    expect(read(xmlEra, {}, '/tasks/1730000000000/api_conversation_history.json').id).toBe('roo:1730000000000');
    expect(read(xmlEra, {}, '/tasks/my-copy/api_conversation_history.json').id).toMatch(/^file:[0-9a-f]{16}$/);
    expect(readConversation(JSON.stringify(xmlEra), { name: 'pasted' }).id).toMatch(/^text:[0-9a-f]{16}$/);
  });

  it('keeps separate reasoning messages', () => {
    const reasoning = { type: 'reasoning', summary: [], encrypted_content: 'x', ts: 2 };
    const { messages } = read([xmlEra[0], reasoning, { ...reasoning, role: 'assistant', content: [] }]);
    expect(messages[1]).toEqual({ ...reasoning, role: 'assistant', content: [] });
    expect(messages).toHaveLength(3);
  });

  it('has a note on calls that are followed by text instead of a result', () => {
    const { notes } = read([
      say('user', 'x', 1),
      { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'n', input: {} }], ts: 2 },
      say('user', 'y', 3),
    ]);
    expect(notes).toEqual(['1 tool call without a result (first: message 2); left as it is.']);
  });
});

describe('a condensed Roo task', () => {
  const condensed = [
    say('user', 'task', 1, { condenseParent: 'c1' }),
    {
      role: 'assistant',
      content: [{ type: 'tool_use', id: 't1', name: 'read_file', input: {} }],
      ts: 2,
      condenseParent: 'c1',
    },
    say('user', '## Conversation Summary', 3, { isSummary: true, condenseId: 'c1' }),
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't1', content: 'old' }], ts: 4 },
    {
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 't1', content: 'old' },
        { type: 'text', text: 'more' },
      ],
      ts: 5,
    },
    { role: 'assistant', content: [{ type: 'tool_use', id: 't2', name: 'read_file', input: {} }], ts: 6 },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't2', content: 'new' }], ts: 7 },
  ];

  it('starts at the last summary, without results of earlier calls', () => {
    const { messages, notes, title } = read(condensed);
    expect(messages.map(({ ts }) => ts)).toEqual([3, 5, 6, 7]);
    expect(messages[1]?.content).toEqual([{ type: 'text', text: 'more' }]);
    expect(notes).toEqual([
      {
        omission:
          'Left out, condensed or truncated by the agent: 3 messages (“Part to condense: Everything” or --history all has them).',
      },
    ]);
    expect(title).toBe('task');
  });

  it('is read whole if the whole history ("all") is requested', () => {
    expect(read(condensed, { history: 'all' }).messages).toEqual(condensed);
  });

  it("begins with the task and the summary if the summary has the assistant's role", () => {
    const old = [
      say('user', 'task', 1),
      say('assistant', 'a', 2),
      say('assistant', 'summary', 3, { isSummary: true }),
      say('user', 'go on', 4),
    ];
    expect(read(old).messages.map(({ ts }) => ts)).toEqual([1, 3, 4]);
    expect(read(old.slice(2)).messages.map(({ ts }) => ts)).toEqual([3, 4]);
    expect(selectEffectiveHistory([])).toEqual([]);
  });

  it("omits the messages that a truncation hid as long as the truncation's marker exists", () => {
    const hidden = { truncationParent: 'x1' };
    const truncated = [
      say('user', 'task', 1),
      say('assistant', 'a', 2, hidden),
      say('user', 'marker', 3, { isTruncationMarker: true, truncationId: 'x1' }),
      say('assistant', 'b', 4),
    ];
    expect(read(truncated).messages.map(({ ts }) => ts)).toEqual([1, 3, 4]);
    expect(read(truncated.filter(({ ts }) => ts !== 3)).messages.map(({ ts }) => ts)).toEqual([1, 2, 4]);
    expect(read(truncated.map((m) => (m.ts === 3 ? { ...m, truncationId: undefined } : m))).messages).toHaveLength(4);
  });
});

describe('a Cline 4 session', () => {
  const structured = { query: 'a.ts:1-2', result: '1 | a', success: true };
  const session = {
    version: 1,
    sessionId: '1784094124598_abcde',
    system_prompt: 'You are Cline.',
    messages: [
      {
        id: 'm1',
        role: 'user',
        content: [
          { type: 'text', text: 'move the icon' },
          { type: 'file', path: 'a.ts', content: 'x' },
        ],
        ts: 1,
      },
      { id: 'm2', role: 'assistant', content: [{ type: 'tool_use', id: 't1', name: 'read_files', input: {} }], ts: 2 },
      {
        id: 'm3',
        role: 'user',
        content: [
          { type: 'text', text: 'x' },
          { type: 'tool_result', tool_use_id: 't1', content: [structured, { type: 'text', text: 'y' }] },
        ],
        ts: 3,
      },
    ],
  };

  it('has the session’s ID, and keeps fields other than the messages', () => {
    const conversation = read(session);
    expect(conversation).toMatchObject({ id: 'cline:1784094124598_abcde', format: 'roo', title: 'move the icon' });
    expect(conversation.request).toMatchObject({ system_prompt: 'You are Cline.' });
  });

  it('reads a mentioned file as the text that is sent, in a form that can be converted back', () => {
    expect(read(session).messages[0]?.content).toEqual([
      { type: 'text', text: 'move the icon' },
      {
        type: 'text',
        text: '<file_content path="a.ts">\nx\n</file_content>',
        clineFile: { type: 'file', path: 'a.ts', content: 'x' },
      },
    ]);
  });

  it('reads its structured results as text, in a form that can be converted back', () => {
    expect(read(session).messages[2]?.content).toEqual([
      { type: 'text', text: 'x' },
      {
        type: 'tool_result',
        tool_use_id: 't1',
        content: [
          { type: 'text', text: JSON.stringify(structured), clineJson: true },
          { type: 'text', text: 'y' },
        ],
      },
    ]);
  });
});

it('a malformed message of Roo is rejected with an error that names its position', () => {
  expect(() => read([say('user', 'x', 1), 5])).toThrow('found the number 5 in "messages[1]"');
  const deep = {
    ts: 1,
    role: 'user',
    content: [
      {
        type: 'tool_result',
        tool_use_id: 't',
        content: [{ x: JSON.parse('['.repeat(900) + ']'.repeat(900)) as unknown }],
      },
    ],
  };
  expect(() => read([deep])).toThrow('in "messages[0].content[0].content[0].type"');
});
