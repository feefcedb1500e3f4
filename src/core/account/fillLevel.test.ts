import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ApiMessage } from '../messages/types';
import { createCounter } from '../testingCounter';
import { fillLevel, fillSentence, fillShare, fillTokens, chooseWindow } from './fillLevel';
import { findLastRequest, type LastRequest, type RecordedRequests } from './recordedRequest';

const said = (text: string): ApiMessage => ({ role: 'user', content: text });
const messages = [said('one two three'), said('four'), said('five six')];
const usage = (inputTokens: number, outputTokens: number) =>
  ({
    accounting: 'anthropic',
    source: 'reported',
    inputTokens,
    outputTokens,
    cacheReadTokens: 1_000,
    cacheWriteTokens: 100,
  }) as const;
const last = (fields: Partial<LastRequest>): LastRequest => ({ purpose: 'answer', ...fields });
const model = { tokenFactor: 1.5, window: 200_000 };

describe('the fill level of the window', () => {
  it('is the last recorded request, including cached tokens, and its answer', () => {
    const fill = fillLevel(messages, model, last({ usage: usage(10, 40), messagesSince: 0 }), createCounter(), 0);
    expect(fill).toEqual({ tokens: 1_150, window: 200_000, isRecorded: true });
  });

  it("adds later messages in the model's tokens", () => {
    const counter = createCounter();
    const fill = fillLevel(messages, model, last({ usage: usage(10, 40), messagesSince: 2 }), counter, 0);
    expect(fill.tokens).toBe(1_150 + Math.round(1.5 * counter.countMessages(messages.slice(1))));
  });

  it("is our own count, times the model's factor, if no request is recorded", () => {
    const counter = createCounter();
    const counted = Math.round(1.5 * counter.countMessages(messages));
    const expected = { tokens: counted + 150, window: 200_000, isRecorded: false };
    expect(fillLevel(messages, model, undefined, counter, 100)).toEqual(expected);
    expect(fillLevel(messages, model, last({ usage: usage(10, 40) }), counter, 100)).toEqual(expected);
    expect(fillLevel(messages, model, last({ messagesSince: 0 }), counter, 100)).toEqual(expected);
  });

  it('uses the window that the agent reported before that of the price table', () => {
    const named = last({ usage: usage(10, 40), messagesSince: 0, window: 258_400 });
    expect(fillLevel(messages, model, named, createCounter(), 0).window).toBe(258_400);
  });

  it('never says that an answered request did not fit', () => {
    expect(chooseWindow(516_627, 200_000, 'claude-opus-4-8')).toEqual({ window: 1_000_000 });
    expect(chooseWindow(516_627, 200_000, 'other')).toEqual({});
    fc.assert(
      fc.property(fc.nat(2_000_000), fc.nat(2_000_000), fc.constantFrom('claude-x', 'gpt-x', undefined), (a, b, id) => {
        expect(chooseWindow(a, b, id).window ?? a).toBeGreaterThanOrEqual(a);
      }),
    );
  });
});

describe('the last recorded request', () => {
  const recorded = (fields: Partial<RecordedRequests>): RecordedRequests => ({
    requests: [{ purpose: 'answer', usage: usage(1, 1), message: 4 }],
    compactions: [],
    ...fields,
  });

  it('includes how many messages follow its answer', () => {
    expect(findLastRequest(recorded({}), 7)?.messagesSince).toBe(2);
  });

  it('says nothing about the window if a later compaction kept its answer', () => {
    const requests = [{ purpose: 'answer' as const, usage: usage(1, 1), message: 4, at: 1_000 }];
    const since = (at: number): unknown =>
      findLastRequest({ requests, compactions: [{ message: 3, at }] }, 7)?.messagesSince;
    expect([since(2_000), since(500)]).toEqual([undefined, 2]);
  });

  it('says nothing about the window once the conversation was compacted', () => {
    expect(findLastRequest(recorded({ compactions: [{ message: 5 }] }), 7)?.messagesSince).toBeUndefined();
    expect(findLastRequest(recorded({ compactions: [{ message: 3 }] }), 7)?.messagesSince).toBe(2);
  });
});

it('the fill level is described as the agent’s figure, or as our estimate', () => {
  const exact = { tokens: 516_627, window: 1_000_000, isRecorded: true };
  expect(fillShare(exact, 200_000)).toBe('52%');
  expect(fillTokens(exact)).toBe('516,627 of 1,000,000 tokens');
  expect(fillSentence(exact)).toBe(
    '52% full: 516,627 of 1,000,000 tokens, by the last recorded request with its instructions and tools, as the vendor counts',
  );
  expect(fillShare({ ...exact, isRecorded: false }, 200_000)).toBe('≈ 52%');
  const windowless = { tokens: 100_000, isRecorded: true };
  expect(fillShare(windowless, 200_000)).toBe('≈ 50%');
  expect(fillTokens(windowless)).toBe('100,000 tokens');
  expect(fillSentence({ tokens: 100, isRecorded: false })).toBe(
    '≈ 100 tokens, estimated, since no request was recorded, of a window that is not known',
  );
  expect(fillSentence({ tokens: 100, isRecorded: false }, 200)).toBe(
    '≈ 50% full: ≈ 100 tokens, estimated, since no request was recorded, of a window taken as 200 tokens',
  );
});
