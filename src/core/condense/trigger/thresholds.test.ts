import { describe, expect, it } from 'vitest';
import { allowedTokens, effectiveThreshold, reservedOutput, shouldCondense, tokensAt } from './thresholds';

describe('effectiveThreshold', () => {
  const thresholds = { own: 60, inherits: -1, low: 4, high: 101, least: 5, most: 100 };

  it('is the profile’s own where it is 5 to 100', () => {
    expect(effectiveThreshold('own', 75, thresholds)).toEqual({ percent: 60, source: 'profile' });
    expect(effectiveThreshold('least', 75, thresholds).percent).toBe(5);
    expect(effectiveThreshold('most', 75, thresholds).percent).toBe(100);
  });

  it('is the global one where the profile has none or inherits', () => {
    for (const id of ['none', 'inherits', 'constructor']) {
      expect(effectiveThreshold(id, 75, thresholds)).toEqual({ percent: 75, source: 'global' });
    }
  });

  it('is the global one, with a warning that names the profile, where its own is out of bounds', () => {
    for (const id of ['low', 'high']) {
      const { percent, warning } = effectiveThreshold(id, 75, thresholds);
      expect(percent).toBe(75);
      expect(warning).toContain(`"${id}"`);
    }
  });
});

describe('shouldCondense', () => {
  const input = {
    contextWindow: 200_000,
    maxOutputTokens: 8_000,
    threshold: { kind: 'percent', percent: 75 },
  } as const;

  it('is due from the threshold on, the last message counted in', () => {
    expect(shouldCondense({ ...input, totalTokens: 149_000, lastMessageTokens: 1_000 })).toEqual({
      due: true,
      reason: 'threshold',
      tokens: 150_000,
      percent: 75,
    });
    expect(shouldCondense({ ...input, totalTokens: 149_000, lastMessageTokens: 999 }).due).toBe(false);
  });

  it('is due above window × 0.9 less the reserved output, whatever the threshold', () => {
    const late = { ...input, threshold: { kind: 'percent', percent: 100 }, lastMessageTokens: 0 } as const;
    expect(shouldCondense({ ...late, totalTokens: 172_000 }).due).toBe(false);
    expect(shouldCondense({ ...late, totalTokens: 172_001 })).toMatchObject({ due: true, reason: 'window' });
  });

  it('reserves 8192 tokens where the model names no output limit', () => {
    expect(allowedTokens(100_000)).toBe(100_000 * 0.9 - 8192);
    expect(allowedTokens(100_000, 0)).toBe(100_000 * 0.9 - 8192);
  });

  it('takes an absolute threshold', () => {
    const absolute = { ...input, threshold: { kind: 'tokens', tokens: 50_000 }, lastMessageTokens: 0 } as const;
    expect(shouldCondense({ ...absolute, totalTokens: 49_999 }).due).toBe(false);
    expect(shouldCondense({ ...absolute, totalTokens: 50_000 })).toMatchObject({ due: true, reason: 'threshold' });
  });

  it('is never due where the window is not known', () => {
    expect(shouldCondense({ ...input, contextWindow: 0, totalTokens: 1e9, lastMessageTokens: 0 })).toMatchObject({
      due: false,
      percent: 0,
    });
  });
});

it('a point of the window in tokens', () => {
  expect(tokensAt({ kind: 'percent', percent: 50 }, 200_001)).toBe(100_000);
  expect(tokensAt({ kind: 'tokens', tokens: 7 }, 200_000)).toBe(7);
});

describe('reservedOutput', () => {
  const at75 = { kind: 'percent', percent: 75 } as const;

  it.each([
    // The models of number 11 of issue N: windows and what they may write.
    [200_000, 64_000],
    [400_000, 128_000],
    [128_000, 64_000],
    [131_072, 131_072],
    [32_768, 32_768],
    [32_768, undefined],
    [8_192, 4_096],
  ])('a window of %d and an output of %s: nothing is due before the threshold', (contextWindow, maxOutputTokens) => {
    for (const wanted of [undefined, maxOutputTokens]) {
      const input = {
        contextWindow,
        threshold: at75,
        ...(maxOutputTokens !== undefined && { maxOutputTokens }),
        ...(wanted !== undefined && { wanted }),
      };
      const allowed = allowedTokens(contextWindow, reservedOutput(input));
      expect(allowed).toBeGreaterThanOrEqual(0.75 * contextWindow - 1);
    }
  });

  it('is a tenth of the window at most, or 8,192, unless the user wants more', () => {
    const input = {
      contextWindow: 400_000,
      threshold: { kind: 'percent', percent: 50 },
      maxOutputTokens: 128_000,
    } as const;
    expect(reservedOutput(input)).toBe(40_000);
    expect(reservedOutput({ ...input, contextWindow: 40_000 })).toBe(8_192);
    expect(reservedOutput({ ...input, maxOutputTokens: 4_000 })).toBe(4_000);
    expect(reservedOutput({ ...input, wanted: 100_000 })).toBe(100_000);
  });

  it('is something where the threshold is the whole window', () => {
    expect(reservedOutput({ contextWindow: 200_000, threshold: { kind: 'percent', percent: 100 } })).toBe(8_192);
  });
});
