import { describe, expect, it } from 'vitest';
import type { Usage } from '../core/cost/usage';
import { upstream } from './testing';
import { TokenLearning } from './tokenLearning';

const usage = (inputTokens: number, source: Usage['source'] = 'reported'): Usage => ({
  accounting: 'anthropic',
  source,
  inputTokens,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
});

describe('the token factor', () => {
  it('is the model’s own until an answer tells', () => {
    const learning = new TokenLearning();
    expect(learning.factor(upstream())).toBe(1);
    expect(learning.factor(upstream({ tokenFactor: 1.5 }))).toBe(1.5);
    learning.answered(upstream(), 1_000, usage(2_000));
    expect(learning.factor(upstream({ tokenFactor: 1.5 }))).toBe(2);
    expect(learning.factor(upstream({ key: 'other', tokenFactor: 1.5 }))).toBe(1.5);
  });

  it('moves with the answers, within bounds', () => {
    const learning = new TokenLearning();
    learning.answered(upstream(), 1_000, usage(1_000));
    learning.answered(upstream(), 1_000, usage(2_000));
    expect(learning.factor(upstream())).toBeCloseTo(1.3);
    for (let answer = 0; answer < 50; answer++) learning.answered(upstream(), 1_000, usage(100_000));
    expect(learning.factor(upstream())).toBeCloseTo(5);
  });

  it('is not learned from what was counted here, from short requests, or from nothing', () => {
    const learning = new TokenLearning();
    learning.answered(upstream(), 1_000, usage(3_000, 'counted'));
    learning.answered(upstream(), 100, usage(300));
    learning.answered(upstream(), 1_000, usage(0));
    expect(learning.factor(upstream())).toBe(1);
  });
});

describe('what fits', () => {
  it('is the window less a tenth and the reply, by the factor', () => {
    const learning = new TokenLearning();
    expect(learning.fitting(upstream())).toBe(32_000);
    learning.answered(upstream(), 1_000, usage(2_000));
    expect(learning.fitting(upstream())).toBe(16_000);
    expect(learning.fitting(upstream({ contextWindow: 1_000 }))).toBe(375);
  });

  it('is less than what was refused, until as much is taken', () => {
    const learning = new TokenLearning();
    learning.refused(upstream(), 20_000);
    learning.refused(upstream(), 30_000);
    expect(learning.fitting(upstream())).toBe(18_000);
    learning.answered(upstream(), 10_000, usage(10_000));
    expect(learning.fitting(upstream())).toBe(18_000);
    learning.answered(upstream(), 20_000, usage(20_000));
    expect(learning.fitting(upstream())).toBe(32_000);
  });
});

describe('a server that cuts without a word', () => {
  // Number 10 of issue N: Ollama's default of 4,096 tokens, half of which it keeps of a prompt that is longer.
  it('is known by two requests that were cut to one size; the factor learns nothing of it', () => {
    const learning = new TokenLearning();
    const model = upstream();
    expect(learning.answered(model, 9_000, usage(2_050))).toBeUndefined();
    expect(learning.known(model)).toBe(model);
    expect(learning.answered(model, 12_000, usage(2_050))).toBe(2_050);
    expect(learning.known(model).contextWindow).toBe(2_050);
    expect(learning.factor(model)).toBe(1);
    // Told once.
    expect(learning.answered(model, 15_000, usage(2_050))).toBeUndefined();
  });

  it('is not what images, cached tokens that nobody counts, or growing reports look like', () => {
    const learning = new TokenLearning();
    for (const read of [2_000, 2_500, 3_000]) {
      expect(learning.answered(upstream(), 9_000, usage(read))).toBeUndefined();
    }
    learning.answered(upstream(), 9_000, usage(2_000), true);
    expect(learning.answered(upstream(), 9_900, usage(2_000), true)).toBeUndefined();
    expect(learning.known(upstream()).contextWindow).toBe(40_000);
  });
});

describe('a cache', () => {
  const MINUTE = 60_000;
  const model = upstream({ cacheSpan: { warmMs: 30 * MINUTE, coldMs: 24 * 60 * MINUTE } });
  const answer = (read: number) => ({ ...usage(10_000), accounting: 'openai' as const, cacheReadTokens: read });

  it('is as warm as answers show it, within what the vendor promises', () => {
    const learning = new TokenLearning();
    expect(learning.cacheSpan(model)).toEqual(model.cacheSpan);
    learning.cacheAnswered(model, 90 * MINUTE, answer(9_000));
    expect(learning.cacheSpan(model)?.warmMs).toBe(90 * MINUTE);
    learning.cacheAnswered(model, 200 * MINUTE, answer(0));
    expect(learning.cacheSpan(model)).toEqual({ warmMs: 90 * MINUTE, coldMs: 200 * MINUTE });
    // A miss within the promise has other reasons, and one that read half says nothing.
    learning.cacheAnswered(model, 10 * MINUTE, answer(0));
    learning.cacheAnswered(model, 100 * MINUTE, answer(3_000));
    expect(learning.cacheSpan(model)).toEqual({ warmMs: 90 * MINUTE, coldMs: 200 * MINUTE });
    expect(learning.cacheSpan(upstream())).toBeUndefined();
  });
});
