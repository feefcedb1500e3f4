import fc from 'fast-check';
import { expect, it } from 'vitest';
import { isPlausibleUsage, countPromptTokens, type Usage } from '../cost/usage';
import { selectRecordedRequests, type RecordedRequest } from './recordedRequest';

const anyNumber = fc.oneof(
  fc.integer({ min: 0, max: 200_000 }),
  fc.constant(0),
  fc.constantFrom(Number.NaN, Infinity, -1, 1e308, 2e9),
);
const anyUsage: fc.Arbitrary<Usage> = fc.record({
  accounting: fc.constantFrom('anthropic', 'openai'),
  source: fc.constant('reported'),
  inputTokens: anyNumber,
  outputTokens: anyNumber,
  cacheReadTokens: anyNumber,
  cacheWriteTokens: anyNumber,
});
const anyRequest: fc.Arbitrary<RecordedRequest> = fc.record(
  {
    usage: anyUsage,
    outputTokens: anyNumber,
    recordedCost: anyNumber,
    window: anyNumber,
    message: fc.nat(9),
    purpose: fc.constant('answer'),
  },
  { requiredKeys: ['purpose'] },
);

/** A request without tokens was rejected, or its server doesn't count tokens. */
const isSomething = (usage: Usage): boolean => countPromptTokens(usage) > 0 || usage.outputTokens > 0;

it('every recorded request is kept, but without its impossible numbers', () => {
  fc.assert(
    fc.property(fc.array(anyRequest), (requests) => {
      const { recorded } = selectRecordedRequests(
        'all',
        { requests, compactions: [{ message: 1, tokensBefore: 1e308 }] },
        9,
      );
      const kept = recorded?.requests ?? [];
      expect(kept).toHaveLength(requests.length);
      for (const [at, { usage, isOdd, ...rest }] of kept.entries()) {
        const before = requests[at]?.usage;
        const isSound = before !== undefined && isPlausibleUsage(before);
        expect(usage).toEqual(isSound && isSomething(before) ? before : undefined);
        expect(isOdd === true).toBe(before !== undefined && !isSound);
        for (const value of Object.values(rest)) {
          if (typeof value === 'number') expect(value >= 0 && value <= 1e9).toBe(true);
        }
      }
      expect(recorded?.compactions).toEqual([{ message: 1 }]);
    }),
  );
});

it.each([1e15, Infinity, -1])(
  'the usage of a request with an impossible number of web searches (%d) is unknown',
  (webSearches) => {
    const usage: Usage = {
      accounting: 'anthropic',
      source: 'reported',
      inputTokens: 1,
      outputTokens: 1,
      cacheReadTokens: 0,
      cacheWriteTokens: 0,
    };
    const requests: RecordedRequest[] = [{ usage, service: { webSearches }, purpose: 'answer' }];
    const { recorded } = selectRecordedRequests('all', { requests, compactions: [] }, 9);
    expect(recorded?.requests).toEqual([{ isOdd: true, purpose: 'answer' }]);
  },
);

it.each([1e308, Infinity, Number.NaN, -1])(
  'a session total with an impossible number of tokens (%d) is ignored',
  (inputTokens) => {
    const usage: Usage = {
      accounting: 'anthropic',
      source: 'reported',
      inputTokens,
      outputTokens: 1,
      cacheReadTokens: 0,
      cacheWriteTokens: 0,
    };
    const totals = [{ after: 0, compactions: 0, models: [{ model: 'm', usage, requests: 1 }] }];
    const { recorded } = selectRecordedRequests('all', { requests: [], compactions: [], totals }, 9);
    expect(recorded?.totals?.[0]?.models).toEqual([]);
  },
);
