import { describe, expect, it } from 'vitest';
import type { ApiMessage } from './types';
import { assistant, call, makeToolExchange, result, text, user } from '../testing';
import { findOldMessages } from './zones';

describe('the zone of old messages', () => {
  const messages: ApiMessage[] = [
    { role: 'system', content: 's' },
    user('task'),
    ...makeToolExchange('a', 'Read', {}, 'x'),
    assistant('two calls', call('b', 'Read', {}), call('c', 'Read', {})),
    user(result('b', 'y')),
    user(result('c', 'z')),
    assistant('done'),
  ];
  const ends = (conversation: readonly ApiMessage[], ...keep: number[]): number[] =>
    keep.map((count) => findOldMessages(conversation, count).end);

  it('begins after the task and ends before the recent messages', () => {
    expect(findOldMessages(messages, 1)).toEqual({ start: 2, end: 7 });
    expect(findOldMessages(messages, 0)).toEqual({ start: 2, end: 8 });
    expect(findOldMessages(messages, 100)).toEqual({ start: 2, end: 2 });
    expect(findOldMessages([], 3)).toEqual({ start: 0, end: 0 });
  });

  it('never separates a call from its results, even in a second message', () => {
    expect(ends(messages, 2, 3, 4)).toEqual([4, 4, 4]);
  });

  it('never separates a call written as XML from its result', () => {
    const era = (answer: ApiMessage): ApiMessage[] => [
      user('task'),
      assistant('hm'),
      assistant('<read_file></read_file>'),
      answer,
    ];
    expect(ends(era(user(text('[read_file] Result:'), text('x'))), 1)).toEqual([2]);
    expect(ends(era(user('[read_file] Result:\nx')), 1)).toEqual([2]);
    expect(ends(era(user('no')), 1)).toEqual([3]);
  });
});
