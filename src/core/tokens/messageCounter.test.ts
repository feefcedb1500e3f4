import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { assistant, call, makeLines, result, text, user } from '../testing';
import type { Block } from '../messages/types';
import { MessageCounter } from './messageCounter';

/**
 * Creates a counter of characters, and a function that returns how often the counter was called.
 */
const setup = (): { counter: MessageCounter; asked: () => number } => {
  let asked = 0;
  const counter = new MessageCounter({
    count: (value) => {
      asked++;
      return value.length;
    },
  });
  return { counter, asked: () => asked };
};
const { counter } = setup();

describe('the token count of a block of a message', () => {
  it.each<[string, Block, number]>([
    ['a text', text('12345'), 5],
    ['thinking', { type: 'thinking', thinking: '123' }, 3],
    ['thinking whose text is empty', { type: 'thinking', thinking: '', signature: 'x'.repeat(2_720) }, 450],
    ['thinking whose text is a summary', { type: 'thinking', thinking: '123', signature: 'x'.repeat(2_720) }, 450],
    [
      "thinking with another vendor's short signature",
      { type: 'thinking', thinking: '123', signature: 'x'.repeat(64) },
      3,
    ],
    ['thinking with only a short signature', { type: 'thinking', thinking: '', signature: 'x'.repeat(64) }, 1],
    ['thinking without text or signature', { type: 'thinking', thinking: '', signature: '' }, 0],
    ['the longest thinking of an answer', { type: 'thinking', thinking: '', signature: 'x'.repeat(682_986) }, 128_000],
    [
      'thinking with a signature too long for an answer',
      { type: 'thinking', thinking: '123', signature: 'x'.repeat(1_000_000) },
      3,
    ],
    ['redacted thinking too long for an answer', { type: 'redacted_thinking', data: 'x'.repeat(1_000_000) }, 1],
    ['redacted thinking', { type: 'redacted_thinking', data: 'x'.repeat(2_720) }, 450],
    ['redacted thinking without data', { type: 'redacted_thinking' }, 1],
    [
      "OpenAI's encrypted reasoning too long for an answer",
      { type: 'openai_reasoning', item: { encrypted_content: 'x'.repeat(1_000_000) } },
      0,
    ],
    ["OpenAI's encrypted reasoning", { type: 'openai_reasoning', item: { encrypted_content: 'x'.repeat(2_000) } }, 213],
    ["OpenAI's reasoning without its content", { type: 'openai_reasoning', item: { summary: [] } }, 0],
    ['a call', call('id', 'Read', { a: 1 }), 8 + 4 + 7],
    ['a call without input', { type: 'tool_use', id: 'id', name: 'Read' }, 8 + 4 + 4],
    ['a result', result('id', '123'), 8 + 3],
    ['a result without content', result('id'), 8],
    ['a result of blocks', result('id', [text('12'), { type: 'image', source: {} }]), 8 + 2 + 1600],
    ['a result of strange parts', result('id', ['12', { result: '3' }] as unknown as Block[]), 8 + 4 + 14],
    ['an image', { type: 'image', source: {} }, 1600],
    ['a document of text', { type: 'document', source: { type: 'text', data: '1234' } }, 4],
    ['a PDF', { type: 'document', source: { type: 'base64', data: '' } }, 2250],
    ['a document elsewhere', { type: 'document', source: { type: 'url' } }, 43],
    ['an unknown block', { type: 'new', x: 1 }, 20],
    [
      'a file of OpenAI',
      { type: 'raw', part: { file: { file_data: `data:application/pdf;base64,JVBERi${'x'.repeat(9_000)}` } } },
      2250 + 47,
    ],
    ['a sound', { type: 'raw', part: { data: 'x'.repeat(9_000) } }, 1600 + 33],
    [
      'an image by its URL',
      { type: 'raw', part: { image_url: `data:image/png;base64,${'x'.repeat(9_000)}` } },
      1600 + 38,
    ],
    ['a short text in such a field', { type: 'raw', data: 'x'.repeat(100) }, 124],
    ['a long text in such a field', { type: 'raw', data: 'x '.repeat(5_000) }, 10_024],
  ])('is right for %s', (_, block, tokens) => {
    expect(counter.countBlock(block)).toBe(tokens);
  });
});

it('the token count of thinking is its text or what its signature contains, whichever is more', () => {
  const countThinking = (thinking: string, length: number): number =>
    counter.countBlock({ type: 'thinking', thinking, signature: 'x'.repeat(length) });
  fc.assert(
    fc.property(fc.string(), fc.nat(20_000), fc.nat(20_000), (thinking, one, other) => {
      const [short, long] = one < other ? [one, other] : [other, one];
      expect(countThinking(thinking, long)).toBe(Math.max(thinking.length, countThinking('', long)));
      expect(countThinking('', short)).toBeLessThanOrEqual(countThinking('', long));
      expect(countThinking('', long) > 0).toBe(long > 0);
    }),
  );
});

it("the token count of a message includes its blocks and the API's overhead", () => {
  expect(counter.countMessage(user('12'))).toBe(4 + 2);
  expect(counter.countMessages([user('12'), assistant('12', '3')])).toBe(6 + 7);
  expect(counter.countJson(undefined)).toBe(4);
});

describe('a cached token count', () => {
  it('is reused for the same object, and for another object with equal content', () => {
    const { counter, asked } = setup();
    const message = user(text(makeLines('a', 50)));
    const tokens = counter.countMessage(message);
    expect(counter.countMessage(message)).toBe(tokens);
    expect(counter.countMessage(structuredClone(message))).toBe(tokens);
    expect(asked()).toBe(1);
    counter.countMessage(user(text(makeLines('b', 50))));
    expect(asked()).toBe(2);
  });

  it('is dropped, oldest first, beyond 20,000 texts', () => {
    const { counter, asked } = setup();
    const makeText = (index: number): string => `${index} `.padEnd(520, 'x');
    for (let index = 0; index <= 20_000; index++) counter.countText(makeText(index));
    const before = asked();
    counter.countText(makeText(20_000));
    counter.countText(makeText(1));
    expect(asked()).toBe(before);
    counter.countText(makeText(0));
    expect(asked()).toBe(before + 1);
  });
});
