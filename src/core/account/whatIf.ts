/** The cost that many sessions would have had with another way to condense: their accounts, and what each saves when it is made again. */
import type { SessionAccount } from './account';

/** One session, made again with another way. */
export interface SessionSaving {
  /** US dollars of both sides, made again alike; only requests whose price is known. */
  readonly days: readonly { readonly day: string; readonly before: number; readonly after: number }[];
  readonly condensations: number;
  /** Lines that edits of the next turns quoted, those of them that were gone by then, and those of these that a marker named. */
  readonly needed: number;
  readonly missing: number;
  readonly recallable: number;
  /** US dollars, if each place with missing lines was read once more. */
  readonly rereads: number;
}

export interface WhatIfSum {
  readonly sessions: number;
  /** Sessions in which it would have condensed. */
  readonly condensed: number;
  /** Sessions that count as they were, since their window or their price is not known. */
  readonly unknown: number;
  /** US dollars: as accounted, with the other way, and with it where all that was lost is read once more. */
  readonly cost: number;
  readonly after: number;
  readonly atMost: number;
  readonly condensations: number;
  readonly needed: number;
  readonly missing: number;
  readonly recallable: number;
}

/**
 * A session's accounted cost counts with the share that its requests made again cost with the other way. One that never was long enough
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
    // Made again, a request costs a little more or less than it did: what reading again costs is scaled alike.
    const scale = before === 0 ? 1 : cost / before;
    sum.after += cost * share;
    sum.rereads += saving.rereads * scale;
    if (saving.condensations > 0) sum.condensed += 1;
    for (const field of ['condensations', 'needed', 'missing', 'recallable'] as const) lines[field] += saving[field];
  }
  const { rereads, ...rest } = sum;
  return { ...rest, ...lines, atMost: rest.after + rereads };
}
