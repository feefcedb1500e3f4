import { describe, expect, it } from 'vitest';
import { readConversation } from '../../read';
import { outline } from './testing';
import { getNoteText } from '../../notes';

const session = { session_id: 's1', parent_tool_use_id: null };
const init = { type: 'system', subtype: 'init', cwd: '/w', tools: ['Read'], model: 'claude-opus-5', ...session };
const answer = (uuid: string, id: string, block: object) => ({
  type: 'assistant',
  message: {
    id,
    role: 'assistant',
    model: 'claude-opus-5',
    content: [block],
    usage: { input_tokens: 5, output_tokens: 5 },
  },
  uuid,
  ...session,
});
const result = (uuid: string, id: string) => ({
  type: 'user',
  message: { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: 'ok' }] },
  uuid,
  ...session,
});
const records = [
  init,
  answer('1', 'm1', { type: 'text', text: 'looking' }),
  answer('2', 'm1', { type: 'tool_use', id: 't1', name: 'Task', input: {} }),
  {
    ...answer('3', 'm2', { type: 'text', text: 'inside' }),
    parent_tool_use_id: 't1',
  },
  result('4', 't1'),
  answer('5', 'm3', { type: 'text', text: 'done' }),
  { type: 'result', subtype: 'success', result: 'done', usage: {}, ...session },
];

const FORMS = {
  'lines, as stream-json': records.map((record) => JSON.stringify(record)).join('\n'),
  'one list, as json --verbose': JSON.stringify(records),
};

describe.each(Object.entries(FORMS))('a printed log of Claude Code: %s', (_, text) => {
  const conversation = readConversation(text, { path: '/home/me/log' }, { history: 'all' });

  it('is read completely and in order, with separate subagents', () => {
    expect(outline(conversation.messages)).toEqual(['assistant: looking t1', 'user: t1', 'assistant: done']);
    expect(conversation.sidechains.map(({ messages }) => outline(messages))).toEqual([['assistant: inside']]);
    expect(conversation).toMatchObject({ id: 'claude-code:s1', format: 'claude-code', workspace: '/w' });
  });

  it('has notes on what the log lacks, and no note on a rewind', () => {
    expect(conversation.notes.map(getNoteText).join('\n')).toContain('what the user typed is not in it');
    expect(conversation.notes.map(getNoteText).join('\n')).not.toContain('newest branch');
  });
});

it('a printed log of Claude Code contains typed prompts if they were printed', () => {
  const prompt = { type: 'user', message: { role: 'user', content: 'Fix it' }, isReplay: true, uuid: '0', ...session };
  const lines = [init, prompt, ...records.slice(1)].map((record) => JSON.stringify(record)).join('\n');
  const { title, messages, notes } = readConversation(lines, { path: '/home/me/log' });
  expect([title, messages[0]?.content]).toEqual(['Fix it', 'Fix it']);
  expect(notes.map(getNoteText).join('\n')).not.toContain('not in it');
});
