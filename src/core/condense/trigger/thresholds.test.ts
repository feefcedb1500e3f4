import { describe, expect, it } from 'vitest';
import {
  computeMaxPromptTokens,
  computeDueTokens,
  computeReservedOutput,
  computeTargetTokens,
  computeThresholdTokens,
  computeWorthwhileTokens,
} from './thresholds';

describe('thresholds and targets', () => {
  it('are a percentage of the window, or tokens if they are less', () => {
    expect(computeThresholdTokens({ percent: 50 }, 200_001)).toBe(100_000);
    expect(computeThresholdTokens({ percent: 75, tokens: 200_000 }, 1_000_000)).toBe(200_000);
    expect(computeThresholdTokens({ percent: 75, tokens: 200_000 }, 128_000)).toBe(96_000);
  });

  it('have a target of two thirds of the threshold, or as configured', () => {
    expect(computeTargetTokens({ percent: 30 }, 100_000)).toBe(20_100);
    expect(computeTargetTokens({ percent: 30, targetPercent: 50 }, 100_000)).toBe(15_000);
    expect(computeTargetTokens({ percent: 75, tokens: 50_000 }, 1_000_000)).toBe(33_500);
  });

  it('have a lower target for a conversation that is condensed below its threshold', () => {
    expect(computeTargetTokens({ percent: 75 }, 100_000, 40_000)).toBe(26_800);
    expect(computeTargetTokens({ percent: 75 }, 100_000, 90_000)).toBe(50_250);
  });

  it('make a condensation worthwhile if it saves three fifths of the tokens between them, for any values', () => {
    for (let percent = 5; percent <= 100; percent += 5) {
      for (const targetPercent of [10, 67, 90]) {
        const threshold = { percent, targetPercent };
        const gap = computeThresholdTokens(threshold, 32_000) - computeTargetTokens(threshold, 32_000);
        expect(computeWorthwhileTokens(threshold, 32_000)).toBe(Math.floor(gap * 0.6));
      }
    }
    // Thresholds below 65 % used to have no effect. At 75 %, this is still 15 % of the window, as
    // before.
    expect(computeWorthwhileTokens({ percent: 75 }, 200_000) / 200_000).toBeCloseTo(0.15, 2);
  });
});

it('the part of the window reserved for the answer is 8192 tokens if the model states no output limit', () => {
  expect(computeMaxPromptTokens(100_000)).toBe(100_000 * 0.9 - 8192);
  expect(computeMaxPromptTokens(100_000, 0)).toBe(100_000 * 0.9 - 8192);
});

describe('the part of the window reserved for the answer', () => {
  const at75 = { percent: 75 } as const;

  it.each([
    // Regression: context windows and output limits of existing models.
    [200_000, 64_000],
    [400_000, 128_000],
    [128_000, 64_000],
    [131_072, 131_072],
    [32_768, 32_768],
    [32_768, undefined],
    [8_192, 4_096],
  ])(
    'lets requests grow up to the threshold with a window of %d and an output of %s',
    (contextWindow, maxOutputTokens) => {
      for (const wanted of [undefined, maxOutputTokens]) {
        const input = {
          contextWindow,
          threshold: at75,
          ...(maxOutputTokens !== undefined && { maxOutputTokens }),
          ...(wanted !== undefined && { wanted }),
        };
        const allowed = computeMaxPromptTokens(contextWindow, computeReservedOutput(input));
        expect(allowed).toBeGreaterThanOrEqual(0.75 * contextWindow - 1);
      }
    },
  );

  it('is at most a tenth of the window or 8,192 tokens, unless the user wants more', () => {
    const input = {
      contextWindow: 400_000,
      threshold: { percent: 50 },
      maxOutputTokens: 128_000,
    } as const;
    expect(computeReservedOutput(input)).toBe(40_000);
    expect(computeReservedOutput({ ...input, contextWindow: 40_000 })).toBe(8_192);
    expect(computeReservedOutput({ ...input, maxOutputTokens: 4_000 })).toBe(4_000);
    expect(computeReservedOutput({ ...input, wanted: 100_000 })).toBe(100_000);
  });

  it('is positive even if the threshold is the whole window', () => {
    expect(computeReservedOutput({ contextWindow: 200_000, threshold: { percent: 100 } })).toBe(8_192);
  });

  it('leaves every threshold unchanged if a request fits with room for an answer', () => {
    for (const contextWindow of [32_000, 64_000, 128_000, 200_000, 400_000, 1_000_000]) {
      for (let percent = 5; percent <= 100; percent += 1) {
        const { tokens, reason } = computeDueTokens({ contextWindow, threshold: { percent }, maxOutputTokens: 64_000 });
        const at = (100 * tokens) / contextWindow;
        if (percent <= 85) expect(reason).toBe('threshold');
        if (reason === 'threshold') expect(at).toBeCloseTo(percent, 1);
        else expect(at).toBeGreaterThanOrEqual(84.9);
      }
    }
  });
});
