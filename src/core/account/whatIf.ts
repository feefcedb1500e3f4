import type { SessionAccount } from './account';

export interface SessionSaving {
  /**
   * US dollars of the requests with a known price, without and with condensing; both are replayed.
   */
  readonly days: readonly { readonly day: string; readonly before: number; readonly after: number }[];
  readonly condensations: number;
  /**
   * `needed`: lines that later edits quote. `missing`: those that the view lacks by then.
   * `recallable`: missing lines that a marker references.
   */
  readonly needed: number;
  readonly missing: number;
  readonly recallable: number;
  /** US dollars for requests with which the agent reads missing lines again. */
  readonly rereads: number;
}

export interface WhatIfSum {
  readonly sessions: number;
  readonly condensed: number;
  /** Number of sessions whose window or price is unknown. They count as if not condensed. */
  readonly unknown: number;
  /** US dollars: `cost` is actual, `after` condensed, `atMost` with missing lines read again. */
  readonly cost: number;
  readonly after: number;
  readonly atMost: number;
  readonly condensations: number;
  readonly needed: number;
  readonly missing: number;
  readonly recallable: number;
}

/**
 * Scales each session's actual cost by the ratio of its replayed costs with and without condensing.
 */
export function sumSessionSavings(
  sessions: readonly SessionAccount[],
  savings: ReadonlyMap<string, SessionSaving | 'unknown'>,
  firstDay = '',
): WhatIfSum {
  const totals = { sessions: 0, condensed: 0, unknown: 0, cost: 0, after: 0, rereads: 0 };
  const countSums = { condensations: 0, needed: 0, missing: 0, recallable: 0 };
  for (const { path, usage } of sessions) {
    const recentDays = usage.filter(({ day }) => day >= firstDay);
    if (recentDays.length === 0) continue;
    const cost = recentDays.reduce((total, day) => total + day.cost, 0);
    const saving = savings.get(path);
    totals.sessions += 1;
    totals.cost += cost;
    if (saving === 'unknown') totals.unknown += 1;
    if (saving === undefined || saving === 'unknown') {
      totals.after += cost;
      continue;
    }
    const days = saving.days.filter(({ day }) => day >= firstDay);
    const costBefore = days.reduce((total, day) => total + day.before, 0);
    const costAfter = days.reduce((total, day) => total + day.after, 0);
    const costShare = costBefore === 0 ? 1 : costAfter / costBefore;
    // A replayed request does not cost exactly as much as the real one.
    const costScale = costBefore === 0 ? 1 : cost / costBefore;
    totals.after += cost * costShare;
    totals.rereads += saving.rereads * costScale;
    if (saving.condensations > 0) totals.condensed += 1;
    for (const field of ['condensations', 'needed', 'missing', 'recallable'] as const)
      countSums[field] += saving[field];
  }
  const { rereads, ...rest } = totals;
  return { ...rest, ...countSums, atMost: rest.after + rereads };
}
