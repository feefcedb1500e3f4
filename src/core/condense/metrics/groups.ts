import { computeDistribution, getEstimateError, hasRunFailed, type RunMetrics } from './metrics';

export interface RunGroup {
  readonly key: string;
  readonly runs: number;
  readonly condensed: number;
  readonly failures: number;
  readonly fallbacks: number;
  readonly tokensBefore: number;
  readonly tokensSaved: number;
  /** In US dollars, without runs of unknown cost. */
  readonly cost: number;
  /** In US dollars, summed over the runs; absent if no prices are known. */
  readonly savedPerRequest?: number;
  /** Mean in milliseconds, over runs that condensed. */
  readonly latencyMs?: number;
  readonly estimateErrorPercent?: number;
}

const NO_PROFILE_KEY = '';

export const groupByProfile = (allRuns: readonly RunMetrics[]): RunGroup[] =>
  groupRuns(allRuns, ({ calls }) => calls[0]?.profile ?? NO_PROFILE_KEY);

export function groupRuns(allRuns: readonly RunMetrics[], getKey: (run: RunMetrics) => string): RunGroup[] {
  const groups = new Map<string, RunMetrics[]>();
  for (const run of allRuns) {
    const key = getKey(run);
    const group = groups.get(key);
    if (group) group.push(run);
    else groups.set(key, [run]);
  }
  return [...groups]
    .map(([key, runs]) => createRunGroup(key, runs))
    .sort((a, b) => b.tokensSaved - a.tokensSaved || a.key.localeCompare(b.key));
}

function createRunGroup(key: string, runs: readonly RunMetrics[]): RunGroup {
  const sumOverRuns = (getValue: (run: RunMetrics) => number): number =>
    runs.reduce((total, run) => total + getValue(run), 0);
  const condensedRuns = runs.filter(({ outcome }) => outcome === 'condensed');
  const latencyDistribution = computeDistribution(condensedRuns.map(({ timeMs }) => timeMs));
  const estimateError = computeDistribution(
    condensedRuns.map(getEstimateError).filter((percent) => percent !== undefined),
  );
  const isPriced = runs.some(({ savedPerRequest }) => savedPerRequest !== undefined);
  return {
    key,
    runs: runs.length,
    condensed: condensedRuns.length,
    failures: runs.filter(hasRunFailed).length,
    fallbacks: runs.filter(({ fallback }) => fallback).length,
    tokensBefore: sumOverRuns(({ tokensBefore }) => tokensBefore),
    tokensSaved: sumOverRuns(({ tokensBefore, tokensAfter }) => tokensBefore - tokensAfter),
    cost: sumOverRuns(({ cost }) => cost ?? 0),
    ...(isPriced && { savedPerRequest: sumOverRuns(({ savedPerRequest }) => savedPerRequest ?? 0) }),
    ...(latencyDistribution && { latencyMs: latencyDistribution.mean }),
    ...(estimateError && { estimateErrorPercent: estimateError.mean }),
  };
}
