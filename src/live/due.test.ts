import { describe, expect, it } from 'vitest';
import { dueReason, type DueInput } from './due';
import { upstream } from './testing';

const input = (changes: Partial<DueInput> = {}): DueInput => ({
  model: upstream(),
  tokens: 10_000,
  isFitting: true,
  cache: 'warm',
  coldPercent: 50,
  isWaiting: false,
  ...changes,
});

describe('a condensation', () => {
  it('is due at the threshold, in percent or tokens', () => {
    expect(dueReason(input({ tokens: 29_999 }))).toBeUndefined();
    expect(dueReason(input({ tokens: 30_000 }))).toBe('threshold');
    const model = upstream({ threshold: { percent: 75, tokens: 5_000 } });
    expect(dueReason(input({ model }))).toBe('threshold');
    expect(dueReason(input({ model: upstream({ threshold: { percent: 20 } }) }))).toBe('threshold');
  });

  it('is due if the request does not fit, even while waiting', () => {
    expect(dueReason(input({ isFitting: false, isWaiting: true }))).toBe('window');
    expect(dueReason(input({ tokens: 31_000, isWaiting: true }))).toBeUndefined();
  });

  it('is due from a lower threshold if the cache is cold and that is set', () => {
    expect(dueReason(input({ tokens: 20_000, cache: 'cold' }))).toBe('cold-cache');
    expect(dueReason(input({ tokens: 19_999, cache: 'cold' }))).toBeUndefined();
    expect(dueReason(input({ tokens: 20_000, cache: 'unknown' }))).toBeUndefined();
    expect(dueReason(input({ tokens: 20_000, cache: 'cold', coldPercent: undefined }))).toBeUndefined();
  });

  it('is never due if the window is unknown', () => {
    const model = upstream({ contextWindow: 0 });
    expect(dueReason(input({ model, isFitting: false, tokens: 1e9 }))).toBeUndefined();
  });
});
