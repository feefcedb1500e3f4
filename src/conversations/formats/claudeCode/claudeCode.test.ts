import { describe, expect, it } from 'vitest';
import {
  type Fields,
  assistant,
  boundary,
  makeOtherRecord,
  makeTextBlock,
  user,
} from '../../../../test/fixtures/conversations/claudeCodeLines';
import { readRecords, outline } from './testing';
import { getNoteText } from '../../notes';

describe('the active branch of a Claude Code session', () => {
  it('follows parents through records of other types', () => {
    const { messages } = readRecords([
      user('u1', null, 'fix the test'),
      makeOtherRecord('progress', 'p1', 'u1'),
      makeOtherRecord('system', 's1', 'p1', { subtype: 'stop_hook_summary' }),
      makeOtherRecord('attachment', 't1', 's1', { attachment: { type: 'todo' } }),
      assistant('a1', 't1', 'm1', makeTextBlock('done')),
    ]);
    expect(outline(messages)).toEqual(['user: fix the test', 'assistant: done']);
  });

  it('is the newest one, and a note says that branches abandoned by a rewind are omitted', () => {
    const { messages, notes } = readRecords([
      user('u1', null, 'task'),
      assistant('a1', 'u1', 'm1', makeTextBlock('first try')),
      user('u2', 'a1', 'no, wrong'),
      assistant('a2', 'u2', 'm2', makeTextBlock('second try')),
      user('u3', 'a1', 'use the other file'),
      assistant('a3', 'u3', 'm3', makeTextBlock('third try')),
      makeOtherRecord('progress', 'p1', 'a2'),
    ]);
    expect(outline(messages)).toEqual([
      'user: task',
      'assistant: first try',
      'user: use the other file',
      'assistant: third try',
    ]);
    expect(notes).toContain('Left out: 2 records that are not on the newest branch (rewound or replaced).');
  });

  it('starts after a missing parent, with a note', () => {
    const { messages, notes } = readRecords([
      user('u1', null, 'lost'),
      user('u2', 'gone', 'here'),
      assistant('a1', 'u2', 'm', makeTextBlock('yes')),
    ]);
    expect(outline(messages)).toEqual(['user: here', 'assistant: yes']);
    expect(notes.map(getNoteText).join()).toContain('Line 2 continues a message that isn’t in the file');
  });

  it('ends at a circular link', () => {
    expect(outline(readRecords([user('u1', 'u2', 'a'), user('u2', 'u1', 'b')]).messages)).toEqual([
      'user: a',
      'user: b',
    ]);
  });

  it("follows the file's order if records have no ID", () => {
    const bare = (fields: Fields): Fields => ({
      ...fields,
      uuid: undefined,
      parentUuid: undefined,
      sessionId: undefined,
    });
    const conversation = readRecords([
      bare(user('', null, 'hello')),
      bare(assistant('', null, 'm1', makeTextBlock('hi'))),
    ]);
    expect(outline(conversation.messages)).toEqual(['user: hello', 'assistant: hi']);
    expect(conversation.id).toMatch(/^file:[0-9a-f]{16}$/);
    expect(
      outline(
        readRecords([bare(user('', null, 'old')), bare(boundary('', 'x')), bare(user('', null, 'new'))]).messages,
      ),
    ).toEqual(['user: new']);
  });
});

describe('the conversation read from a Claude Code session', () => {
  it('keeps meta messages, since they are sent, and marks them as meta', () => {
    const { messages } = readRecords([
      user('u1', null, 'skill content', { isMeta: true }),
      assistant('a1', 'u1', 'm', makeTextBlock('ok')),
    ]);
    expect(messages[0]).toEqual({ role: 'user', content: 'skill content', isMeta: true });
  });

  it('includes the output of a local command as a user message', () => {
    const { messages } = readRecords([
      makeOtherRecord('system', 's1', null, {
        subtype: 'local_command',
        content: '<local-command-stdout>ok</local-command-stdout>',
      }),
      user('u1', 's1', 'go'),
    ]);
    expect(outline(messages)).toEqual(['user: <local-command-stdout>ok</local-command-stdout>', 'user: go']);
  });

  it('omits API errors and records of other kinds, and counts them in a note', () => {
    const { messages, notes } = readRecords([
      { type: 'summary', summary: 'Old work', leafUuid: 'x' },
      { type: 'file-history-snapshot', messageId: 'u1', snapshot: {} },
      { type: 'queue-operation', operation: 'enqueue' },
      user('u1', null, 'task'),
      makeOtherRecord('progress', 'p1', 'u1'),
      makeOtherRecord('progress', 'p2', 'u1'),
      assistant('a1', 'u1', 'm1', makeTextBlock('API Error: 500'), { isApiErrorMessage: true }),
      assistant('a2', 'a1', 'm2', makeTextBlock('done')),
    ]);
    expect(outline(messages)).toEqual(['user: task', 'assistant: done']);
    expect(notes).toEqual([
      'Left out because it is not sent to the model: 2 progress, 1 API error message, 1 file-history-snapshot, 1 queue-operation, 1 summary.',
    ]);
  });

  it('keeps unknown fields of messages but not those of records', () => {
    const line = user('u1', null, 'x', { toolUseResult: { stdout: 'x' } });
    (line['message'] as Fields)['later'] = { a: 1 };
    expect(readRecords([line]).messages[0]).toEqual({ role: 'user', content: 'x', later: { a: 1 } });
  });
});

describe('sidechains of a Claude Code session', () => {
  const side = { isSidechain: true };

  it('are read separately, one per agent', () => {
    const { messages, sidechains } = readRecords([
      user('u1', null, 'task'),
      user('x1', null, 'explore', { ...side, agentId: 'one' }),
      user('y1', null, 'plan', { ...side, agentId: 'two' }),
      assistant('x2', 'x1', 'mx', makeTextBlock('found'), { ...side, agentId: 'one' }),
      assistant('a1', 'u1', 'm1', makeTextBlock('done')),
    ]);
    expect(outline(messages)).toEqual(['user: task', 'assistant: done']);
    expect(sidechains.map(({ messages: side }) => outline(side))).toEqual([
      ['user: explore', 'assistant: found'],
      ['user: plan'],
    ]);
  });

  it("are distinguished by their first record if the agent's name is missing", () => {
    const { sidechains } = readRecords([
      user('u1', null, 'task'),
      user('x1', 'u1', 'explore', side),
      user('y1', null, 'plan', side),
      assistant('x2', 'x1', 'mx', makeTextBlock('found'), side),
      assistant('x3', 'x2', 'mx2', makeTextBlock('more'), side),
      assistant('y2', 'y1', 'my', makeTextBlock('planned'), side),
      makeOtherRecord('progress', 'z1', null, side),
    ]);
    expect(sidechains.map(({ messages: side }) => outline(side))).toEqual([
      ['user: explore', 'assistant: found', 'assistant: more'],
      ['user: plan', 'assistant: planned'],
    ]);
  });

  it('in their own file are read as the conversation', () => {
    const agent = { ...side, agentId: 'abc' };
    const { id, messages, sidechains } = readRecords([
      user('x1', null, 'explore', agent),
      assistant('x2', 'x1', 'm', makeTextBlock('found'), agent),
    ]);
    expect(outline(messages)).toEqual(['user: explore', 'assistant: found']);
    expect(sidechains).toEqual([]);
    expect(id).toBe('claude-code:00000000-0000-4000-8000-000000000001:abc');
  });

  it("have a last request of their own if read from their own file, but do not affect their session's last request", () => {
    const agent = [
      user('u', null, 'look', { ...side, agentId: 'x' }),
      assistant('a', 'u', 'm9', makeTextBlock('seen'), { ...side, agentId: 'x' }),
    ];
    expect(readRecords(agent).lastRequest).toMatchObject({ usage: { inputTokens: 3 }, messagesSince: 0 });
    const session = [
      user('t', null, 'task'),
      assistant('b', 't', 'm1', makeTextBlock('done')),
      user('v', 'b', 'more'),
      ...agent,
    ];
    expect(readRecords(session).lastRequest).toMatchObject({ messagesSince: 1 });
  });

  it('with circular links are read without an infinite loop', () => {
    const { sidechains } = readRecords([
      user('u', null, 'task'),
      user('x1', 'x2', 'a', side),
      user('x2', 'x1', 'b', side),
    ]);
    expect(sidechains.flatMap(({ messages }) => messages)).toHaveLength(2);
  });
});

it('a Claude Code conversation has the ID of the newest session in its file', () => {
  const copied = user('u1', null, 'task', { sessionId: 'older' });
  expect(readRecords([copied, user('u2', 'u1', 'go on')]).id).toBe('claude-code:00000000-0000-4000-8000-000000000001');
});

describe('the title of a Claude Code session', () => {
  const session = [user('u1', null, 'fix the test'), assistant('a1', 'u1', 'm1', makeTextBlock('done'))];
  const byUser = (customTitle: string) => ({ type: 'custom-title', customTitle, sessionId: 's' });
  const byAgent = (aiTitle: string) => ({ type: 'ai-title', aiTitle, sessionId: 's' });
  const summary = (words: string, leafUuid: string) => ({ type: 'summary', summary: words, leafUuid });

  // Claude Code 2.1.7 to 2.1.17 writes summary records; 2.1.205 or later writes the two other
  // kinds. Their order of precedence is from the program of 2.1.330:
  // `customTitle||aiTitle||summary`, then the first words.
  it.each([
    ['the first words if nothing names it', [], 'fix the test'],
    ['what its user called it last', [byUser('One'), byAgent('Three'), byUser('Two'), byAgent('Four')], 'Two'],
    ['what Claude Code called it last', [byAgent('One'), summary('Old', 'a1'), byAgent('Two')], 'Two'],
    ['the summary of one of its branches', [summary('Ours', 'a1'), summary('Of another session', 'x')], 'Ours'],
    [
      'the first words if the names are empty or of another session',
      [byAgent(' '), summary('Other', 'x')],
      'fix the test',
    ],
  ])('consists of %s', (_, records, title) => {
    expect(readRecords([...records, ...session]).title).toBe(title);
  });
});
