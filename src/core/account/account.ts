import type { FillLevel } from './fillLevel';
import type { TokensByPrice } from './replay';
import {
  compareByReads,
  sumToolCalls,
  type TokensByPartKind,
  type ReadFileTokens,
  type ToolCalls,
  type UnusedResult,
} from './composition';
import { PART_KINDS, type PartKind } from './parts';
import { maskSecrets } from '../secrets/maskSecrets';
import { formatUsageBlockName, getMondayOfWeek } from './blocks';

export interface DayUsage extends TokensByPrice {
  /** Local date of the requests, such as `2026-11-23`. */
  readonly day: string;
  /** When the five-hour block starts, in milliseconds since the epoch. */
  readonly block: number;
  readonly model?: string;
  readonly requests: number;
  /** US dollars of the requests with a known price. */
  readonly cost: number;
  readonly unpriced: number;
  /** Number of requests that we reconstructed because the agent recorded none. */
  readonly replayed: number;
  /** US dollars of the reconstructed requests; the real cost may be higher. */
  readonly replayedCost: number;
}

export interface SessionAccount {
  readonly agent: string;
  readonly path: string;
  readonly id: string;
  readonly title: string;
  readonly project?: string;
  /** The session that this one was forked from, or that started it as a subagent. */
  readonly above?: { readonly path: string; readonly relation: 'fork' | 'subagent' };
  readonly source: 'recorded' | 'replayed' | 'mixed';
  readonly usage: readonly DayUsage[];
  /** The model's window in tokens. */
  readonly window?: number;
  /** Tokens of each request and its answer, in order, downsampled to each interval's maximum. */
  readonly fill: readonly number[];
  /** Fill level if the session continued now; undefined if its messages were not read. */
  readonly now?: FillLevel;
  readonly compactions: CompactionSum;
  /**
   * False if only the requests were read and no messages. The fields below are then empty. Default
   * true.
   */
  readonly isComposed?: boolean;
  readonly parts: TokensByPartKind;
  /** Tokens that were sent for the eleventh time or more. */
  readonly sentOften: number;
  readonly files: readonly ReadFileTokens[];
  readonly unused: readonly UnusedResult[];
  readonly calls: readonly ToolCalls[];
}

export interface CompactionSum {
  readonly count: number;
  /** US dollars; undefined if no price is known. */
  readonly cost?: number;
  /** True if the cost is estimated. Estimated costs are included in no other sum. */
  readonly isEstimate: boolean;
}

export const GROUPINGS = ['agent', 'project', 'model', 'block', 'day', 'week', 'session'] as const;
const GROUPINGS_BY_TIME: ReadonlySet<Grouping> = new Set(['block', 'day', 'week']);
export type Grouping = (typeof GROUPINGS)[number];

export interface AccountRow extends TokensByPrice {
  /** An agent's name, a folder, a model ID, a date, or a session's path. */
  readonly key: string;
  readonly label: string;
  readonly sessions: number;
  readonly requests: number;
  readonly cost: number;
  readonly unpriced: number;
  readonly replayed: number;
  readonly replayedCost: number;
  readonly tree?: SessionTree;
}

/** The sums include the session's descendants: its forks, its subagents, and theirs. */
export interface SessionTree {
  readonly depth: number;
  readonly above?: string;
  readonly relation?: 'fork' | 'subagent';
  readonly sessions: number;
  readonly requests: number;
  readonly cost: number;
  readonly unpriced: number;
  readonly replayedCost: number;
}

const UNKNOWN_GROUP_KEY = 'unknown';

type MutableAccountRow = { -readonly [Key in keyof AccountRow]: AccountRow[Key] };

export function groupAccountInRows(sessions: readonly SessionAccount[], grouping: Grouping): AccountRow[] {
  const rows = new Map<string, MutableAccountRow>();
  const seenRowsAndPaths = new Set<string>();
  for (const session of sessions) {
    for (const usage of session.usage) {
      const key = getGroupKey(session, usage, grouping);
      const row = rows.get(key) ?? makeEmptyRow(key, getGroupLabel(session, usage, grouping, key));
      rows.set(key, row);
      const rowAndPath = `${key}\n${session.path}`;
      if (!seenRowsAndPaths.has(rowAndPath)) row.sessions += 1;
      seenRowsAndPaths.add(rowAndPath);
      for (const field of SUMMED_USAGE_FIELDS) row[field] += usage[field];
    }
  }
  if (grouping === 'session') return makeSessionTreeRows(sessions, rows);
  const groupRows = [...rows.values()];
  return GROUPINGS_BY_TIME.has(grouping)
    ? groupRows.sort((a, b) => (a.key < b.key ? -1 : 1))
    : groupRows.sort(compareByCost);
}

const makeEmptyRow = (key: string, label: string): MutableAccountRow => ({
  ...{ key, label, sessions: 0, requests: 0, replayed: 0, replayedCost: 0 },
  ...{ fresh: 0, cacheWrite: 0, cacheRead: 0, output: 0, cost: 0, unpriced: 0 },
});

const compareByCost = (a: AccountRow, b: AccountRow): number =>
  b.cost - a.cost || b.cacheRead + b.fresh - a.cacheRead - a.fresh || (a.key < b.key ? -1 : 1);

/**
 * Each session is followed by its descendants. A session without usage or descendants is left out.
 */
function makeSessionTreeRows(
  sessions: readonly SessionAccount[],
  rowByPath: ReadonlyMap<string, MutableAccountRow>,
): AccountRow[] {
  const sessionByPath = new Map(sessions.map((session) => [session.path, session]));
  const childrenByPath = new Map<string | undefined, SessionAccount[]>();
  for (const session of sessionByPath.values()) {
    const parentPath = session.above && sessionByPath.has(session.above.path) ? session.above.path : undefined;
    childrenByPath.set(parentPath, [...(childrenByPath.get(parentPath) ?? []), session]);
  }
  const makeRows = (session: SessionAccount, depth: number): AccountRow[] => {
    const children = sortRows((childrenByPath.get(session.path) ?? []).map((child) => makeRows(child, depth + 1)));
    const row = rowByPath.get(session.path) ?? makeEmptyRow(session.path, session.title);
    if (row.sessions === 0 && children.length === 0) return [];
    const sumField = (field: 'sessions' | 'requests' | 'cost' | 'unpriced' | 'replayedCost'): number =>
      children.reduce((all, [child]) => all + (child?.tree?.[field] ?? 0), row[field]);
    const { above: parentPath } = session;
    const tree = {
      ...{ depth, sessions: sumField('sessions'), requests: sumField('requests'), cost: sumField('cost') },
      ...{ unpriced: sumField('unpriced'), replayedCost: sumField('replayedCost') },
      ...(parentPath && { above: parentPath.path, relation: parentPath.relation }),
    };
    return [{ ...row, tree }, ...children.flat()];
  };
  const sortRows = (trees: AccountRow[][]): AccountRow[][] =>
    trees
      .filter(([root]) => root)
      .sort(([a], [b]) => (a && b ? (b.tree?.cost ?? 0) - (a.tree?.cost ?? 0) || compareByCost(a, b) : 0));
  return sortRows((childrenByPath.get(undefined) ?? []).map((session) => makeRows(session, 0))).flat();
}

const SUMMED_USAGE_FIELDS = [
  ...(['requests', 'fresh', 'cacheWrite', 'cacheRead', 'output'] as const),
  ...(['cost', 'unpriced', 'replayed', 'replayedCost'] as const),
] as const;

function getGroupLabel(session: SessionAccount, usage: DayUsage, grouping: Grouping, key: string): string {
  if (grouping === 'session') return session.title;
  if (grouping === 'block') return `${formatUsageBlockName(usage.block)} ${session.agent}`;
  return grouping === 'week' ? `week of ${key}` : key;
}

function getGroupKey(session: SessionAccount, usage: DayUsage, grouping: Grouping): string {
  switch (grouping) {
    case 'agent':
      return session.agent;
    case 'project':
      return session.project ?? UNKNOWN_GROUP_KEY;
    case 'model':
      return usage.model ?? UNKNOWN_GROUP_KEY;
    case 'day':
      return usage.day;
    case 'week':
      return getMondayOfWeek(usage.day);
    case 'block':
      return `${new Date(usage.block).toISOString()} ${session.agent}`;
    case 'session':
      return session.path;
  }
}

export interface UnreadSessions {
  readonly reason: string;
  readonly sessions: number;
}

function groupUnreadSessions(reasons: readonly string[]): readonly UnreadSessions[] {
  const sessionsByReason = new Map<string, number>();
  for (const reason of reasons) sessionsByReason.set(reason, (sessionsByReason.get(reason) ?? 0) + 1);
  return [...sessionsByReason]
    .map(([reason, sessions]) => ({ reason, sessions }))
    .sort((a, b) => b.sessions - a.sessions);
}

export interface EstimatedSessions {
  readonly agent: string;
  readonly sessions: number;
}

function groupEstimatedSessions(sessions: readonly SessionAccount[]): readonly EstimatedSessions[] {
  const estimatedSessions = sessions.filter(({ usage }) => usage.some(({ replayed }) => replayed > 0));
  return [...Map.groupBy(estimatedSessions, ({ agent }) => agent)]
    .map(([agent, of]) => ({ agent, sessions: of.length }))
    .sort((a, b) => b.sessions - a.sessions || (a.agent < b.agent ? -1 : 1));
}

export interface AccountTotal extends Omit<AccountRow, 'key' | 'label' | 'tree'> {
  readonly unread: readonly UnreadSessions[];
  readonly estimated: readonly EstimatedSessions[];
  /** Number of sessions whose content we could not analyze. */
  readonly uncomposed: number;
  readonly parts: TokensByPartKind;
  readonly sentOften: number;
  readonly compactions: { readonly count: number; readonly estimatedCost: number; readonly recordedCost: number };
  readonly files: readonly (ReadFileTokens & { readonly session: string })[];
  readonly unused: readonly (UnusedResult & { readonly session: string })[];
  readonly calls: readonly (ToolCalls & { readonly agent: string })[];
}

const MAX_TOP_ENTRIES = 10;

/** @param unreadReasons one reason for each session that could not be read */
export function sumSessionAccounts(
  sessions: readonly SessionAccount[],
  unreadReasons: readonly string[] = [],
): AccountTotal {
  const agentRows = groupAccountInRows(sessions, 'agent');
  const sumRows = (getValue: (row: AccountRow) => number): number =>
    agentRows.reduce((total, row) => total + getValue(row), 0);
  const tokensByPart = Object.fromEntries(
    PART_KINDS.map((kind) => [kind, sessions.reduce((total, session) => total + session.parts[kind], 0)]),
  ) as Record<PartKind, number>;
  const sumCompactions = (isEstimate: boolean): number =>
    sessions.reduce(
      (total, { compactions }) => total + (compactions.isEstimate === isEstimate ? (compactions.cost ?? 0) : 0),
      0,
    );
  return {
    unread: groupUnreadSessions(unreadReasons),
    estimated: groupEstimatedSessions(sessions),
    uncomposed: sessions.filter(({ isComposed }) => isComposed === false).length,
    sessions: sessions.length,
    requests: sumRows(({ requests }) => requests),
    replayed: sumRows(({ replayed }) => replayed),
    replayedCost: sumRows(({ replayedCost }) => replayedCost),
    fresh: sumRows(({ fresh }) => fresh),
    cacheWrite: sumRows(({ cacheWrite }) => cacheWrite),
    cacheRead: sumRows(({ cacheRead }) => cacheRead),
    output: sumRows(({ output }) => output),
    cost: sumRows(({ cost }) => cost),
    unpriced: sumRows(({ unpriced }) => unpriced),
    parts: tokensByPart,
    sentOften: sessions.reduce((total, { sentOften }) => total + sentOften, 0),
    compactions: {
      count: sessions.reduce((total, { compactions }) => total + compactions.count, 0),
      estimatedCost: sumCompactions(true),
      recordedCost: sumCompactions(false),
    },
    files: listFilesOncePerLineage(sessions).slice(0, MAX_TOP_ENTRIES),
    unused: sessions
      .flatMap(({ unused, title }) => unused.map((result) => ({ ...result, session: title })))
      .sort((a, b) => b.tokens * b.sent - a.tokens * a.sent)
      .slice(0, MAX_TOP_ENTRIES),
    calls: sumToolCallsByAgent(sessions),
  };
}

/** A fork's file repeats its origin's reads, so each path is listed for the session with most reads. */
function listFilesOncePerLineage(sessions: readonly SessionAccount[]): AccountTotal['files'] {
  const sessionByPath = new Map(sessions.map((session) => [session.path, session]));
  const findRoot = ({ path, above }: SessionAccount): string => {
    const origin = above?.relation === 'fork' ? sessionByPath.get(above.path) : undefined;
    return origin ? findRoot(origin) : path;
  };
  const listedKeys = new Set<string>();
  return sessions
    .flatMap((session) =>
      session.files.map((file) => ({
        file: { ...file, session: session.title },
        key: `${findRoot(session)}\n${file.path}`,
      })),
    )
    .sort((a, b) => compareByReads(a.file, b.file))
    .flatMap(({ file, key }) => {
      if (listedKeys.has(key)) return [];
      listedKeys.add(key);
      return [file];
    });
}

function sumToolCallsByAgent(sessions: readonly SessionAccount[]): AccountTotal['calls'] {
  return [...Map.groupBy(sessions, ({ agent }) => agent)].flatMap(([agent, of]) =>
    sumToolCalls(of.flatMap(({ calls }) => calls)).map((each) => ({ agent, ...each })),
  );
}

/** Small enough for the UI thread. Secrets in titles, commands and paths are masked. */
export interface AccountOverview {
  readonly total: AccountTotal;
  readonly groups: Readonly<Record<Grouping, readonly AccountRow[]>>;
  /** The costliest sessions, each without its descendants. */
  readonly sessions: readonly (Pick<SessionAccount, 'title' | 'window' | 'fill' | 'now' | 'compactions'> &
    Pick<AccountRow, 'cost' | 'replayedCost' | 'requests' | 'unpriced'>)[];
}

const MAX_SHOWN_ROWS = 100;
const MAX_SHOWN_SESSIONS = 30;

/** @param firstDay leaves out everything before this local date, such as `2026-11-16` */
export function makeAccountOverview(
  sessions: readonly SessionAccount[],
  firstDay?: string,
  unreadReasons: readonly string[] = [],
): AccountOverview {
  const recentSessions = dropUsageBefore(sessions, firstDay);
  const maskLabels = (rows: readonly AccountRow[]): readonly AccountRow[] =>
    rows.map((row) => ({ ...row, label: maskSecrets(row.label) }));
  const makeGroupRows = (grouping: Grouping): readonly AccountRow[] =>
    maskLabels(groupAccountInRows(recentSessions, grouping).slice(0, MAX_SHOWN_ROWS));
  const sessionRows = groupAccountInRows(recentSessions, 'session');
  const sessionByPath = new Map(recentSessions.map((session) => [session.path, session]));
  const accountTotal = sumSessionAccounts(recentSessions, unreadReasons);
  return {
    total: {
      ...accountTotal,
      files: accountTotal.files.map((file) => ({
        ...file,
        path: maskSecrets(file.path),
        session: maskSecrets(file.session),
      })),
      unused: accountTotal.unused.map((result) => ({
        ...result,
        what: maskSecrets(result.what),
        session: maskSecrets(result.session),
      })),
    },
    groups: {
      agent: makeGroupRows('agent'),
      project: makeGroupRows('project'),
      model: makeGroupRows('model'),
      block: groupAccountInRows(recentSessions, 'block').slice(-MAX_SHOWN_ROWS),
      day: groupAccountInRows(recentSessions, 'day').slice(-MAX_SHOWN_ROWS),
      week: groupAccountInRows(recentSessions, 'week').slice(-MAX_SHOWN_ROWS),
      session: maskLabels(sessionRows.slice(0, MAX_SHOWN_ROWS)),
    },
    sessions: sessionRows
      .toSorted((a, b) => b.cost - a.cost)
      .slice(0, MAX_SHOWN_SESSIONS)
      .flatMap(({ key, cost, replayedCost, requests, unpriced }) => {
        const session = sessionByPath.get(key);
        if (!session) return [];
        const { title, window, fill, now, compactions } = session;
        return [
          {
            title: maskSecrets(title),
            ...(window !== undefined && { window }),
            fill,
            ...(now && { now }),
            compactions,
            ...{ cost, replayedCost, requests, unpriced },
          },
        ];
      }),
  };
}

export const selectSessionsUsedSince = (
  sessions: readonly SessionAccount[],
  firstDay?: string,
): readonly SessionAccount[] =>
  firstDay === undefined ? sessions : sessions.filter(({ usage }) => usage.some(({ day }) => day >= firstDay));

/** Only usage is stored by day; everything else in a session's account stays whole. */
export function dropUsageBefore(sessions: readonly SessionAccount[], firstDay?: string): readonly SessionAccount[] {
  if (firstDay === undefined) return sessions;
  return selectSessionsUsedSince(sessions, firstDay).map((session) => ({
    ...session,
    usage: session.usage.filter(({ day }) => day >= firstDay),
  }));
}
