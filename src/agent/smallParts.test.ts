import { describe, expect, it } from 'vitest';
import { ApiError } from '../api/apiError';
import { MessageCounter } from '../core/tokens/messageCounter';
import { user } from '../core/testing';
import { withCacheMarks } from './cacheMarks';
import { chatError } from './chatError';
import { Failures } from './failures';
import { isSmallRequest } from './smallRequests';
import { TokenCounts } from './tokenCounts';
import { titleOfChat } from './userRequest';

describe('failures', () => {
  const failure = (kind: 'overloaded' | 'auth'): ApiError => new ApiError(kind, { name: 'P' });

  it('the same request within seconds is a repetition, three times', () => {
    let now = 0;
    const failures = new Failures(() => now);
    expect(failures.attempt('r').kind).toBe('first');
    failures.failed('r', failure('overloaded'));
    for (let time = 0; time < 3; time++) {
      expect(failures.attempt('r').kind).toBe('repetition');
      failures.failed('r', failure('overloaded'));
    }
    expect(failures.attempt('r').kind).toBe('first');
    failures.failed('r', failure('auth'));
    expect(failures.attempt('r')).toMatchObject({ kind: 'hopeless', error: { kind: 'auth' } });
    expect(failures.attempt('other').kind).toBe('first');
    now = 31_000;
    expect(failures.attempt('r').kind).toBe('first');
    failures.failed('r', failure('overloaded'));
    failures.succeeded('r');
    expect(failures.attempt('r').kind).toBe('first');
  });
});

describe('cache marks', () => {
  const messages = [user('a'), user('b'), user('c'), user('d'), user({ type: 'thinking', thinking: 'x' })];
  const tools = [
    { name: 'x', input_schema: {} },
    { name: 'y', input_schema: {} },
  ];
  const marksOf = (value: unknown): number => JSON.stringify(value).split('cache_control').length - 1;

  it('are at most four, the first and the newest of the messages', () => {
    const marked = withCacheMarks({ system: 'S', tools, messages }, [3, 0, 1, 2, 4, 9], '1h');
    expect(marksOf(marked)).toBe(4);
    expect(marked.messages.map(marksOf)).toEqual([1, 0, 1, 1, 0]);
    expect(marked.system).toEqual([{ type: 'text', text: 'S', cache_control: { type: 'ephemeral', ttl: '1h' } }]);
    expect(marksOf(marked.tools)).toBe(0);
  });

  it('stand at the tools too where one is left, and at the tools where there is no system prompt', () => {
    expect(marksOf(withCacheMarks({ system: 'S', tools, messages }, [1], '5m').tools)).toBe(1);
    const bare = withCacheMarks({ tools, messages }, [0, 1, 2, 3], '5m');
    expect([marksOf(bare.tools), marksOf(bare)]).toEqual([1, 4]);
    expect(marksOf(withCacheMarks({ messages }, [0, 1, 2, 3], '5m'))).toBe(4);
    expect(marksOf(withCacheMarks({ system: [{ type: 'text', text: 'S' }], messages }, [], '5m'))).toBe(1);
  });

  it('are none where the profile says so', () => {
    const request = { system: 'S', messages };
    expect(withCacheMarks(request, [0], 'none')).toBe(request);
  });
});

it('small requests have no tools, or the system text of a summary', () => {
  expect(isSmallRequest('You are an agent', [])).toBe(true);
  expect(
    isSmallRequest('\nYour task is to create a comprehensive, detailed summary of the entire conversation so', [{}]),
  ).toBe(true);
  expect(isSmallRequest('You are an agent', [{}])).toBe(false);
  expect(isSmallRequest(undefined, [{}])).toBe(false);
});

it('a title is what the user typed', () => {
  const request = (words: string) =>
    user({ type: 'text', text: `<context>x</context><userRequest>\n${words}\n</userRequest>` });
  expect(titleOfChat([user({ type: 'text', text: '<environment_info/>' }), request('Fix the bug')])).toBe(
    'Fix the bug',
  );
  expect(titleOfChat([request(' '), request('Then this')])).toBe('Then this');
  expect(titleOfChat([{ role: 'assistant', content: 'no' }, user('plain')])).toBeUndefined();
});

it('an error that is none is told as well', () => {
  expect(chatError('words')).toMatchObject({ message: 'words', stack: '' });
});

it('what was counted is not counted again, and the memory is bounded', () => {
  let counted = 0;
  const counts = new TokenCounts(new MessageCounter({ count: (text) => (counted++, text.length) }));
  for (let time = 0; time < 3; time++) counts.text('a schema', 2);
  expect(counted).toBe(1);
  expect(counts.text('a schema', 2)).toBe(16);
  const long = 'x'.repeat(10_000);
  for (let time = 0; time < 3; time++) counts.text(long, 1);
  expect(counted).toBe(2);
  for (let number = 0; number < 20_001; number++) counts.text(`text ${number}`, 1);
  counts.text('a schema', 1);
  expect(counted).toBe(2 + 20_001 + 1);
});
