/** Measures side by side: what runs with one profile, or with one configuration, took and saved. */
import { distribution, estimateErrorPercent, hasFailed, type RunMetrics } from './metrics';

/** The runs that have something in common. */
export interface RunGroup {
  /** The value that the group's runs have in common. */
  readonly key: string;
  readonly runs: number;
  readonly condensed: number;
  /** Failed, or refused by the checks. */
  readonly failures: number;
  readonly fallbacks: number;
  /** Tokens of the conversations that were to be condensed. */
  readonly tokensBefore: number;
  readonly tokensSaved: number;
  /** US dollars; costs that are not known are not in it. */
  readonly cost: number;
  /** US dollars that each later request costs less, all runs together; absent where no run's prices are known. */
  readonly savedPerRequest?: number;
  /** Milliseconds on average, of the runs that condensed. */
  readonly latencyMs?: number;
  readonly estimateErrorPercent?: number;
}

/** Key of the runs that called no model. */
const NO_PROFILE = '';

/** Groups by the profile that was called first, the largest saving first. */
export const byProfile = (allRuns: readonly RunMetrics[]): RunGroup[] =>
  groupRuns(allRuns, ({ calls }) => calls[0]?.profile ?? NO_PROFILE);

/** Groups by what a function gives for a run, the largest saving first. */
export function groupRuns(allRuns: readonly RunMetrics[], keyOf: (run: RunMetrics) => string): RunGroup[] {
  const groups = new Map<string, RunMetrics[]>();
  for (const run of allRuns) {
    const key = keyOf(run);
    const known = groups.get(key);
    if (known) known.push(run);
    else groups.set(key, [run]);
  }
  return [...groups]
    .map(([key, runs]) => groupOf(key, runs))
    .sort((a, b) => b.tokensSaved - a.tokensSaved || a.key.localeCompare(b.key));
}

function groupOf(key: string, runs: readonly RunMetrics[]): RunGroup {
  const sum = (valueOf: (run: RunMetrics) => number): number => runs.reduce((total, run) => total + valueOf(run), 0);
  const condensed = runs.filter(({ outcome }) => outcome === 'condensed');
  const latency = distribution(condensed.map(({ timeMs }) => timeMs));
  const error = distribution(condensed.map(estimateErrorPercent).filter((percent) => percent !== undefined));
  const isPriced = runs.some(({ savedPerRequest }) => savedPerRequest !== undefined);
  return {
    key,
    runs: runs.length,
    condensed: condensed.length,
    failures: runs.filter(hasFailed).length,
    fallbacks: runs.filter(({ fallback }) => fallback).length,
    tokensBefore: sum(({ tokensBefore }) => tokensBefore),
    tokensSaved: sum(({ tokensBefore, tokensAfter }) => tokensBefore - tokensAfter),
    cost: sum(({ cost }) => cost ?? 0),
    ...(isPriced && { savedPerRequest: sum(({ savedPerRequest }) => savedPerRequest ?? 0) }),
    ...(latency && { latencyMs: latency.mean }),
    ...(error && { estimateErrorPercent: error.mean }),
  };
}
