import { describe, expect, it } from 'vitest';
import { findDueReason, type DueInput } from './due';
import { createModel } from './testing';

const input = (changes: Partial<DueInput> = {}): DueInput => ({
  model: createModel(),
  tokens: 10_000,
  isFitting: true,
  cache: 'warm',
  coldPercent: 50,
  isWaiting: false,
  ...changes,
});

describe('an automatic condensation', () => {
  it('is due at the threshold, a percentage or a number of tokens', () => {
    expect(findDueReason(input({ tokens: 29_999 }))).toBeUndefined();
    expect(findDueReason(input({ tokens: 30_000 }))).toBe('threshold');
    const model = createModel({ threshold: { percent: 75, tokens: 5_000 } });
    expect(findDueReason(input({ model }))).toBe('threshold');
    expect(findDueReason(input({ model: createModel({ threshold: { percent: 20 } }) }))).toBe('threshold');
  });

  it('is due if the request does not fit, even during the cool-down', () => {
    expect(findDueReason(input({ isFitting: false, isWaiting: true }))).toBe('window');
    expect(findDueReason(input({ tokens: 31_000, isWaiting: true }))).toBeUndefined();
  });

  it('is due from a lower threshold on if the cache is cold and the setting allows it', () => {
    expect(findDueReason(input({ tokens: 20_000, cache: 'cold' }))).toBe('cold-cache');
    expect(findDueReason(input({ tokens: 19_999, cache: 'cold' }))).toBeUndefined();
    expect(findDueReason(input({ tokens: 20_000, cache: 'unknown' }))).toBeUndefined();
    expect(findDueReason(input({ tokens: 20_000, cache: 'cold', coldPercent: undefined }))).toBeUndefined();
  });

  it('is never due if the window is unknown', () => {
    const model = createModel({ contextWindow: 0 });
    expect(findDueReason(input({ model, isFitting: false, tokens: 1e9 }))).toBeUndefined();
  });
});
