import { describe, expect, it } from 'vitest';
import { assistant, jsonl, makeTextBlock, user } from '../../test/fixtures/conversations/claudeCodeLines';
import { formatLocation, splitLocation } from './location';
import { readConversation } from './read';
import { toSidechainConversation } from './formats/sidechains';

const nothing = (): boolean => false;

describe('the location of a conversation', () => {
  it('is a path, or a path and a part', () => {
    expect(splitLocation('/a/b.jsonl', nothing)).toEqual({ file: '/a/b.jsonl', part: undefined });
    expect(splitLocation(formatLocation('/a/opencode.db', 'ses_1'), nothing)).toEqual({
      file: '/a/opencode.db',
      part: 'ses_1',
    });
    expect(splitLocation('/c#/x#agent-1', nothing)).toEqual({ file: '/c#/x', part: 'agent-1' });
  });

  it('is a path even if it contains #, if such a file exists or the file has no such part', () => {
    expect(splitLocation('/a/b#c', () => true)).toEqual({ file: '/a/b#c', part: undefined });
    expect(splitLocation('/c#/b.jsonl', nothing)).toEqual({ file: '/c#/b.jsonl', part: undefined });
  });
});

describe('a subagent inside its parent’s file', () => {
  const source = { path: '/s.jsonl' };
  const side = { isSidechain: true, agentId: 'one' };
  const parent = readConversation(
    jsonl(
      user('u1', null, 'task'),
      user('x1', null, 'explore', side),
      assistant('x2', 'x1', 'm', makeTextBlock('found'), side),
      assistant('a1', 'u1', 'm1', makeTextBlock('done')),
    ),
    source,
  );

  it('is a conversation of its own, linked to its parent', () => {
    const conversation = toSidechainConversation(parent, 'one', source);
    expect(conversation).toMatchObject({ id: `${parent.id}:one`, parent: parent.id, title: 'explore', sidechains: [] });
    expect(conversation.messages).toHaveLength(2);
  });

  it("is rejected with a list of the existing ones if it doesn't exist", () => {
    expect(() => toSidechainConversation(parent, 'two', source)).toThrow(
      'found no subagent "two" in the conversation; expected one of one',
    );
    expect(() => toSidechainConversation({ ...parent, sidechains: [] }, 'one', source)).toThrow('it has none');
  });
});
