/** The account of a session: what its requests were, cost and held; and the sum of many. Plain data: it is kept on disk. */
import type { TokenSums } from './replay';
import type { PartSums, ReadFileSum, ToolCalls, UnusedResult } from './composition';
import { PART_KINDS, type PartKind } from './parts';
import { maskSecrets } from '../secrets/maskSecrets';

/** Requests of one day to one model. */
export interface DayUsage extends TokenSums {
  /** Local date, `2026-11-23`. */
  readonly day: string;
  /** Undefined where the agent does not say. */
  readonly model?: string;
  readonly requests: number;
  /** US dollars of the requests whose price is known. */
  readonly cost: number;
  /** Requests whose price is not known: they are not in the cost. */
  readonly unpriced: number;
}

export interface SessionAccount {
  readonly agent: string;
  readonly path: string;
  readonly id: string;
  readonly title: string;
  /** The folder that the agent worked in. */
  readonly project?: string;
  /** Whether the agent wrote its usage down, or the requests were made again from the conversation. */
  readonly source: 'recorded' | 'replayed';
  readonly usage: readonly DayUsage[];
  /** The model's window in tokens, where it is known. */
  readonly window?: number;
  /** Tokens of the prompts in order, thinned out: the largest of each stretch. */
  readonly fill: readonly number[];
  readonly compactions: CompactionSum;
  readonly parts: PartSums;
  /** Tokens in their eleventh or a later request. */
  readonly sentOften: number;
  readonly files: readonly ReadFileSum[];
  readonly unused: readonly UnusedResult[];
  readonly calls: readonly ToolCalls[];
}

/** Compactions by the agent itself. */
export interface CompactionSum {
  readonly count: number;
  /** US dollars: recorded, or estimated from the context before and the summary. Undefined where no price is known. */
  readonly cost?: number;
  /** Whether the cost is an estimate, which is in no other sum; a recorded one is among the requests. */
  readonly isEstimate: boolean;
}

export const GROUPINGS = ['agent', 'project', 'model', 'day', 'session'] as const;
export type Grouping = (typeof GROUPINGS)[number];

/** One line of the account. */
export interface AccountRow extends TokenSums {
  /** The subject of the line: an agent's name, a folder, a model's id, a date, or a session's path. */
  readonly key: string;
  /** For people, where the key is none: a session's title. */
  readonly label: string;
  readonly sessions: number;
  readonly requests: number;
  readonly cost: number;
  readonly unpriced: number;
  /** Requests that were made again instead of recorded. */
  readonly replayed: number;
  /** Their part of the cost, which may be more: see `costRange`. US dollars. */
  readonly replayedCost: number;
}

/** A name for what the agents don't tell. */
const UNKNOWN = 'unknown';

/** The lines of a grouping: days in order, all else the costliest first. */
export function groupAccount(sessions: readonly SessionAccount[], grouping: Grouping): AccountRow[] {
  const rows = new Map<string, { -readonly [Key in keyof AccountRow]: AccountRow[Key] }>();
  const seen = new Set<string>();
  for (const session of sessions) {
    for (const usage of session.usage) {
      const key = keyOf(session, usage, grouping);
      const row = rows.get(key) ?? {
        ...{
          key,
          label: grouping === 'session' ? session.title : key,
          sessions: 0,
          requests: 0,
          replayed: 0,
          replayedCost: 0,
        },
        ...{ fresh: 0, cacheWrite: 0, cacheRead: 0, output: 0, cost: 0, unpriced: 0 },
      };
      rows.set(key, row);
      const once = `${key}\n${session.path}`;
      if (!seen.has(once)) row.sessions += 1;
      seen.add(once);
      row.requests += usage.requests;
      if (session.source === 'replayed') {
        row.replayed += usage.requests;
        row.replayedCost += usage.cost;
      }
      for (const field of SUMMED) row[field] += usage[field];
    }
  }
  const lines = [...rows.values()];
  return grouping === 'day'
    ? lines.sort((a, b) => (a.key < b.key ? -1 : 1))
    : lines.sort((a, b) => b.cost - a.cost || b.cacheRead + b.fresh - a.cacheRead - a.fresh);
}

const SUMMED = ['fresh', 'cacheWrite', 'cacheRead', 'output', 'cost', 'unpriced'] as const;

function keyOf(session: SessionAccount, usage: DayUsage, grouping: Grouping): string {
  switch (grouping) {
    case 'agent':
      return session.agent;
    case 'project':
      return session.project ?? UNKNOWN;
    case 'model':
      return usage.model ?? UNKNOWN;
    case 'day':
      return usage.day;
    case 'session':
      return session.path;
  }
}

/** All sessions in one: the sums, and what the context was made of. */
export interface AccountTotal extends Omit<AccountRow, 'key' | 'label'> {
  readonly parts: PartSums;
  readonly sentOften: number;
  readonly compactions: { readonly count: number; readonly estimatedCost: number; readonly recordedCost: number };
  readonly files: readonly (ReadFileSum & { readonly session: string })[];
  readonly unused: readonly (UnusedResult & { readonly session: string })[];
  /** All tools that were called, each agent's by themselves. */
  readonly calls: readonly (ToolCalls & { readonly agent: string })[];
}

const TOP = 10;

/** The sum of sessions, and the largest waste among them. */
export function totalOf(sessions: readonly SessionAccount[]): AccountTotal {
  const rows = groupAccount(sessions, 'agent');
  const sum = (of: (row: AccountRow) => number): number => rows.reduce((total, row) => total + of(row), 0);
  const parts = Object.fromEntries(
    PART_KINDS.map((kind) => [kind, sessions.reduce((total, session) => total + session.parts[kind], 0)]),
    // One entry for each kind, made of the list of kinds.
  ) as Record<PartKind, number>;
  const compacted = (isEstimate: boolean): number =>
    sessions.reduce(
      (total, { compactions }) => total + (compactions.isEstimate === isEstimate ? (compactions.cost ?? 0) : 0),
      0,
    );
  return {
    sessions: sessions.length,
    requests: sum(({ requests }) => requests),
    replayed: sum(({ replayed }) => replayed),
    replayedCost: sum(({ replayedCost }) => replayedCost),
    fresh: sum(({ fresh }) => fresh),
    cacheWrite: sum(({ cacheWrite }) => cacheWrite),
    cacheRead: sum(({ cacheRead }) => cacheRead),
    output: sum(({ output }) => output),
    cost: sum(({ cost }) => cost),
    unpriced: sum(({ unpriced }) => unpriced),
    parts,
    sentOften: sessions.reduce((total, { sentOften }) => total + sentOften, 0),
    compactions: {
      count: sessions.reduce((total, { compactions }) => total + compactions.count, 0),
      estimatedCost: compacted(true),
      recordedCost: compacted(false),
    },
    files: sessions
      .flatMap(({ files, title }) => files.map((file) => ({ ...file, session: title })))
      .sort((a, b) => b.tokens - a.tokens)
      .slice(0, TOP),
    unused: sessions
      .flatMap(({ unused, title }) => unused.map((result) => ({ ...result, session: title })))
      .sort((a, b) => b.tokens * b.sent - a.tokens * a.sent)
      .slice(0, TOP),
    calls: callsOf(sessions),
  };
}

function callsOf(sessions: readonly SessionAccount[]): AccountTotal['calls'] {
  const sums = new Map<string, ToolCalls & { readonly agent: string }>();
  for (const { agent, calls: own } of sessions) {
    for (const { tool, calls } of own) {
      const key = `${agent}\n${tool}`;
      sums.set(key, { agent, tool, calls: calls + (sums.get(key)?.calls ?? 0) });
    }
  }
  return [...sums.values()];
}

/**
 * The sums, and of long lists what costs most, for a person to look at. Small: it crosses to the editor's thread. What looks like a key in
 * titles, commands and paths is masked.
 */
export interface AccountOverview {
  readonly total: AccountTotal;
  readonly groups: Readonly<Record<Grouping, readonly AccountRow[]>>;
  /** The costliest sessions: how full their windows were. */
  readonly sessions: readonly Pick<SessionAccount, 'title' | 'window' | 'fill' | 'compactions'>[];
}

const SHOWN_ROWS = 100;
const SHOWN_SESSIONS = 30;

/** @param since leaves out what was before this local date, `2026-11-16` */
export function overviewOf(sessions: readonly SessionAccount[], since?: string): AccountOverview {
  const within = sessionsSince(sessions, since);
  const masked = (rows: readonly AccountRow[]): readonly AccountRow[] =>
    rows.map((row) => ({ ...row, label: maskSecrets(row.label) }));
  const rows = (grouping: Grouping): readonly AccountRow[] =>
    masked(groupAccount(within, grouping).slice(0, SHOWN_ROWS));
  const bySession = rows('session');
  const byPath = new Map(within.map((session) => [session.path, session]));
  const total = totalOf(within);
  return {
    total: {
      ...total,
      files: total.files.map((file) => ({
        ...file,
        path: maskSecrets(file.path),
        session: maskSecrets(file.session),
      })),
      unused: total.unused.map((result) => ({
        ...result,
        what: maskSecrets(result.what),
        session: maskSecrets(result.session),
      })),
    },
    groups: {
      agent: rows('agent'),
      project: rows('project'),
      model: rows('model'),
      // Of the days the last ones.
      day: groupAccount(within, 'day').slice(-SHOWN_ROWS),
      session: bySession,
    },
    sessions: bySession.slice(0, SHOWN_SESSIONS).flatMap(({ key }) => {
      const session = byPath.get(key);
      if (!session) return [];
      const { title, window, fill, compactions } = session;
      return [{ title: maskSecrets(title), ...(window !== undefined && { window }), fill, compactions }];
    }),
  };
}

/** The sessions that have requests since a local date, each whole. @param since absent: all */
export const sessionsUsedSince = (sessions: readonly SessionAccount[], since?: string): readonly SessionAccount[] =>
  since === undefined ? sessions : sessions.filter(({ usage }) => usage.some(({ day }) => day >= since));

/**
 * The requests since a local date. The context's composition is not kept by day: a session that has requests since then counts with all
 * of it.
 * @param since absent: all
 */
export function sessionsSince(sessions: readonly SessionAccount[], since?: string): readonly SessionAccount[] {
  if (since === undefined) return sessions;
  return sessionsUsedSince(sessions, since).map((session) => ({
    ...session,
    usage: session.usage.filter(({ day }) => day >= since),
  }));
}
