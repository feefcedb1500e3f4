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
    expect(learning.factor(upstream())).toBeLessThanOrEqual(5);
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
