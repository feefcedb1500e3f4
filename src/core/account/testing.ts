import type { DayUsage, SessionAccount } from './account';
import { PART_KINDS, type PartKind } from './parts';

// The entries are created from the list of kinds, so every kind has an entry.
const ZERO_TOKENS_BY_PART = Object.fromEntries(PART_KINDS.map((kind) => [kind, 0])) as Record<PartKind, number>;

/**
 * Creates a Claude Code session whose window is three quarters full, with one compaction, one
 * reread file and one unused result.
 */
export const makeSessionAccount = ({
  usage,
  ...fields
}: Pick<SessionAccount, 'title'> &
  Partial<Omit<SessionAccount, 'usage'>> & {
    readonly usage: readonly (Omit<DayUsage, 'block' | 'replayed' | 'replayedCost'> &
      Pick<Partial<DayUsage>, 'block' | 'replayed' | 'replayedCost'>)[];
  }): SessionAccount => ({
  agent: 'Claude Code',
  path: `/${fields.title}.jsonl`,
  id: fields.title,
  source: 'recorded',
  window: 1_000,
  fill: [100, 750],
  now: { tokens: 510, window: 1_000, isRecorded: true },
  compactions: { count: 1, isEstimate: true, cost: 0.25 },
  parts: { ...ZERO_TOKENS_BY_PART, reads: 75, people: 25 },
  sentOften: 50,
  files: [{ path: '/a.ts', reads: 3, tokens: 900 }],
  unused: [{ tool: 'Bash', what: 'make', tokens: 400, sent: 7 }],
  calls: [{ tool: 'Bash', calls: 3 }],
  usage: usage.map((dayUsage) => ({
    block: 0,
    replayed: fields.source === 'replayed' ? dayUsage.requests : 0,
    replayedCost: fields.source === 'replayed' ? dayUsage.cost : 0,
    ...dayUsage,
  })),
  ...fields,
});

/** Returns the session as if it was replayed instead of recorded. */
export const markUsageReplayed = (session: SessionAccount): SessionAccount => ({
  ...session,
  source: 'replayed',
  usage: session.usage.map((each) => ({ ...each, replayed: each.requests, replayedCost: each.cost })),
});
