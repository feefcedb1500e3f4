import { groupRuns, type RunGroup } from './groups';
import { hasRunFailed, type RunMetrics } from './metrics';
import { MAX_CONDENSE_THRESHOLD, MIN_CONDENSE_THRESHOLD } from '../trigger/thresholds';
import { isBuiltInProvider, type BuiltInProviderId } from '../types';

export interface CurrentSettings {
  readonly provider: string;
  readonly preset?: string;
  readonly profile?: string;
  /** Percent of the window. */
  readonly threshold: number;
}

export interface ExpectedSaving {
  readonly dollars: number;
  readonly tokens: number;
  /** Number of condensations avoided, or made before they were urgent. */
  readonly runs: number;
}

export type Recommendation = {
  /** Number of runs on which the recommendation is based. */
  readonly from: number;
  readonly saving: ExpectedSaving;
} & (
  | { readonly kind: 'profile'; readonly profile: string }
  | { readonly kind: 'configuration'; readonly provider: string; readonly preset?: string }
  | { readonly kind: 'threshold'; readonly percent: number }
);

const MIN_RUNS_TO_RECOMMEND = 5;
/** A cheaper profile's price per removed token must be at most this share of the current one's. */
const MAX_PRICE_FACTOR = 0.8;
/** Another profile may fail this much more often, as a share of its runs. */
const MAX_EXTRA_FAILURE_SHARE = 0.1;
/**
 * A configuration is better if it removes at least this additional share of the tokens at no higher
 * cost.
 */
const MIN_EXTRA_SAVED_SHARE = 0.05;
/**
 * A configuration is also better if it costs at most this share of the current cost and removes
 * hardly less.
 */
const MAX_COST_SHARE = 0.5;
const MAX_LESS_SAVED_SHARE = 0.02;
/** A threshold is too high if this share of the runs started only when the window was full. */
const HIGH_FULL_WINDOW_SHARE = 0.25;
/** A threshold is too low if runs at it remove less than this share. */
const LOW_SAVED_SHARE = 0.15;
const THRESHOLD_STEP_PERCENT = 10;

const NO_SAVING: ExpectedSaving = { dollars: 0, tokens: 0, runs: 0 };

/** @param allRuns oldest first */
export function createRecommendations(allRuns: readonly RunMetrics[], current: CurrentSettings): Recommendation[] {
  return [recommendProfile, recommendConfiguration, recommendThreshold].flatMap(
    (advise) => advise(allRuns, current) ?? [],
  );
}

const getPricePerToken = ({ cost, tokensSaved }: RunGroup): number => (tokensSaved > 0 ? cost / tokensSaved : Infinity);

const computeFailureShare = ({ failures, runs }: RunGroup): number => failures / runs;

function recommendProfile(allRuns: readonly RunMetrics[], { profile }: CurrentSettings): Recommendation | undefined {
  const pricedRuns = allRuns.filter(
    ({ calls, cost }) => cost !== undefined && new Set(calls.map((call) => call.profile)).size === 1,
  );
  const groups = groupRuns(pricedRuns, ({ calls }) => calls[0]?.profile ?? '').filter(
    ({ runs }) => runs >= MIN_RUNS_TO_RECOMMEND,
  );
  const currentGroup = groups.find(({ key }) => key === profile);
  if (!currentGroup || currentGroup.tokensSaved <= 0) return undefined;
  const bestGroup = groups
    .filter((group) => computeFailureShare(group) <= computeFailureShare(currentGroup) + MAX_EXTRA_FAILURE_SHARE)
    .toSorted((a, b) => getPricePerToken(a) - getPricePerToken(b))[0];
  if (!bestGroup || getPricePerToken(bestGroup) > getPricePerToken(currentGroup) * MAX_PRICE_FACTOR) return undefined;
  const savedDollars = currentGroup.cost - currentGroup.tokensSaved * getPricePerToken(bestGroup);
  return {
    kind: 'profile',
    profile: bestGroup.key,
    from: currentGroup.runs + bestGroup.runs,
    saving: { ...NO_SAVING, dollars: savedDollars },
  };
}

/** No recommendation may lose more content than the current provider does. */
const LOSS_RANK_BY_PROVIDER: Readonly<Record<BuiltInProviderId, number>> = {
  lossless: 0,
  smart: 1,
  strategy: 1,
  truncation: 1,
  native: 2,
};

const makeProviderAndPresetKey = (provider: string, preset: string | undefined): string =>
  JSON.stringify([provider, preset ?? null]);

const computeSavedShare = ({ tokensSaved, tokensBefore }: RunGroup): number => tokensSaved / Math.max(1, tokensBefore);

function recommendConfiguration(allRuns: readonly RunMetrics[], current: CurrentSettings): Recommendation | undefined {
  const runByConfiguration = new Map(
    allRuns.map((run) => [makeProviderAndPresetKey(run.provider, run.preset), run] as const),
  );
  const groups = groupRuns(
    allRuns.filter(({ fallback }) => !fallback),
    ({ provider, preset }) => makeProviderAndPresetKey(provider, preset),
  ).filter(({ runs }) => runs >= MIN_RUNS_TO_RECOMMEND);
  const currentGroup = groups.find(({ key }) => key === makeProviderAndPresetKey(current.provider, current.preset));
  if (!currentGroup) return undefined;
  const getMeanCost = ({ cost, runs }: RunGroup): number => cost / runs;
  const getLossRank = ({ key }: RunGroup): number => {
    const provider = runByConfiguration.get(key)?.provider ?? '';
    return isBuiltInProvider(provider) ? LOSS_RANK_BY_PROVIDER[provider] : Infinity;
  };
  const isBetter = (group: RunGroup): boolean => {
    const isCheaper = getMeanCost(currentGroup) > 0 && getMeanCost(group) <= getMeanCost(currentGroup) * MAX_COST_SHARE;
    const savesMore =
      computeSavedShare(group) >= computeSavedShare(currentGroup) + MIN_EXTRA_SAVED_SHARE &&
      getMeanCost(group) <= getMeanCost(currentGroup);
    return (
      savesMore || (isCheaper && computeSavedShare(group) >= computeSavedShare(currentGroup) - MAX_LESS_SAVED_SHARE)
    );
  };
  const bestGroup = groups
    .filter((group) => group !== currentGroup && getLossRank(group) <= getLossRank(currentGroup) && isBetter(group))
    .toSorted((a, b) => getMeanCost(a) - getMeanCost(b) || computeSavedShare(b) - computeSavedShare(a))[0];
  const bestRun = bestGroup && runByConfiguration.get(bestGroup.key);
  if (!bestRun) return undefined;
  const savedDollars = Math.max(0, currentGroup.cost - getMeanCost(bestGroup) * currentGroup.runs);
  const savedTokens = Math.max(
    0,
    Math.round((computeSavedShare(bestGroup) - computeSavedShare(currentGroup)) * currentGroup.tokensBefore),
  );
  const { provider, preset } = bestRun;
  return {
    kind: 'configuration',
    provider,
    ...(preset !== undefined && { preset }),
    from: currentGroup.runs + bestGroup.runs,
    saving: { ...NO_SAVING, dollars: savedDollars, tokens: savedTokens },
  };
}

const FULL_WINDOW_REASONS = new Set(['window', 'too-long']);
const AUTOMATIC_REASONS = new Set([...FULL_WINDOW_REASONS, 'threshold', 'cold-cache', 'background']);

function recommendThreshold(
  allRuns: readonly RunMetrics[],
  { threshold }: CurrentSettings,
): Recommendation | undefined {
  const automaticRuns = allRuns.filter((run) => AUTOMATIC_REASONS.has(run.trigger ?? '') && !hasRunFailed(run));
  if (automaticRuns.length < MIN_RUNS_TO_RECOMMEND) return undefined;
  const fullWindowRuns = automaticRuns.filter(({ trigger }) => FULL_WINDOW_REASONS.has(trigger ?? ''));
  if (fullWindowRuns.length / automaticRuns.length >= HIGH_FULL_WINDOW_SHARE) {
    const percent = Math.max(MIN_CONDENSE_THRESHOLD, threshold - THRESHOLD_STEP_PERCENT);
    return percent === threshold
      ? undefined
      : makeThresholdRecommendation(percent, automaticRuns.length, { ...NO_SAVING, runs: fullWindowRuns.length });
  }
  const [totals] = groupRuns(automaticRuns, () => '');
  if (!totals || computeSavedShare(totals) >= LOW_SAVED_SHARE) return undefined;
  const percent = Math.min(MAX_CONDENSE_THRESHOLD - THRESHOLD_STEP_PERCENT, threshold + THRESHOLD_STEP_PERCENT);
  if (percent <= threshold) return undefined;
  // A conversation grows from its condensed size to the threshold: the larger the distance, the
  // fewer condensations.
  const remainingPercent = threshold * (1 - computeSavedShare(totals));
  const avoidedShare = 1 - (threshold - remainingPercent) / (percent - remainingPercent);
  return makeThresholdRecommendation(percent, automaticRuns.length, {
    dollars: totals.cost * avoidedShare,
    tokens: 0,
    runs: Math.round(automaticRuns.length * avoidedShare),
  });
}

const makeThresholdRecommendation = (percent: number, runCount: number, saving: ExpectedSaving): Recommendation => ({
  kind: 'threshold',
  percent,
  from: runCount,
  saving,
});
