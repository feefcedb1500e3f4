import { describe, expect, it } from 'vitest';
import * as fc from 'fast-check';
import type { RunMetrics } from './metrics';
import { groupByProfile } from './groups';
import { createRecommendations, type CurrentSettings } from './recommendations';

const NOW: CurrentSettings = { provider: 'native', profile: 'large', threshold: 75 };

const run = (changes: Partial<RunMetrics> = {}): RunMetrics => ({
  at: '2026-11-20T01:00:00.000Z',
  provider: 'native',
  outcome: 'condensed',
  fallback: false,
  tokensBefore: 100_000,
  tokensAfter: 40_000,
  timeMs: 1_000,
  cost: 0.3,
  calls: [],
  ...changes,
});
const called = (profile: string, changes: Partial<RunMetrics> = {}): RunMetrics =>
  run({ ...changes, calls: [{ profile } as RunMetrics['calls'][number]] });
const times = (count: number, one: RunMetrics): RunMetrics[] => Array.from({ length: count }, () => one);

describe('grouping metrics by profile', () => {
  it('sums cost and saving, and averages figures of runs that condensed', () => {
    const allRuns = [
      called('large', { estimatedCost: 0.24, savedPerRequest: 0.1 }),
      called('large', { timeMs: 3_000, savedPerRequest: 0.2 }),
      called('large', { outcome: 'failed', tokensAfter: 100_000, cost: 0.1, timeMs: 60_000 }),
      run({ provider: 'lossless', fallback: true, tokensAfter: 90_000, cost: 0 }),
    ];
    expect(groupByProfile(allRuns)).toEqual([
      {
        key: 'large',
        runs: 3,
        condensed: 2,
        failures: 1,
        fallbacks: 0,
        tokensBefore: 300_000,
        tokensSaved: 120_000,
        cost: expect.closeTo(0.7, 10),
        savedPerRequest: expect.closeTo(0.3, 10),
        latencyMs: 2_000,
        estimateErrorPercent: expect.closeTo(20, 10),
      },
      {
        key: '',
        runs: 1,
        condensed: 1,
        failures: 0,
        fallbacks: 1,
        tokensBefore: 100_000,
        tokensSaved: 10_000,
        cost: 0,
        latencyMs: 1_000,
      },
    ]);
  });
});

describe('recommending a profile', () => {
  const both = (count: number, small: Partial<RunMetrics> = {}): RunMetrics[] => [
    ...times(count, called('large')),
    ...times(count, called('small', { cost: 0.1, tokensAfter: 60_000, ...small })),
  ];

  it('suggests one that costs less per removed token, with the saving', () => {
    // The large profile removes 60,000 tokens for $0.30, the small one 40,000 for $0.10. The large
    // one's 300,000 tokens would have cost $0.75 instead of $1.50.
    expect(createRecommendations(both(5), NOW)).toEqual([
      {
        kind: 'profile',
        profile: 'small',
        from: 10,
        saving: { dollars: expect.closeTo(0.75, 10), tokens: 0, runs: 0 },
      },
    ]);
  });

  it('suggests none if there are few runs, little gain, more failures, or unknown costs', () => {
    expect(createRecommendations(both(4), NOW)).toEqual([]);
    expect(createRecommendations(both(5, { cost: 0.17 }), NOW)).toEqual([]);
    const unknown = called('small', { cost: undefined as never });
    expect(createRecommendations([...times(5, called('large')), ...times(5, unknown)], NOW)).toEqual([]);
    const failing = called('small', { outcome: 'failed', tokensAfter: 100_000, cost: 0 });
    expect(createRecommendations([...both(5), ...times(3, failing)], NOW)).toEqual([]);
  });
});

describe('recommending a configuration', () => {
  const smart = (preset: string, changes: Partial<RunMetrics> = {}): RunMetrics =>
    run({ provider: 'smart', preset, ...changes });
  const current: CurrentSettings = { provider: 'smart', preset: 'balanced', threshold: 75 };

  it('suggests one that removes more at no higher cost', () => {
    const runs = [...times(6, smart('balanced')), ...times(5, smart('speed', { cost: 0.3, tokensAfter: 30_000 }))];
    expect(createRecommendations(runs, current)).toEqual([
      {
        kind: 'configuration',
        provider: 'smart',
        preset: 'speed',
        from: 11,
        saving: { dollars: expect.closeTo(0, 10), tokens: 60_000, runs: 0 },
      },
    ]);
  });

  it('suggests one that costs half and removes hardly less', () => {
    const runs = [
      ...times(5, smart('balanced')),
      ...times(5, run({ provider: 'truncation', cost: 0, tokensAfter: 41_000 })),
    ];
    expect(createRecommendations(runs, current)).toMatchObject([
      { kind: 'configuration', provider: 'truncation', saving: { dollars: expect.closeTo(1.5, 10), tokens: 0 } },
    ]);
  });

  it('suggests none that loses more or ran only as a fallback', () => {
    const free = { cost: 0, tokensAfter: 80_000 };
    const lossless = times(5, run({ provider: 'lossless', ...free }));
    const truncation = { provider: 'truncation', cost: 0 };
    const now: CurrentSettings = { provider: 'lossless', threshold: 75 };
    expect(createRecommendations([...lossless, ...times(5, run(truncation))], now)).toEqual([]);
    const native = times(5, run());
    expect(createRecommendations([...native, ...times(5, run({ ...truncation, fallback: true }))], NOW)).toEqual([]);
    expect(createRecommendations([...native, ...times(5, run(truncation))], NOW)).toHaveLength(1);
  });
});

describe('recommending a threshold', () => {
  const automatic = (trigger: string, changes: Partial<RunMetrics> = {}): RunMetrics => run({ trigger, ...changes });

  it('suggests a lower one if the window was full too often', () => {
    const runs = [...times(3, automatic('threshold')), ...times(2, automatic('window'))];
    expect(createRecommendations(runs, NOW)).toEqual([
      { kind: 'threshold', percent: 65, from: 5, saving: { dollars: 0, tokens: 0, runs: 2 } },
    ]);
    expect(createRecommendations(runs, { ...NOW, threshold: 5 })).toEqual([]);
  });

  it('suggests a higher one if runs remove little, to make fewer of them', () => {
    const runs = times(10, automatic('threshold', { tokensAfter: 90_000 }));
    // The conversation grows by 7.5 % of the window between two condensations, and by 17.5 % with a
    // threshold that is 10 points higher.
    expect(createRecommendations(runs, NOW)).toEqual([
      {
        kind: 'threshold',
        percent: 85,
        from: 10,
        saving: { dollars: expect.closeTo(3 * (1 - 7.5 / 17.5), 10), tokens: 0, runs: 6 },
      },
    ]);
    expect(createRecommendations(runs, { ...NOW, threshold: 90 })).toEqual([]);
    expect(createRecommendations(times(10, automatic('threshold')), NOW)).toEqual([]);
  });

  it('ignores manual runs and too few runs', () => {
    expect(createRecommendations(times(10, automatic('by-hand', { tokensAfter: 99_000 })), NOW)).toEqual([]);
    expect(createRecommendations(times(4, automatic('window')), NOW)).toEqual([]);
  });
});

it('no recommendation from the metrics repeats the current setting or costs more', () => {
  const one = fc.record({
    provider: fc.constantFrom('lossless', 'truncation', 'native', 'smart', 'mine'),
    outcome: fc.constantFrom<RunMetrics['outcome']>('condensed', 'failed', 'unchanged'),
    trigger: fc.constantFrom('by-hand', 'threshold', 'window'),
    fallback: fc.boolean(),
    tokensBefore: fc.nat(200_000),
    share: fc.double({ min: 0, max: 1, noNaN: true }),
    cost: fc.double({ min: 0, max: 1, noNaN: true }),
    profile: fc.constantFrom('large', 'small', undefined),
  });
  fc.assert(
    fc.property(fc.array(one, { maxLength: 60 }), fc.integer({ min: 5, max: 100 }), (drawn, threshold) => {
      const allRuns = drawn.map(({ share, profile, tokensBefore, ...rest }) => {
        const changes = { ...rest, tokensBefore, tokensAfter: Math.floor(tokensBefore * share) };
        return profile === undefined ? run(changes) : called(profile, changes);
      });
      for (const advice of createRecommendations(allRuns, { ...NOW, threshold })) {
        expect(advice.from).toBeGreaterThanOrEqual(5);
        for (const saved of Object.values(advice.saving)) expect(saved).toBeGreaterThanOrEqual(0);
        if (advice.kind === 'profile') expect(advice.profile).not.toBe('large');
        if (advice.kind === 'configuration') expect(advice.provider).not.toBe('native');
        if (advice.kind === 'threshold') expect(advice.percent).not.toBe(threshold);
      }
    }),
  );
});
