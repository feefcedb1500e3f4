import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ApiMessage } from '../messages/types';
import { createCounter } from '../testingCounter';
import {
  type FillLevel,
  chooseLikelyWindow,
  estimateCondensedFill,
  estimateFillOfCopy,
  formatFillChange,
  computeFillLevel,
  formatFillSentence,
  formatFillShare,
  formatFillTokens,
  formatMessageTokens,
} from './fillLevel';
import { findLastRequestInHistory, type LastRequest, type RecordedRequests } from './recordedRequest';

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
  it('is the size of the last recorded request, including cached tokens, plus its answer', () => {
    const fill = computeFillLevel(
      messages,
      model,
      last({ usage: usage(10, 40), messagesSince: 0 }),
      createCounter(),
      0,
    );
    expect(fill).toEqual({ tokens: 1_150, window: 200_000, isRecorded: true });
  });

  it("includes later messages, counted in the model's tokens", () => {
    const counter = createCounter();
    const fill = computeFillLevel(messages, model, last({ usage: usage(10, 40), messagesSince: 2 }), counter, 0);
    expect(fill.tokens).toBe(1_150 + Math.round(1.5 * counter.countMessages(messages.slice(1))));
  });

  it("is our own token count, times the model's factor, if no request is recorded", () => {
    const counter = createCounter();
    const counted = Math.round(1.5 * counter.countMessages(messages));
    const expected = { tokens: counted + 150, window: 200_000, isRecorded: false };
    expect(computeFillLevel(messages, model, undefined, counter, 100)).toEqual(expected);
    expect(computeFillLevel(messages, model, last({ usage: usage(10, 40) }), counter, 100)).toEqual(expected);
    expect(computeFillLevel(messages, model, last({ messagesSince: 0 }), counter, 100)).toEqual(expected);
  });

  it("uses the window that the agent reported rather than the price table's", () => {
    const named = last({ usage: usage(10, 40), messagesSince: 0, window: 258_400 });
    expect(computeFillLevel(messages, model, named, createCounter(), 0).window).toBe(258_400);
  });

  it('never says that an answered request did not fit', () => {
    expect(chooseLikelyWindow(516_627, 200_000, 'claude-opus-4-8')).toEqual({ window: 1_000_000 });
    expect(chooseLikelyWindow(516_627, 200_000, 'other')).toEqual({});
    fc.assert(
      fc.property(fc.nat(2_000_000), fc.nat(2_000_000), fc.constantFrom('claude-x', 'gpt-x', undefined), (a, b, id) => {
        expect(chooseLikelyWindow(a, b, id).window ?? a).toBeGreaterThanOrEqual(a);
      }),
    );
  });
});

const recordedFill: FillLevel = { tokens: 606_957, window: 1_000_000, isRecorded: true, tokenFactor: 1.5 };

describe('the fill level with condensed messages', () => {
  it('is the total less what was removed, in the model’s tokens', () => {
    const condensed = estimateCondensedFill(recordedFill, 269_057, 203_016);
    expect(condensed).toEqual({ ...recordedFill, tokens: 606_957 - Math.round(1.5 * 66_041) + 1, isRecorded: false });
    expect(formatFillChange(recordedFill, condensed, 200_000)).toBe('61% → ≈ 51% full');
  });

  it('of a copy equals that of the condensed original, although the agent adds its lists to the copy again', () => {
    const original = { fill: recordedFill, tokens: 269_057, renewed: 4_576 };
    const copy = estimateFillOfCopy(original, 203_016 - 4_576);
    expect(copy.tokens).toBe(estimateCondensedFill(recordedFill, 269_057, 203_016).tokens);
    expect(formatFillSentence(copy)).toMatch(
      /^≈ 51% full: ≈ 507,896 of 1,000,000 tokens, estimated from the original’s last request, with 4,576 of lists/,
    );
  });

  it('is never negative, never grows as more is removed, and is the recorded level if nothing is removed', () => {
    const fill = fc.record(
      {
        tokens: fc.nat(2_000_000),
        isRecorded: fc.boolean(),
        window: fc.nat(1_000_000),
        tokenFactor: fc.double({ min: 0.5, max: 3, noNaN: true }),
      },
      { requiredKeys: ['tokens', 'isRecorded'] },
    );
    fc.assert(
      fc.property(fill, fc.nat(1_000_000), fc.nat(1_000_000), fc.nat(1_000_000), (before, counted, one, other) => {
        const [less, more] = [one % (counted + 1), other % (counted + 1)].toSorted((a, b) => a - b) as [number, number];
        const of = (after: number): number => estimateCondensedFill(before, counted, after).tokens;
        expect(of(counted)).toBe(before.tokens);
        expect(of(less)).toBeLessThanOrEqual(of(more));
        expect(of(more)).toBeLessThanOrEqual(before.tokens);
        expect(of(less)).toBeGreaterThanOrEqual(0);
        // An unknown window stays unknown.
        expect(estimateCondensedFill(before, counted, less).window).toBe(before.window);
      }),
    );
  });
});

it('a size in tokens says how many tokens the vendor counts, if these differ', () => {
  expect(formatMessageTokens(269_057, recordedFill)).toBe('269,057 tokens (≈ 403,586 as the vendor counts)');
  expect(formatMessageTokens(600_000)).toBe('600,000 tokens');
});

describe('the last recorded request', () => {
  const recorded = (fields: Partial<RecordedRequests>): RecordedRequests => ({
    requests: [{ purpose: 'answer', usage: usage(1, 1), message: 4 }],
    compactions: [],
    ...fields,
  });

  it('includes how many messages follow its answer', () => {
    expect(findLastRequestInHistory(recorded({}), 7)?.messagesSince).toBe(2);
  });

  it('says nothing about the window after a later compaction, even if the compaction kept its answer', () => {
    const requests = [{ purpose: 'answer' as const, usage: usage(1, 1), message: 4, at: 1_000 }];
    const since = (at: number): unknown =>
      findLastRequestInHistory({ requests, compactions: [{ message: 3, at }] }, 7)?.messagesSince;
    expect([since(2_000), since(500)]).toEqual([undefined, 2]);
  });

  it('says nothing about the window after the conversation was compacted', () => {
    expect(findLastRequestInHistory(recorded({ compactions: [{ message: 5 }] }), 7)?.messagesSince).toBeUndefined();
    expect(findLastRequestInHistory(recorded({ compactions: [{ message: 3 }] }), 7)?.messagesSince).toBe(2);
  });
});

it('the fill level is described as the agent’s figure, or as our estimate', () => {
  const exact = { tokens: 516_627, window: 1_000_000, isRecorded: true };
  expect(formatFillShare(exact, 200_000)).toBe('52%');
  expect(formatFillTokens(exact)).toBe('516,627 of 1,000,000 tokens');
  expect(formatFillSentence(exact)).toBe(
    '52% full: 516,627 of 1,000,000 tokens, by the last recorded request and its answer, with instructions and tools, as the vendor counts',
  );
  expect(formatFillShare({ ...exact, isRecorded: false }, 200_000)).toBe('≈ 52%');
  const windowless = { tokens: 100_000, isRecorded: true };
  expect(formatFillShare(windowless, 200_000)).toBe('≈ 50%');
  expect(formatFillTokens(windowless)).toBe('100,000 tokens');
  expect(formatFillSentence({ tokens: 100, isRecorded: false })).toBe(
    '≈ 100 tokens of a window that is not known, estimated from its file, since no request with these messages was recorded; what the file lacks, such as instructions and tools, comes on top',
  );
  expect(formatFillSentence({ tokens: 100, isRecorded: false }, 200)).toBe(
    '≈ 50% full: ≈ 100 tokens of a window taken as 200, estimated from its file, since no request with these messages was recorded; what the file lacks, such as instructions and tools, comes on top',
  );
});

it('a change of the fill level that its percentages do not show is described as “still … full”', () => {
  const before = { tokens: 112_000, window: 1_000_000, isRecorded: true };
  const change = (tokens: number): string =>
    formatFillChange(before, { ...before, tokens, isRecorded: false }, 200_000);
  expect(change(108_000)).toBe('still ≈ 11% full');
  expect(change(60_000)).toBe('11% → ≈ 6% full');
});
