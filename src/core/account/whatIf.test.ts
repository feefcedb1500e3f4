import { describe, expect, it } from 'vitest';
import type { SessionAccount } from './account';
import { PART_KINDS, type PartKind } from './parts';
import { sumSessionSavings, type SessionSaving } from './whatIf';
import { describeLostLines, describeWhatIfCounts, formatWhatIfHeadline } from './words';

const none = Object.fromEntries(PART_KINDS.map((kind) => [kind, 0])) as Record<PartKind, number>;

/** Creates a session with this cost per day. */
const session = (path: string, days: Readonly<Record<string, number>>): SessionAccount => ({
  ...{ agent: 'A', path, id: path, title: path, source: 'recorded', fill: [], parts: none },
  now: { tokens: 0, isRecorded: false },
  ...{ sentOften: 0, files: [], unused: [], calls: [], compactions: { count: 0, isEstimate: false } },
  usage: Object.entries(days).map(([day, cost]) => ({
    ...{ day, requests: 1, fresh: 0, cacheWrite: 0, cacheRead: 0, output: 0, cost, unpriced: 0 },
    ...{ block: 0, replayed: 0, replayedCost: 0 },
  })),
});

const saving = (days: SessionSaving['days'], more: Partial<SessionSaving> = {}): SessionSaving => ({
  ...{ days, condensations: 2, needed: 100, missing: 3, recallable: 3, rereads: 0 },
  ...more,
});

describe('the estimate of what sessions would have cost with a provider', () => {
  it('is scaled: if $10 were paid, but simulated as $8, or $4 with condensing, it is $5; rereads are scaled too', () => {
    const sum = sumSessionSavings(
      [session('a', { '2026-01-01': 10 }), session('short', { '2026-01-01': 2 })],
      new Map([['a', saving([{ day: '2026-01-01', before: 8, after: 4 }], { rereads: 0.8 })]]),
    );
    expect(sum).toMatchObject({ sessions: 2, condensed: 1, unknown: 0, cost: 12, after: 7, atMost: 8 });
    expect(formatWhatIfHeadline(sum, 'Last week', 'File-Aware')).toBe(
      'Last week: $12.00; with File-Aware: $7.00 to $8.00; needed lines lost: 3% (3 of 100), all recallable.',
    );
  });

  it('counts only the given days', () => {
    const days = [
      { day: '2026-01-01', before: 8, after: 8 },
      { day: '2026-01-08', before: 8, after: 2 },
    ];
    const sum = sumSessionSavings(
      [session('a', { '2026-01-01': 10, '2026-01-08': 20 }), session('old', { '2026-01-01': 5 })],
      new Map([['a', saving(days)]]),
      '2026-01-05',
    );
    expect(sum).toMatchObject({ sessions: 1, cost: 20, after: 5 });
  });

  it('may be more than the actual cost, and says so', () => {
    const dearer = saving([{ day: '2026-01-01', before: 1, after: 1.5 }], { needed: 0, missing: 0, recallable: 0 });
    const sum = sumSessionSavings([session('a', { '2026-01-01': 1 })], new Map([['a', dearer]]));
    expect(formatWhatIfHeadline(sum, 'All', 'Lossless')).toBe(
      'All: $1.00; with Lossless: $1.50; needed lines lost: none, as no later edit quoted lines from before a condensation.',
    );
  });

  it('is the actual cost if the simulation is unknown or there is no price', () => {
    const sum = sumSessionSavings(
      [session('a', { '2026-01-01': 3 }), session('free', { '2026-01-01': 0 })],
      new Map<string, SessionSaving | 'unknown'>([
        ['a', 'unknown'],
        ['free', saving([])],
      ]),
    );
    expect(sum).toMatchObject({ sessions: 2, unknown: 1, cost: 3, after: 3, atMost: 3 });
  });
});

it.each([
  [[4, 2, 2, 0], 'It would have condensed 4 times in 2 of 2 sessions.'],
  [[4, 1, 2, 0], 'It would have condensed 4 times in 1 of 2 sessions; the others were never long enough.'],
  [[0, 0, 2, 0], 'It would never have condensed: no session was long enough.'],
  [
    [0, 0, 3, 2],
    'It would never have condensed: no session whose window and price are known was long enough. 2 sessions are counted unchanged because their window or price is not known.',
  ],
  [[0, 0, 1, 1], '1 session is counted unchanged because its window or price is not known.'],
  [
    [1, 1, 2, 1],
    'It would have condensed 1 time in 1 of 2 sessions. 1 session is counted unchanged because its window or price is not known.',
  ],
] as const)(
  'the estimate with %j condensations, condensed, sessions and unknown is summed up as “%s”',
  (figures, words) => {
    const [condensations, condensed, sessions, unknown] = figures;
    expect(describeWhatIfCounts({ condensations, condensed, sessions, unknown })).toBe(words);
  },
);

it.each([
  [[0, 0, 0, 0], 'none, as nothing would have been condensed'],
  [[1, 0, 0, 0], 'none, as no later edit quoted lines from before a condensation'],
  [[1, 1_000, 0, 0], 'none of 1,000'],
  [[1, 10_000, 3, 3], '<0.1% (3 of 10,000), all recallable'],
  [[1, 1_000, 12, 4], '1.2% (12 of 1,000), 4 of them recallable'],
] as const)(
  'the estimate with %j condensations, needed, missing and recallable says “needed lines lost: %s”',
  (figures, words) => {
    const [condensations, needed, missing, recallable] = figures;
    expect(describeLostLines({ condensations, needed, missing, recallable })).toBe(`needed lines lost: ${words}`);
  },
);
