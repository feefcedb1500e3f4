/** Metrics never leave the machine. */
import { countPromptTokens, type Usage } from '../../cost/usage';
import { formatPercent } from '../../percent';
import type { CondensationId } from '../ledger/ledger';
import type { OutcomeSummary } from '../condensation';
import type { OutputSample } from '../summary/expectedOutput';
import type { ModelCall } from '../types';

export interface RunMetrics {
  /** ISO 8601 time. */
  readonly at: string;
  readonly provider: string;
  readonly outcome: OutcomeSummary['kind'];
  readonly reason?: string;
  /** True if another provider or model than the selected one ran. */
  readonly fallback: boolean;
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  readonly timeMs: number;
  /** In US dollars; absent if a price is unknown. */
  readonly cost?: number;
  readonly estimatedCost?: number;
  readonly calls: readonly ModelCall[];
  readonly condensation?: CondensationId;
  /** Preset or strategy; absent for the user's own configuration. */
  readonly preset?: string;
  /** `by-hand`, or why a live conversation was due for condensing. */
  readonly trigger?: string;
  /** Percentage of the window in use before; absent if the window is unknown. */
  readonly windowPercent?: number;
  /** In US dollars; absent if the conversation's prices are unknown. */
  readonly savedPerRequest?: number;
}

export type RunContext = Pick<RunMetrics, 'condensation' | 'preset' | 'trigger' | 'windowPercent' | 'savedPerRequest'>;

/** @param chosenProvider the provider that was requested */
export function createRunMetrics(
  outcome: OutcomeSummary,
  chosenProvider: string,
  now: Date,
  context: RunContext = {},
): RunMetrics {
  const { provider, kind, tokensBefore, timeMs, cost, estimatedCost, calls = [] } = outcome;
  const reason = getUnsuccessfulReason(outcome);
  return {
    at: now.toISOString(),
    provider,
    outcome: kind,
    ...(reason !== undefined && { reason }),
    fallback: provider !== chosenProvider || calls.some((call) => call.chosen === 'conversation'),
    tokensBefore,
    tokensAfter: kind === 'condensed' ? outcome.tokensAfter : tokensBefore,
    timeMs,
    ...(cost !== undefined && { cost }),
    ...(estimatedCost !== undefined && { estimatedCost }),
    calls,
    ...context,
  };
}

function getUnsuccessfulReason(outcome: OutcomeSummary): string | undefined {
  if (outcome.kind === 'unchanged') return outcome.reason;
  return outcome.kind === 'failed' ? outcome.error.message : undefined;
}

export interface WarningLimits {
  /** Warns if a condensation removes less than this percentage. */
  readonly reductionPercent: number;
  /** Warns if one condensation costs more US dollars. */
  readonly cost: number;
}

export const DEFAULT_WARNING_LIMITS: WarningLimits = { reductionPercent: 20, cost: 0.1 };

export const hasRunFailed = ({ outcome }: RunMetrics): boolean => outcome === 'failed' || outcome === 'refused';

const getReductionPercent = ({ tokensBefore, tokensAfter }: RunMetrics): number =>
  tokensBefore === 0 ? 0 : (100 * (tokensBefore - tokensAfter)) / tokensBefore;

export const isReductionSmall = (run: RunMetrics, { reductionPercent }: WarningLimits): boolean =>
  getReductionPercent(run) < reductionPercent;

export function getRunWarnings(run: RunMetrics, limits: WarningLimits = DEFAULT_WARNING_LIMITS): string[] {
  if (run.outcome !== 'condensed') return [];
  const reduction = getReductionPercent(run);
  return [
    ...(isReductionSmall(run, limits)
      ? [
          `Only ${formatPercent(reduction, 1)} of the tokens were removed; the warning is set to ${formatPercent(limits.reductionPercent)}.`,
        ]
      : []),
    ...(run.cost !== undefined && run.cost > limits.cost
      ? [`It cost $${run.cost.toFixed(4)}; the warning is set to $${limits.cost.toFixed(2)}.`]
      : []),
  ];
}

export interface ValueDistribution {
  readonly count: number;
  readonly mean: number;
  readonly p95: number;
}

/** Mean and 95th percentile (nearest rank); undefined for an empty list. */
export function computeDistribution(values: readonly number[]): ValueDistribution | undefined {
  if (values.length === 0) return undefined;
  const sortedValues = values.toSorted((a, b) => a - b);
  const p95 = sortedValues[Math.ceil(sortedValues.length * 0.95) - 1] ?? 0;
  return { count: values.length, mean: values.reduce((sum, value) => sum + value, 0) / values.length, p95 };
}

const getTokensPerSecond = ({ usage, timeMs }: ModelCall): number[] =>
  usage && timeMs > 0 ? [(usage.outputTokens * 1_000) / timeMs] : [];

/** In percent; absent if either cost is unknown. */
export function getEstimateError({ cost, estimatedCost }: RunMetrics): number | undefined {
  if (cost === undefined || estimatedCost === undefined || cost === 0) return undefined;
  return (100 * Math.abs(estimatedCost - cost)) / cost;
}

export interface MetricsSummary {
  readonly condensations: number;
  readonly failures: number;
  readonly fallbacks: number;
  readonly latencyMs: ValueDistribution | undefined;
  readonly tokensPerSecond: ValueDistribution | undefined;
  /** US dollars per condensation whose cost is known. */
  readonly cost: ValueDistribution | undefined;
  readonly reductionPercent: ValueDistribution | undefined;
  readonly estimateErrorPercent: ValueDistribution | undefined;
  /** In US dollars, without calls of unknown cost. */
  readonly byProfile: Readonly<Record<string, { readonly calls: number; readonly cost: number }>>;
}

/** Durations are in milliseconds, costs in US dollars, reductions in percent. */
export function summarizeMetrics(runs: readonly RunMetrics[]): MetricsSummary {
  const sumsByProfile = new Map<string, { calls: number; cost: number }>();
  for (const { profile, cost } of runs.flatMap(({ calls }) => calls)) {
    const sums = sumsByProfile.get(profile) ?? { calls: 0, cost: 0 };
    sumsByProfile.set(profile, { calls: sums.calls + 1, cost: sums.cost + (cost ?? 0) });
  }
  const condensedRuns = runs.filter(({ outcome }) => outcome === 'condensed');
  return {
    condensations: condensedRuns.length,
    failures: runs.filter(hasRunFailed).length,
    fallbacks: runs.filter(({ fallback }) => fallback).length,
    latencyMs: computeDistribution(condensedRuns.map(({ timeMs }) => timeMs)),
    tokensPerSecond: computeDistribution(runs.flatMap(({ calls }) => calls.flatMap(getTokensPerSecond))),
    cost: computeDistribution(condensedRuns.map(({ cost }) => cost).filter((cost) => cost !== undefined)),
    reductionPercent: computeDistribution(condensedRuns.map(getReductionPercent)),
    estimateErrorPercent: computeDistribution(
      condensedRuns.map(getEstimateError).filter((error) => error !== undefined),
    ),
    byProfile: Object.fromEntries(sumsByProfile),
  };
}

/** Older calls do not count, because models and prompts change. */
const MAX_RECENT_CALLS = 20;
/** Larger than {@link MAX_RECENT_CALLS}, because one run makes dozens of such summaries. */
const MAX_RECENT_CONTENT_SUMMARIES = 100;
/** No known tokenizer differs from o200k by more than these factors. */
const TOKEN_FACTOR_BOUNDS = { least: 0.5, most: 5 } as const;

interface ReportedCall extends ModelCall {
  readonly usage: Usage;
}

const selectReportedCalls = (runs: readonly RunMetrics[], model: string): ReportedCall[] =>
  runs
    .flatMap(({ calls }) => calls)
    .filter((call): call is ReportedCall => call.model === model && call.usage?.source === 'reported');

/** Returns the model's tokens per o200k token; undefined without recent calls. */
export function computeTokenFactor(runs: readonly RunMetrics[], model: string): number | undefined {
  const calls = selectReportedCalls(runs, model).slice(-MAX_RECENT_CALLS);
  const countedTokens = calls.reduce((sum, call) => sum + call.countedTokens, 0);
  const reportedTokens = calls.reduce((sum, call) => sum + countPromptTokens(call.usage), 0);
  if (countedTokens === 0 || reportedTokens === 0) return undefined;
  return Math.min(TOKEN_FACTOR_BOUNDS.most, Math.max(TOKEN_FACTOR_BOUNDS.least, reportedTokens / countedTokens));
}

export function getOutputSamples(runs: readonly RunMetrics[], model: string): OutputSample[] {
  const completeCalls = selectReportedCalls(runs, model).filter(({ outcome }) => outcome === 'complete');
  const [contents, conversations] = [true, false].map((isContent) =>
    completeCalls
      .filter(({ askedTokens }) => (askedTokens !== undefined) === isContent)
      .slice(isContent ? -MAX_RECENT_CONTENT_SUMMARIES : -MAX_RECENT_CALLS),
  );
  return [...(conversations ?? []), ...(contents ?? [])].map(({ usage, askedTokens }) => ({
    inputTokens: countPromptTokens(usage),
    outputTokens: usage.outputTokens,
    ...(askedTokens !== undefined && { askedTokens }),
  }));
}
