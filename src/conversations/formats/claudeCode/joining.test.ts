import { describe, expect, it } from 'vitest';
import {
  type Fields,
  assistant,
  makeToolUse,
  makeOtherRecord,
  result,
  makeTextBlock,
  user,
} from '../../../../test/fixtures/conversations/claudeCodeLines';
import { getBlocks } from '../../../core/messages/blocks';
import { checkConversation } from '../../../core/messages/firewall';
import { readRecords, outline } from './testing';
import { getNoteText } from '../../notes';

describe('joining the records of a Claude Code session', () => {
  it("merges the lines of one API message, with the last line's values", () => {
    const records = [
      user('u1', null, 'task'),
      assistant('a1', 'u1', 'm1', { type: 'thinking', thinking: 'hm', signature: 's' }),
      assistant('a2', 'a1', 'm1', makeTextBlock('I will read')),
    ];
    const last = assistant('a3', 'a2', 'm1', makeToolUse('t1'));
    (last['message'] as Fields)['stop_reason'] = 'tool_use';
    const { messages } = readRecords([...records, last, user('u2', 'a3', [result('t1')])]);
    expect(messages).toHaveLength(3);
    expect(messages[1]).toMatchObject({ id: 'm1', model: 'claude-opus-4-5', stop_reason: 'tool_use' });
    expect(getBlocks(messages[1]!).map(({ type }) => type)).toEqual(['thinking', 'text', 'tool_use']);
  });

  it('puts parallel results into one message, including results off the active path', () => {
    const { messages, notes } = readRecords([
      user('u1', null, 'task'),
      assistant('a1', 'u1', 'm1', makeToolUse('t1')),
      assistant('a2', 'a1', 'm1', makeToolUse('t2')),
      user('u2', 'a1', [result('t1')]),
      user('u3', 'a2', [result('t2')]),
      assistant('a3', 'u3', 'm2', makeTextBlock('both read')),
    ]);
    expect(outline(messages)).toEqual(['user: task', 'assistant: t1 t2', 'user: t1 t2', 'assistant: both read']);
    expect(checkConversation(messages)).toEqual([]);
    expect(notes.map(getNoteText).join()).not.toContain('Left out');
  });

  it('includes records of the same message that are off the active path', () => {
    const { messages } = readRecords([
      user('u1', null, 'task'),
      assistant('a1', 'u1', 'm1', makeToolUse('t1')),
      assistant('a2', 'a1', 'm1', makeToolUse('t2')),
      user('u3', 'a2', [result('t2')]),
      user('u2', 'a1', [result('t1')]),
      assistant('a3', 'u2', 'm2', makeTextBlock('both read')),
    ]);
    expect(outline(messages)).toEqual(['user: task', 'assistant: t1 t2', 'user: t2 t1', 'assistant: both read']);
  });

  it('includes calls that were written after the result of an earlier call of the same message', () => {
    const { messages } = readRecords([
      user('u1', null, 'task'),
      assistant('a1', 'u1', 'm1', makeToolUse('t1')),
      user('u2', 'a1', [result('t1'), makeTextBlock('(reminder)')]),
      assistant('a2', 'u2', 'm1', makeToolUse('t2')),
      user('u3', 'a2', [result('t2')]),
    ]);
    expect(outline(messages)).toEqual(['user: task', 'assistant: t1 t2', 'user: t1 t2 (reminder)']);
  });

  it("does not merge a message's lines across other messages, but moves a result to its call", () => {
    const { messages } = readRecords([
      user('u1', null, 'task'),
      assistant('a1', 'u1', 'm1', makeToolUse('t1')),
      user('u2', 'a1', 'by the way'),
      user('u3', 'u2', [result('t1')]),
      assistant('a2', 'u3', 'm1', makeToolUse('t2')),
      user('u4', 'a2', [result('t2')]),
    ]);
    expect(outline(messages)).toEqual([
      'user: task',
      'assistant: t1',
      'user: t1',
      'user: by the way',
      'assistant: t2',
      'user: t2',
    ]);
    expect(checkConversation(messages)).toEqual([]);
  });

  it('leaves a user message with results unchanged if it has only one record', () => {
    const content = [makeTextBlock('before'), result('t1')];
    const { messages } = readRecords([
      user('u1', null, 'task'),
      assistant('a1', 'u1', 'm1', makeToolUse('t1')),
      user('u2', 'a1', content),
    ]);
    expect(messages[2]?.content).toEqual(content);
  });

  it('keeps an interrupted call, with a note', () => {
    const { messages, notes } = readRecords([
      user('u1', null, 'task'),
      assistant('a1', 'u1', 'm1', makeToolUse('t1')),
      user('u2', 'a1', [makeTextBlock('[Request interrupted by user for tool use]')]),
    ]);
    expect(messages).toHaveLength(3);
    expect(notes).toContain('1 tool call without a result (first: message 2); left as it is.');
  });

  it('does not move a late result past another answer', () => {
    const { messages } = readRecords([
      user('u1', null, 'task'),
      assistant('a1', 'u1', 'm1', makeToolUse('t1')),
      assistant('a2', 'a1', 'm2', makeTextBlock('meanwhile')),
      user('u2', 'a2', [result('t1')]),
    ]);
    expect(outline(messages)).toEqual(['user: task', 'assistant: t1', 'assistant: meanwhile', 'user: t1']);
  });

  it('accepts content that is a string, and messages without an ID', () => {
    const records = [
      user('u1', null, 'task'),
      makeOtherRecord('assistant', 'a1', 'u1', { message: { role: 'assistant', content: 'first' } }),
      makeOtherRecord('assistant', 'a2', 'a1', { message: { role: 'assistant', content: 'second' } }),
      makeOtherRecord('assistant', 'a3', 'a2', { message: { role: 'assistant', id: 'm', content: 'a' } }),
      makeOtherRecord('assistant', 'a4', 'a3', { message: { role: 'assistant', id: 'm', content: '' } }),
      makeOtherRecord('assistant', 'a5', 'a4', {
        message: { role: 'assistant', id: 'm', content: [makeTextBlock('b')] },
      }),
    ];
    expect(outline(readRecords(records).messages)).toEqual([
      'user: task',
      'assistant: first',
      'assistant: second',
      'assistant: a b',
    ]);
  });
});
