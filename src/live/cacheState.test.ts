import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Usage } from '../core/cost/usage';
import { makeLastAnsweredRequest, inferCacheState, MIN_CACHED_TOKENS, type LastAnsweredRequest } from './cacheState';
import { createModel } from './testing';
import { TokenLearning } from './tokenLearning';

const MINUTE = 60_000;
const SPAN = { warmMs: 5 * MINUTE, coldMs: 60 * MINUTE };
const usage = (changes: Partial<Usage> = {}): Usage => ({
  accounting: 'openai',
  source: 'reported',
  inputTokens: 88_396,
  outputTokens: 10,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  ...changes,
});
const READ = usage({ cacheReadTokens: 76_888 });
const ANTHROPIC = { accounting: 'anthropic' } as const;

/**
 * Returns the cache's state this long after a request with this usage; undefined means that no
 * request was answered.
 */
const inferStateAfter = (
  ms: number,
  usage: Usage | undefined,
  cacheSpan?: typeof SPAN | 'none',
  shouldRead = false,
) => {
  const model = createModel({ ...(cacheSpan && { cacheSpan }) });
  const answered = new Map([[model.key, makeLastAnsweredRequest(0, usage, shouldRead)]]);
  return inferCacheState(model, new TokenLearning().getCacheLifespan(model), answered, ms);
};

describe("the state of a conversation's prompt cache", () => {
  it.each([
    ['warm for as long as the vendor promises', inferStateAfter(4 * MINUTE, READ, SPAN), 'warm', 'vendor'],
    ['unknown after the promised time', inferStateAfter(5 * MINUTE, READ, SPAN), 'unknown', 'between'],
    ['cold once the vendor has surely forgotten', inferStateAfter(60 * MINUTE, READ, SPAN), 'cold', 'vendor'],
    ['unknown if no lifetime is stated, even if the answer read from it', inferStateAfter(1, READ), 'unknown', 'span'],
    [
      'unknown if the answer should have read from it and did not',
      inferStateAfter(1, usage(), SPAN, true),
      'unknown',
      'missed',
    ],
    ['warm if a first answer read nothing', inferStateAfter(1, usage(), SPAN), 'warm', 'vendor'],
    ['none if nothing was read or written', inferStateAfter(1, usage(ANTHROPIC), SPAN), 'none', 'answers'],
    [
      'warm if it was written',
      inferStateAfter(1, usage({ ...ANTHROPIC, cacheWriteTokens: 9 }), SPAN),
      'warm',
      'vendor',
    ],
    [
      'warm after a short prompt',
      inferStateAfter(1, usage({ ...ANTHROPIC, inputTokens: 100 }), SPAN),
      'warm',
      'vendor',
    ],
    [
      'warm if the usage was only counted',
      inferStateAfter(1, usage({ source: 'counted' }), SPAN, true),
      'warm',
      'vendor',
    ],
    ['none if the model has none', inferStateAfter(1, undefined, 'none'), 'none', 'model'],
    ['unknown if a model without one read from it', inferStateAfter(1, READ, 'none'), 'unknown', 'span'],
  ] as const)('is %s', (_, state, word, basis) => {
    expect(state).toMatchObject({ state: word, basis });
  });

  it('is unknown before the first answer, and cold for a new model', () => {
    const model = createModel({ cacheSpan: SPAN });
    expect(inferCacheState(model, SPAN, new Map(), 0)).toEqual({ state: 'unknown', basis: 'not-answered' });
    const other = new Map<string, LastAnsweredRequest>([['another', { began: 0, shows: 'nothing' }]]);
    expect(inferCacheState(model, SPAN, other, 1)).toEqual({ state: 'cold', basis: 'other-model' });
    expect(inferCacheState(createModel(), undefined, other, 1)).toEqual({ state: 'unknown', basis: 'not-answered' });
  });

  it("is unknown for a model that may have answered before a restart, until the cache's maximum lifetime has passed", () => {
    const model = createModel({ cacheSpan: SPAN });
    const other = new Map<string, LastAnsweredRequest>([['another', { began: 10, shows: 'nothing' }]]);
    const inferStateAfter = (ms: number) => inferCacheState(model, SPAN, other, 10 + ms, 10);
    expect(inferStateAfter(0)).toEqual({ state: 'unknown', basis: 'not-answered' });
    expect(inferStateAfter(SPAN.coldMs - 1)).toEqual({ state: 'unknown', basis: 'not-answered' });
    expect(inferStateAfter(SPAN.coldMs)).toEqual({ state: 'cold', basis: 'other-model' });
  });

  it("is warm for as long as an earlier answer shows if the model's cache lifetime is unknown", () => {
    const learning = new TokenLearning();
    const model = createModel();
    learning.learnCacheLifespan(model, 50_000, READ);
    learning.learnCacheLifespan(model, 1_000, usage());
    const answered = new Map([[model.key, makeLastAnsweredRequest(0, READ, true)]]);
    const at = (ms: number) => inferCacheState(model, learning.getCacheLifespan(model), answered, ms);
    expect(at(49_000)).toEqual({ state: 'warm', basis: 'answers', ageMs: 49_000, spanMs: 50_000 });
    expect(at(51_000)).toMatchObject({ state: 'unknown', basis: 'span', read: { tokens: 76_888, of: 88_396 } });
  });

  it('is neither “cold” nor “none” for a model of unknown cache lifetime that has read from it', () => {
    const tokens = fc.integer({ min: 1, max: 1_000_000 });
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.nat(1e8), tokens, fc.nat(1_000_000)), { minLength: 1 }),
        fc.constantFrom('anthropic' as const, 'openai' as const),
        fc.constantFrom(undefined, 'none' as const),
        fc.nat(1e9),
        (answers, accounting, cacheSpan, later) => {
          const learning = new TokenLearning();
          const model = createModel({ ...(cacheSpan && { cacheSpan }) });
          const answered = new Map<string, LastAnsweredRequest>();
          let now = 0;
          for (const [ageMs, inputTokens, missed] of [...answers, [1, MIN_CACHED_TOKENS, 0] as const]) {
            const read = missed % 2 === 0 ? Math.ceil(inputTokens / 2) : 0;
            const reported = usage({ accounting, inputTokens, cacheReadTokens: read });
            now += ageMs;
            if (answered.size > 0) learning.learnCacheLifespan(model, ageMs, reported);
            answered.set(model.key, makeLastAnsweredRequest(now, reported, true));
          }
          const { state } = inferCacheState(model, learning.getCacheLifespan(model), answered, now + later);
          expect(['warm', 'unknown']).toContain(state);
        },
      ),
    );
  });

  it('is cold only after the maximum lifetime, and warm only within the guaranteed lifetime', () => {
    fc.assert(
      fc.property(fc.nat(1e8), fc.nat(1e8), fc.nat(3e8), (warmMs, more, ageMs) => {
        const { state } = inferStateAfter(ageMs, READ, { warmMs, coldMs: warmMs + more });
        expect(state).toBe(ageMs < warmMs ? 'warm' : ageMs >= warmMs + more ? 'cold' : 'unknown');
      }),
    );
  });
});
