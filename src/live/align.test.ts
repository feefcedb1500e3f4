import { describe, expect, it } from 'vitest';
import { makeMessageKey } from '../core/messages/messageKey';
import type { ApiMessage } from '../core/messages/types';
import { assistant, call, result, user } from '../core/testing';
import { alignConversations, countCommonPrefix, type ConversationAlignment } from './align';
import { cloneAsJson } from './testing';

const aligned = (was: readonly ApiMessage[], is: readonly ApiMessage[]): ConversationAlignment =>
  alignConversations(was.map(makeMessageKey), is.map(makeMessageKey));

const CONVERSATION = [
  user('task'),
  assistant(call('a', 'Read')),
  user(result('a', 'one')),
  assistant('Now the other.'),
  user('go on'),
  assistant(call('b', 'Read')),
  user(result('b', 'two')),
];
const SAME = [0, 1, 2, 3, 4, 5, 6];

describe('aligning a conversation with its changed version', () => {
  it('is exact if the conversation has only grown', () => {
    expect(aligned(CONVERSATION, CONVERSATION)).toEqual({ places: SAME, isExact: true });
    expect(aligned(CONVERSATION, [...CONVERSATION, assistant('done')])).toEqual({ places: SAME, isExact: true });
    expect(aligned([], CONVERSATION)).toEqual({ places: [], isExact: true });
  });

  it('matches a result by its call, whatever its text', () => {
    const changed = CONVERSATION.with(2, user(result('a', 'another text')));
    expect(aligned(CONVERSATION, changed)).toEqual({ places: SAME, isExact: false });
  });

  it('finds no match for a text that has changed', () => {
    const changed = CONVERSATION.with(4, user('go on, please'));
    expect(aligned(CONVERSATION, changed).places).toEqual([0, 1, 2, 3, undefined, 5, 6]);
  });

  it('finds messages that moved, and texts between calls', () => {
    expect(aligned(CONVERSATION, CONVERSATION.toSpliced(1, 2)).places).toEqual([0, undefined, undefined, 1, 2, 3, 4]);
    expect(aligned(CONVERSATION, CONVERSATION.toSpliced(1, 0, assistant('new'))).places).toEqual([0, 2, 3, 4, 5, 6, 7]);
  });

  it('drops messages that were rolled back', () => {
    const back = [...CONVERSATION.slice(0, 4), user('another way')];
    expect(aligned(CONVERSATION, back).places).toEqual([0, 1, 2, 3, undefined, undefined, undefined]);
  });

  it('keeps the order of the messages', () => {
    const swapped = [0, 5, 6, 1, 2].map((index) => CONVERSATION[index] as ApiMessage);
    const { places } = aligned(CONVERSATION, swapped);
    const found = places.filter((place) => place !== undefined);
    expect(found).toEqual(found.toSorted((a, b) => a - b));
  });
});

describe('the common prefix of two conversations', () => {
  it('is compared by content, not by object', () => {
    expect(countCommonPrefix(CONVERSATION, cloneAsJson(CONVERSATION))).toBe(7);
    expect(countCommonPrefix(CONVERSATION, [...cloneAsJson(CONVERSATION).slice(0, 4), user('x')])).toBe(4);
    expect(countCommonPrefix([], CONVERSATION)).toBe(0);
  });

  it('ends at any difference', () => {
    const unlike: unknown[] = ['x', 1, null, [], [1], {}, { a: 1 }, { b: 1 }, { a: [1] }, { a: [1, 2] }];
    for (const [i, a] of unlike.entries()) {
      for (const [j, b] of unlike.entries()) {
        const messages = [a, b].map((input) => [assistant(call('a', 'T', input))]) as [ApiMessage[], ApiMessage[]];
        expect(countCommonPrefix(...messages)).toBe(i === j ? 1 : 0);
      }
    }
    const own = [{ role: 'user', content: 'x', toString: 'own' }] as const;
    expect(countCommonPrefix(own, [{ role: 'user', content: 'x', other: 'own' }])).toBe(0);
  });
});
