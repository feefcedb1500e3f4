import { expect, it } from 'vitest';
import { makeToolExchange, user } from '../testing';
import { getConversationMemory, listOriginalExchanges } from './conversationMemory';

const newList = (): number[] => [];

it("a conversation's cached data stays with it while it grows, and is not shared with an equal copy", () => {
  const messages = [user('task'), ...makeToolExchange('a', 'Read', {}, 'text')];
  getConversationMemory(messages).getOrCreate(newList).push(1);
  expect(getConversationMemory([...messages, user('more')]).getOrCreate(newList)).toEqual([1]);
  expect(getConversationMemory(structuredClone(messages)).getOrCreate(newList)).toEqual([]);
  expect(getConversationMemory([]).getOrCreate(newList)).toEqual([]);
});

it('a conversation that grows or diverges has only the tool calls of its own messages', () => {
  const task = user('task');
  const rest = [...makeToolExchange('a', 'Read', {}, 'text'), ...makeToolExchange('b', 'Read', {}, 'text')];
  const idsOf = (...messages: typeof rest) =>
    listOriginalExchanges([task, ...messages]).map(({ callMessage }) => callMessage);
  expect(idsOf(...rest.slice(0, 2))).toEqual([1]);
  expect(idsOf(...rest)).toEqual([1, 3]);
  expect(idsOf(...makeToolExchange('c', 'Read', {}, 'other'))).toEqual([1]);
});
