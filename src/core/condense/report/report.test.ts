import { describe, expect, it } from 'vitest';
import { measureCoherence } from '../coherence/coherence';
import type { CondensationOutcome } from '../condensation';
import { formatPercentChange, formatCost, formatDurationMs } from '../../format';
import { formatOutcomeReport } from './report';
import type { StepOutcome, StepReport } from '../stepReport';

const step = (
  name: string,
  tokensBefore: number,
  tokensAfter: number,
  outcome: StepOutcome = { kind: 'done' },
): StepReport => ({
  name,
  tokensBefore,
  tokensAfter,
  edits: outcome.kind === 'done' && tokensAfter < tokensBefore ? 1 : 0,
  timeMs: 1,
  cost: 0,
  outcome,
});

const base = { provider: 'smart', tokensBefore: 8_500, steps: [], cost: 0, timeMs: 12, notes: [] };

describe('the printed report of a condensation', () => {
  it('contains steps, total, cost and time', () => {
    const outcome: CondensationOutcome = {
      ...base,
      kind: 'condensed',
      tokensAfter: 2_800,
      edits: [],
      view: [],
      coherence: measureCoherence([], []),
      cost: 0.0036,
      timeMs: 1_800,
      steps: [
        step('Lossless prelude', 8_500, 5_200),
        step('Pass 1 (Truncate)', 5_200, 3_800),
        step('Pass 2: Pass 2', 3_800, 2_800),
        step('Pass 3', 2_800, 2_800, { kind: 'skipped', reason: 'the target was already met' }),
        step('Pass 4', 2_800, 2_800, { kind: 'failed', reason: 'out of luck' }),
        step('Pass 5', 2_800, 2_800),
        step('Pass 6', 2_800, 2_800),
      ],
      notes: ['The defaults were used.', 'Pass 4: out of luck'],
    };
    expect(formatOutcomeReport(outcome, () => 'Smart', { savedPerRequest: 0.25 })).toContain(
      ' - Cost: $0.0036\n - Once given back to its agent: $0.25 less with each later request\n - Time: ',
    );
    expect(formatOutcomeReport(outcome, () => 'Smart')).toBe(
      [
        'Context condensed using Smart:',
        ' - Lossless prelude: 8,500 → 5,200 tokens (−39%)',
        ' - Pass 1 (Truncate): 5,200 → 3,800 tokens (−27%)',
        ' - Pass 2: 3,800 → 2,800 tokens (−26%)',
        ' - Pass 4: failed and was left out: out of luck',
        ' - 2 steps found nothing',
        ' - 1 step skipped (Pass 3): the target was already met',
        ' - Total reduction: 67% (8,500 → 2,800 tokens)',
        ' - Cost: $0.0036',
        ' - Time: 1.8 seconds',
        ' - Note: The defaults were used.',
      ].join('\n'),
    );
    const named = { ...outcome, configNames: { smart: 'File-Aware', strategy: 'Pipeline' } };
    const nameOf = (id: string): string => (id === 'smart' ? 'Smart' : 'Truncation');
    expect(formatOutcomeReport(named, nameOf)).toMatch(/^Context condensed using Smart \(File-Aware\):\n/);
    expect(formatOutcomeReport({ ...named, alsoBy: ['smart'], provider: 'truncation' }, nameOf)).toMatch(
      /^Context condensed using Smart \(File-Aware\), then Truncation:\n/,
    );
    expect(formatOutcomeReport({ ...named, provider: 'strategy' }, nameOf)).toMatch(
      /^Context condensed using the Pipeline strategy:\n/,
    );
    expect(formatOutcomeReport({ ...outcome, provider: 'strategy' }, nameOf)).toMatch(
      /^Context condensed using a strategy:\n/,
    );
    const little = { ...outcome, tokensBefore: 200_000, tokensAfter: 199_929 };
    expect(formatOutcomeReport(little, nameOf)).toContain(' - Total reduction: <0.1% (200,000 → 199,929 tokens)');
    const unmet = { kind: 'skipped', reason: 'condition not met' } as const;
    const steps = [step('Pass 1', 8_500, 2_800), step('Pass 2', 2_800, 2_800, unmet)];
    const withSkipped = (count: number) =>
      formatOutcomeReport(
        { ...outcome, steps: [...steps, ...Array<StepReport>(3).fill(steps[1]!)].slice(0, 1 + count) },
        () => 'Smart',
      );
    expect(withSkipped(1)).toContain(' - 1 step skipped (Pass 2): condition not met\n');
    expect(withSkipped(2)).toContain(' - 2 steps skipped (Pass 2, Pass 2): condition not met\n');
    expect(withSkipped(4)).toContain(' - 4 steps skipped: condition not met\n');
    expect(formatOutcomeReport(outcome, () => 'Smart', { calibrate: (tokens) => tokens * 1.5 })).toContain(
      '67% (12,750 → 4,200 tokens)',
    );
  });

  it.each<[string, CondensationOutcome]>([
    [
      'Nothing was condensed. Only 3 of 8500 tokens would go.',
      { ...base, kind: 'unchanged', reason: 'below-minimum-gain', detail: 'Only 3 of 8500 tokens would go.' },
    ],
    [
      'Nothing was condensed: the result of Smart would not be a valid conversation. message 4: a has no result (call-answered)',
      { ...base, kind: 'refused', violations: [{ rule: 'call-answered', message: 4, detail: 'a has no result' }] },
    ],
    ['Canceled. Nothing was condensed.', { ...base, kind: 'cancelled' }],
    ['Nothing was condensed: Smart failed. no network', { ...base, kind: 'failed', error: new Error('no network') }],
  ])('says %j, with the cost', (headline, outcome) => {
    expect(formatOutcomeReport(outcome, () => 'Smart')).toBe(`${headline}\n - Cost: $0\n - Time: 12 ms`);
  });

  it('describes a refusal without violations', () => {
    expect(formatOutcomeReport({ ...base, kind: 'refused', violations: [] }, () => 'Smart')).toContain(
      'valid conversation. \n',
    );
  });
});

it.each([
  [0, 0, '0%'],
  [100, 100, '0%'],
  [100_000, 99_999, '<0.1%'],
  [100_000, 100_001, '<0.1%'],
  [0, 5, '0%'],
  [100, 94.7, '−5.3%'],
  [1000, 900.4, '−10%'],
  [100, 150, '+50%'],
])('a change from %d to %d tokens is printed as %s', (before, after, expected) => {
  expect(formatPercentChange(before, after)).toBe(expected);
});

it.each([
  [0, '$0'],
  [0.00001, 'less than $0.0001'],
  [0.0036, '$0.0036'],
  [1.239, '$1.24'],
])('a cost of %d dollars is printed as %s', (dollars, expected) => {
  expect(formatCost(dollars)).toBe(expected);
});

it.each([
  [0.4, '0 ms'],
  [999.7, '1.0 seconds'],
  [61_000, '61.0 seconds'],
])('a duration of %d ms is printed as %s', (ms, expected) => {
  expect(formatDurationMs(ms)).toBe(expected);
});
