import { describe, expect, it } from 'vitest';
import type { CondensationOutcome } from '../condensation';
import {
  computeTokenFactor,
  computeDistribution,
  createRunMetrics,
  getOutputSamples,
  summarizeMetrics,
  getRunWarnings,
  type RunMetrics,
} from './metrics';
import type { ModelCall } from '../types';

const NOW = new Date('2026-11-20T00:00:00Z');

const modelCall = (changes: Partial<ModelCall> = {}): ModelCall => ({
  profile: 'Work',
  vendor: 'anthropic',
  model: 'm',
  chosen: 'condensing-profile',
  countedTokens: 1_000,
  usage: {
    accounting: 'anthropic',
    source: 'reported',
    inputTokens: 1_200,
    outputTokens: 300,
    cacheReadTokens: 0,
    cacheWriteTokens: 0,
  },
  cost: 0.01,
  timeMs: 2_000,
  outcome: 'complete',
  ...changes,
});

const condensed = (changes: Partial<CondensationOutcome> = {}): CondensationOutcome =>
  ({
    kind: 'condensed',
    provider: 'native',
    tokensBefore: 1_000,
    tokensAfter: 400,
    edits: [],
    view: [],
    steps: [],
    cost: 0.01,
    estimatedCost: 0.012,
    timeMs: 2_500,
    notes: [],
    calls: [modelCall()],
    ...changes,
  }) as CondensationOutcome;

describe('metrics of a condensation', () => {
  it('exist for every outcome', () => {
    expect(createRunMetrics(condensed(), 'native', NOW)).toEqual({
      at: '2026-11-20T00:00:00.000Z',
      provider: 'native',
      outcome: 'condensed',
      fallback: false,
      tokensBefore: 1_000,
      tokensAfter: 400,
      timeMs: 2_500,
      cost: 0.01,
      estimatedCost: 0.012,
      calls: [modelCall()],
    });
    const failed = condensed({
      kind: 'failed',
      error: new Error('no'),
      cost: undefined,
      estimatedCost: undefined as never,
    } as never);
    const run = createRunMetrics({ ...failed, estimatedCost: undefined, calls: undefined } as never, 'smart', NOW);
    expect(run).toMatchObject({ reason: 'no', fallback: true, tokensAfter: 1_000, calls: [] });
    expect('cost' in run).toBe(false);
    expect(createRunMetrics(condensed({ kind: 'unchanged', reason: 'grew' } as never), 'native', NOW).reason).toBe(
      'grew',
    );
    const other = condensed({ calls: [modelCall({ chosen: 'conversation' })] });
    expect(createRunMetrics(other, 'native', NOW).fallback).toBe(true);
  });

  it('warn of a small reduction and a high cost', () => {
    const run = createRunMetrics(condensed(), 'native', NOW);
    expect(getRunWarnings(run)).toEqual([]);
    expect(getRunWarnings({ ...run, tokensAfter: 900, cost: 0.2 })).toEqual([
      'Only 10% of the tokens were removed; the warning is set to 20%.',
      'It cost $0.2000; the warning is set to $0.10.',
    ]);
    expect(getRunWarnings({ ...run, tokensBefore: 0, tokensAfter: 0 }, { reductionPercent: 0, cost: 1 })).toEqual([]);
    expect(getRunWarnings({ ...run, outcome: 'failed', cost: 9 })).toEqual([]);
  });
});

describe("a summary of condensations' metrics", () => {
  it('has mean and 95th percentile', () => {
    expect(computeDistribution([])).toBeUndefined();
    expect(computeDistribution([5])).toEqual({ count: 1, mean: 5, p95: 5 });
    expect(computeDistribution(Array.from({ length: 100 }, (_, index) => index + 1))).toEqual({
      count: 100,
      mean: 50.5,
      p95: 95,
    });
  });

  it('has sums by profile', () => {
    const one = createRunMetrics(condensed(), 'native', NOW);
    const runs: RunMetrics[] = [
      one,
      { ...one, calls: [modelCall({ profile: 'Cheap', cost: undefined }), modelCall({ usage: undefined, cost: 0 })] },
      { ...one, outcome: 'failed', fallback: true },
      { ...one, cost: 0 },
    ];
    expect(summarizeMetrics(runs)).toMatchObject({
      condensations: 3,
      failures: 1,
      fallbacks: 1,
      latencyMs: { mean: 2_500, p95: 2_500 },
      tokensPerSecond: { count: 4, mean: 150 },
      reductionPercent: { mean: 60 },
      estimateErrorPercent: { count: 2, mean: expect.closeTo(20, 5) },
      byProfile: { Work: { calls: 4, cost: expect.closeTo(0.03, 10) }, Cheap: { calls: 1, cost: 0 } },
    });
    expect(summarizeMetrics([])).toMatchObject({ condensations: 0, latencyMs: undefined, byProfile: {} });
  });

  it('calibrates cost estimates by the reported and counted tokens of the last calls', () => {
    const one = createRunMetrics(condensed(), 'native', NOW);
    expect(computeTokenFactor([one], 'm')).toBeCloseTo(1.2, 10);
    expect(computeTokenFactor([one], 'other')).toBeUndefined();
    expect(computeTokenFactor([{ ...one, calls: [modelCall({ countedTokens: 1 })] }], 'm')).toBe(5);
    const counted = modelCall({ usage: { ...modelCall().usage!, source: 'counted' } });
    expect(computeTokenFactor([{ ...one, calls: [counted] }], 'm')).toBeUndefined();
    expect(getOutputSamples([one, { ...one, calls: [modelCall({ outcome: 'refused' })] }], 'm')).toEqual([
      { inputTokens: 1_200, outputTokens: 300 },
    ]);
  });
});
