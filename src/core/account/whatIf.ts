import type { SessionAccount } from './account';

export interface SessionSaving {
  /** US dollars of the requests with a known price, both sides replayed. */
  readonly days: readonly { readonly day: string; readonly before: number; readonly after: number }[];
  readonly condensations: number;
  /** Number of lines that later edits quote; `missing` counts those that were condensed by then. */
  readonly needed: number;
  readonly missing: number;
  readonly recallable: number;
  /** US dollars if the agent reads each place with missing lines once more. */
  readonly rereads: number;
}

export interface WhatIfSum {
  readonly sessions: number;
  readonly condensed: number;
  /** Sessions whose window or price is unknown, so that their cost counts unchanged. */
  readonly unknown: number;
  /**
   * US dollars: `cost` is actual, `after` condensed, `atMost` with all missing lines read again.
   */
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
 * @param savings by path; `unknown` if a session's saving can't be estimated
 */
export function computeWhatIf(
  sessions: readonly SessionAccount[],
  savings: ReadonlyMap<string, SessionSaving | 'unknown'>,
  since = '',
): WhatIfSum {
  const sum = { sessions: 0, condensed: 0, unknown: 0, cost: 0, after: 0, rereads: 0 };
  const lines = { condensations: 0, needed: 0, missing: 0, recallable: 0 };
  for (const { path, usage } of sessions) {
    const within = usage.filter(({ day }) => day >= since);
    if (within.length === 0) continue;
    const cost = within.reduce((total, day) => total + day.cost, 0);
    const saving = savings.get(path);
    sum.sessions += 1;
    sum.cost += cost;
    if (saving === 'unknown') sum.unknown += 1;
    if (saving === undefined || saving === 'unknown') {
      sum.after += cost;
      continue;
    }
    const days = saving.days.filter(({ day }) => day >= since);
    const before = days.reduce((total, day) => total + day.before, 0);
    const after = days.reduce((total, day) => total + day.after, 0);
    const share = before === 0 ? 1 : after / before;
    const scale = before === 0 ? 1 : cost / before;
    sum.after += cost * share;
    sum.rereads += saving.rereads * scale;
    if (saving.condensations > 0) sum.condensed += 1;
    for (const field of ['condensations', 'needed', 'missing', 'recallable'] as const) lines[field] += saving[field];
  }
  const { rereads, ...rest } = sum;
  return { ...rest, ...lines, atMost: rest.after + rereads };
}
