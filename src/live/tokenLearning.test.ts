import { describe, expect, it } from 'vitest';
import type { Usage } from '../core/cost/usage';
import type { LiveId, UpstreamModel } from './request';
import { createModel } from './testing';
import { TokenLearning, type AnsweredRequest } from './tokenLearning';

const usage = (inputTokens: number, source: Usage['source'] = 'reported'): Usage => ({
  accounting: 'anthropic',
  source,
  inputTokens,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
});

/** Creates a request with this many o200k tokens, all of which the server must read. */
const createAnsweredRequest = (
  countedTokens: number,
  changes: Partial<AnsweredRequest> = {},
  model: UpstreamModel = createModel(),
): AnsweredRequest => ({
  conversation: 'one' as LiveId,
  model,
  countedTokens,
  minReadTokens: countedTokens,
  ...changes,
});

describe("the factor learned between our token count and the model's", () => {
  it("is the model's default until the first answer", () => {
    const learning = new TokenLearning();
    expect(learning.getTokenFactor(createModel())).toBe(1);
    expect(learning.getTokenFactor(createModel({ tokenFactor: 1.5 }))).toBe(1.5);
    learning.learnFromAnswer(createAnsweredRequest(1_000), usage(2_000));
    expect(learning.getTokenFactor(createModel({ tokenFactor: 1.5 }))).toBe(2);
    expect(learning.getTokenFactor(createModel({ key: 'other', tokenFactor: 1.5 }))).toBe(1.5);
  });

  it('follows the answers within bounds', () => {
    const learning = new TokenLearning();
    learning.learnFromAnswer(createAnsweredRequest(1_000), usage(1_000));
    learning.learnFromAnswer(createAnsweredRequest(1_000), usage(2_000));
    expect(learning.getTokenFactor(createModel())).toBeCloseTo(1.3);
    for (let answer = 0; answer < 50; answer++) learning.learnFromAnswer(createAnsweredRequest(1_000), usage(100_000));
    expect(learning.getTokenFactor(createModel())).toBeCloseTo(5);
  });

  it('ignores counts that the vendor did not report, and short requests', () => {
    const learning = new TokenLearning();
    learning.learnFromAnswer(createAnsweredRequest(1_000), usage(3_000, 'counted'));
    learning.learnFromAnswer(createAnsweredRequest(100), usage(300));
    learning.learnFromAnswer(createAnsweredRequest(1_000), usage(0));
    expect(learning.getTokenFactor(createModel())).toBe(1);
  });
});

describe('the number of tokens that fit a request', () => {
  it('is the window minus a tenth and the reply, adjusted by the learned factor', () => {
    const learning = new TokenLearning();
    expect(learning.computeFittingTokens(createModel())).toBe(32_000);
    learning.learnFromAnswer(createAnsweredRequest(1_000), usage(2_000));
    expect(learning.computeFittingTokens(createModel())).toBe(16_000);
    expect(learning.computeFittingTokens(createModel({ contextWindow: 1_000 }))).toBe(375);
  });

  it('is lower than the size of a rejected request until a request of that size is accepted', () => {
    const learning = new TokenLearning();
    learning.learnFromRejection(createModel(), 20_000);
    learning.learnFromRejection(createModel(), 30_000);
    expect(learning.computeFittingTokens(createModel())).toBe(18_000);
    learning.learnFromAnswer(createAnsweredRequest(10_000), usage(10_000));
    expect(learning.computeFittingTokens(createModel())).toBe(18_000);
    learning.learnFromAnswer(createAnsweredRequest(20_000), usage(20_000));
    expect(learning.computeFittingTokens(createModel())).toBe(32_000);
  });
});

describe('a server that truncates prompts silently', () => {
  const learned = (learning: TokenLearning): number => learning.applyLearnedLimits(createModel()).contextWindow;

  // Regression: by default Ollama has a window of 4,096 tokens, and reads only half that many of a
  // longer prompt.
  it("is detected by two requests truncated to the same size, which don't affect the factor", () => {
    const learning = new TokenLearning();
    const model = createModel();
    expect(learning.learnFromAnswer(createAnsweredRequest(9_000), usage(2_050))).toBeUndefined();
    expect(learning.applyLearnedLimits(model)).toBe(model);
    expect(learning.learnFromAnswer(createAnsweredRequest(12_000), usage(2_050))).toBe(2_050);
    expect(learned(learning)).toBe(2_050);
    expect(learning.getTokenFactor(model)).toBe(1);
    // The limit is reported once.
    expect(learning.learnFromAnswer(createAnsweredRequest(15_000), usage(2_050))).toBeUndefined();
  });

  it('is detected by the content that must be read, even if other content is optional', () => {
    const learning = new TokenLearning();
    learning.learnFromAnswer(createAnsweredRequest(30_000, { minReadTokens: 9_000 }), usage(2_050));
    expect(learning.learnFromAnswer(createAnsweredRequest(33_000, { minReadTokens: 12_000 }), usage(2_050))).toBe(
      2_050,
    );
  });

  it('is not assumed if reported sizes grow or belong to different conversations', () => {
    const learning = new TokenLearning();
    for (const read of [2_000, 2_500, 3_000])
      expect(learning.learnFromAnswer(createAnsweredRequest(9_000), usage(read))).toBeUndefined();
    // Equal sizes in two conversations prove nothing, because conversations of subagents begin
    // alike.
    learning.learnFromAnswer(createAnsweredRequest(12_000, { conversation: 'two' as LiveId }), usage(3_000));
    expect(learned(learning)).toBe(40_000);
  });

  it('is distinguished from one that skips optional content, and neither changes the learned factor', () => {
    const learning = new TokenLearning();
    for (const more of [0, 3_000])
      learning.learnFromAnswer(createAnsweredRequest(50_000 + more, { minReadTokens: 20_000 + more }), usage(20_000));
    expect(learned(learning)).toBe(40_000);
    expect(learning.isCalibrated(createModel())).toBe(false);
  });

  it('is distinguished from one that reads equally much of nearly equal requests', () => {
    const learning = new TokenLearning();
    for (const counted of [50_000, 50_000, 50_200])
      learning.learnFromAnswer(createAnsweredRequest(counted), usage(20_000));
    expect(learned(learning)).toBe(40_000);
    learning.learnFromAnswer(createAnsweredRequest(50_600), usage(20_100));
    expect(learned(learning)).toBe(20_100);
  });

  it('is not assumed if the vendor was asked to read other content than was sent', () => {
    const learning = new TokenLearning();
    const otherwise = (counted: number): AnsweredRequest => {
      const { minReadTokens: _, ...request } = createAnsweredRequest(counted);
      return request;
    };
    for (const counted of [9_000, 12_000]) learning.learnFromAnswer(otherwise(counted), usage(2_050));
    learning.learnFromAnswer(otherwise(10_000), usage(30_000));
    expect(learned(learning)).toBe(40_000);
    expect(learning.isCalibrated(createModel())).toBe(false);
  });

  it('is assumed only until it reads more than its apparent limit', () => {
    const learning = new TokenLearning();
    for (const counted of [9_000, 12_000]) learning.learnFromAnswer(createAnsweredRequest(counted), usage(2_050));
    // This request has about the size of the apparent limit.
    learning.learnFromAnswer(createAnsweredRequest(2_060), usage(2_060));
    expect(learned(learning)).toBe(2_050);
    learning.learnFromAnswer(createAnsweredRequest(3_500), usage(3_600));
    expect(learned(learning)).toBe(40_000);
    learning.learnFromAnswer(createAnsweredRequest(3_500), usage(3_900));
    // A server that reads only half a window of a prompt that is too long reads more than that of a
    // prompt that fits.
    for (const counted of [20_000, 23_000]) learning.learnFromAnswer(createAnsweredRequest(counted), usage(2_050));
    expect(learned(learning)).toBe(3_900);
  });

  it('is assumed only until it reads more, after which the window that the vendor named applies', () => {
    const learning = new TokenLearning();
    learning.learnFromRejection(createModel(), 39_000, { limit: 30_000 });
    for (const counted of [9_000, 12_000]) learning.learnFromAnswer(createAnsweredRequest(counted), usage(2_050));
    expect(learned(learning)).toBe(2_050);
    learning.learnFromAnswer(createAnsweredRequest(3_500), usage(3_600));
    expect(learned(learning)).toBe(30_000);
    learning.learnFromAnswer(createAnsweredRequest(30_000), usage(31_000));
    expect(learned(learning)).toBe(30_000);
  });
});

describe('a cache of unknown lifetime', () => {
  const MINUTE = 60_000;
  const model = createModel({ cacheSpan: { warmMs: 30 * MINUTE, coldMs: 24 * 60 * MINUTE } });
  const answer = (read: number) => ({ ...usage(10_000), accounting: 'openai' as const, cacheReadTokens: read });

  it('counts as warm for as long as answers have shown, within the lifetimes that the vendor states', () => {
    const learning = new TokenLearning();
    expect(learning.getCacheLifespan(model)).toEqual(model.cacheSpan);
    learning.learnCacheLifespan(model, 90 * MINUTE, answer(9_000));
    expect(learning.getCacheLifespan(model)?.warmMs).toBe(90 * MINUTE);
    learning.learnCacheLifespan(model, 200 * MINUTE, answer(0));
    expect(learning.getCacheLifespan(model)).toEqual({ warmMs: 90 * MINUTE, coldMs: 200 * MINUTE });
    // A cache miss within the promised time has other reasons than expiry, and an answer that read
    // only a part from the cache says nothing.
    learning.learnCacheLifespan(model, 10 * MINUTE, answer(0));
    learning.learnCacheLifespan(model, 100 * MINUTE, answer(3_000));
    expect(learning.getCacheLifespan(model)).toEqual({ warmMs: 90 * MINUTE, coldMs: 200 * MINUTE });
    expect(learning.getCacheLifespan(createModel({ key: 'another' }))).toBeUndefined();
  });
});
