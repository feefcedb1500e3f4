import { expect, it } from 'vitest';
import { exchange, user } from '../testing';
import { conversationMemory, originalExchanges } from './conversationMemory';

const newList = (): number[] => [];

it("a conversation's cached data stays with it while it grows, and is not shared", () => {
  const messages = [user('task'), ...exchange('a', 'Read', {}, 'text')];
  conversationMemory(messages).part(newList).push(1);
  expect(conversationMemory([...messages, user('more')]).part(newList)).toEqual([1]);
  expect(conversationMemory(structuredClone(messages)).part(newList)).toEqual([]);
  expect(conversationMemory([]).part(newList)).toEqual([]);
});

it('a conversation that grows or diverges has the exchanges of its own messages', () => {
  const task = user('task');
  const rest = [...exchange('a', 'Read', {}, 'text'), ...exchange('b', 'Read', {}, 'text')];
  const idsOf = (...messages: typeof rest) =>
    originalExchanges([task, ...messages]).map(({ callMessage }) => callMessage);
  expect(idsOf(...rest.slice(0, 2))).toEqual([1]);
  expect(idsOf(...rest)).toEqual([1, 3]);
  expect(idsOf(...exchange('c', 'Read', {}, 'other'))).toEqual([1]);
});
