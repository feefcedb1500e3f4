/** Cost of many sessions with another way to condense: their accounts and what each would save. */
import type { SessionAccount } from './account';

export interface SessionSaving {
  /** US dollars of both sides, replayed alike; only requests with a known price. */
  readonly days: readonly { readonly day: string; readonly before: number; readonly after: number }[];
  readonly condensations: number;
  /**
   * Lines quoted by edits in the following turns, those missing by then, and missing ones that a
   * marker references.
   */
  readonly needed: number;
  readonly missing: number;
  readonly recallable: number;
  /** US dollars if each place with missing lines is read once more. */
  readonly rereads: number;
}

export interface WhatIfSum {
  readonly sessions: number;
  /** Sessions that would have been condensed. */
  readonly condensed: number;
  /** Sessions counted unchanged, since the window or price is unknown. */
  readonly unknown: number;
  /** US dollars: actual, condensed, and condensed with all missing lines read again. */
  readonly cost: number;
  readonly after: number;
  readonly atMost: number;
  readonly condensations: number;
  readonly needed: number;
  readonly missing: number;
  readonly recallable: number;
}

/**
 * A session's accounted cost counts with the share that its requests made again cost with the other provider. One that never was long enough
 * to be condensed costs the same.
 * @param savings by path; `unknown` where it can't be told
 * @param since leaves out the cost of requests before this local date
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
    // A replayed request costs slightly more or less than the real one, so rereads are scaled by
    // the ratio.
    const scale = before === 0 ? 1 : cost / before;
    sum.after += cost * share;
    sum.rereads += saving.rereads * scale;
    if (saving.condensations > 0) sum.condensed += 1;
    for (const field of ['condensations', 'needed', 'missing', 'recallable'] as const) lines[field] += saving[field];
  }
  const { rereads, ...rest } = sum;
  return { ...rest, ...lines, atMost: rest.after + rereads };
}
