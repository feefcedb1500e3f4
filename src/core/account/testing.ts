/** A session's account for tests. */
import type { SessionAccount } from './account';
import { PART_KINDS, type PartKind } from './parts';

// One entry for each kind, made of the list of kinds.
const none = Object.fromEntries(PART_KINDS.map((kind) => [kind, 0])) as Record<PartKind, number>;

/** Claude Code's, with a window that was three quarters full, one compaction, one file read again and one result not used. */
export const sessionAccount = (
  fields: Pick<SessionAccount, 'title' | 'usage'> & Partial<SessionAccount>,
): SessionAccount => ({
  agent: 'Claude Code',
  path: `/${fields.title}.jsonl`,
  id: fields.title,
  source: 'recorded',
  window: 1_000,
  fill: [100, 750],
  compactions: { count: 1, isEstimate: true, cost: 0.25 },
  parts: { ...none, reads: 75, people: 25 },
  sentOften: 50,
  files: [{ path: '/a.ts', reads: 3, tokens: 900 }],
  unused: [{ tool: 'Bash', what: 'make', tokens: 400, sent: 7 }],
  calls: [{ tool: 'Bash', calls: 3 }],
  ...fields,
});
