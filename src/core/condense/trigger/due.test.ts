import { describe, expect, it } from 'vitest';
import { findReasonToCondense, type DueCheckInput } from './due';

const input = (changes: Partial<DueCheckInput> = {}): DueCheckInput => ({
  contextWindow: 40_000,
  threshold: { percent: 75 },
  tokens: 10_000,
  isFitting: true,
  coldPercent: 50,
  ...changes,
});

describe('an automatic condensation is due', () => {
  it('at the threshold, a percentage or a number of tokens', () => {
    expect(findReasonToCondense(input({ tokens: 29_999 }))).toBeUndefined();
    expect(findReasonToCondense(input({ tokens: 30_000 }))).toBe('threshold');
    expect(findReasonToCondense(input({ threshold: { percent: 75, tokens: 5_000 } }))).toBe('threshold');
    expect(findReasonToCondense(input({ threshold: { percent: 20 } }))).toBe('threshold');
  });

  it('if the request does not fit, even during the waiting time', () => {
    expect(findReasonToCondense(input({ isFitting: false, isWaiting: true }))).toBe('window');
    expect(findReasonToCondense(input({ tokens: 31_000, isWaiting: true }))).toBeUndefined();
  });

  it('from a lower threshold on if the cache is cold and the setting allows it', () => {
    expect(findReasonToCondense(input({ tokens: 20_000, isCold: true }))).toBe('cold-cache');
    expect(findReasonToCondense(input({ tokens: 19_999, isCold: true }))).toBeUndefined();
    expect(findReasonToCondense(input({ tokens: 20_000 }))).toBeUndefined();
    expect(findReasonToCondense(input({ tokens: 20_000, isCold: true, coldPercent: undefined }))).toBeUndefined();
  });

  it('never if the window is unknown', () => {
    expect(findReasonToCondense(input({ contextWindow: 0, isFitting: false, tokens: 1e9 }))).toBeUndefined();
  });
});
