/**
 * Recommends another profile, configuration or threshold, with what it would have saved over the
 * recorded runs. Recommends nothing if there are too few runs.
 */
import { groupRuns, type RunGroup } from './groups';
import { hasFailed, type RunMetrics } from './metrics';
import { MAX_CONDENSE_THRESHOLD, MIN_CONDENSE_THRESHOLD } from '../trigger/thresholds';

/** The current settings. */
export interface CurrentSettings {
  readonly provider: string;
  /** Of Smart or Strategy, if the settings name one. */
  readonly preset?: string;
  /** Name of the profile for condensing. */
  readonly profile?: string;
  /** Percent of the window. */
  readonly threshold: number;
}

/** What a recommendation would have saved over the recorded runs. */
export interface ExpectedSaving {
  /** In US dollars. */
  readonly dollars: number;
  readonly tokens: number;
  /** Condensations avoided, or made before they were urgent. */
  readonly runs: number;
}

export type Recommendation = {
  /** Number of runs that it is based on. */
  readonly from: number;
  readonly saving: ExpectedSaving;
} & (
  | { readonly kind: 'profile'; readonly profile: string }
  | { readonly kind: 'configuration'; readonly provider: string; readonly preset?: string }
  | { readonly kind: 'threshold'; readonly percent: number }
);

/** Minimum number of runs behind a figure. */
const FEWEST_RUNS = 5;
/** Another profile's maximum price per removed token, relative to the current one. */
const CHEAPER = 0.8;
/** How much more often it may fail, as a share of its runs. */
const MORE_FAILURES = 0.1;
/**
 * Additional share of the conversations that another configuration must remove at no higher cost …
 */
const MORE_SAVED = 0.05;
/** … unless it costs at most this share and removes hardly less. */
const MAX_COST_SHARE = 0.5;
const HARDLY_LESS = 0.02;
/** A threshold is too high if this share of the runs started only when the window was full. */
const NEED_SHARE = 0.25;
/** It is too low if runs at the threshold remove less than this share. */
const LITTLE_SAVED = 0.15;
/** Percent of the window by which to move a threshold. */
const STEP = 10;

const NOTHING: ExpectedSaving = { dollars: 0, tokens: 0, runs: 0 };

/** @param allRuns oldest first */
export function createRecommendations(allRuns: readonly RunMetrics[], current: CurrentSettings): Recommendation[] {
  return [recommendProfile, recommendConfiguration, recommendThreshold].flatMap(
    (advise) => advise(allRuns, current) ?? [],
  );
}

/** US dollars per removed token. */
const getPricePerToken = ({ cost, tokensSaved }: RunGroup): number => (tokensSaved > 0 ? cost / tokensSaved : Infinity);

const failureShare = ({ failures, runs }: RunGroup): number => failures / runs;

function recommendProfile(allRuns: readonly RunMetrics[], { profile }: CurrentSettings): Recommendation | undefined {
  const priced = allRuns.filter(
    ({ calls, cost }) => cost !== undefined && new Set(calls.map((call) => call.profile)).size === 1,
  );
  const groups = groupRuns(priced, ({ calls }) => calls[0]?.profile ?? '').filter(({ runs }) => runs >= FEWEST_RUNS);
  const now = groups.find(({ key }) => key === profile);
  if (!now || now.tokensSaved <= 0) return undefined;
  const best = groups
    .filter((group) => failureShare(group) <= failureShare(now) + MORE_FAILURES)
    .toSorted((a, b) => getPricePerToken(a) - getPricePerToken(b))[0];
  if (!best || getPricePerToken(best) > getPricePerToken(now) * CHEAPER) return undefined;
  const dollars = now.cost - now.tokensSaved * getPricePerToken(best);
  return { kind: 'profile', profile: best.key, from: now.runs + best.runs, saving: { ...NOTHING, dollars } };
}

/** Never recommend a provider that loses more than the current one. */
const LOSS: Readonly<Record<string, number>> = { lossless: 0, smart: 1, strategy: 1, truncation: 1, native: 2 };

const keyOf = (provider: string, preset: string | undefined): string => JSON.stringify([provider, preset ?? null]);

const savedShare = ({ tokensSaved, tokensBefore }: RunGroup): number => tokensSaved / Math.max(1, tokensBefore);

function recommendConfiguration(allRuns: readonly RunMetrics[], current: CurrentSettings): Recommendation | undefined {
  const configured = new Map(allRuns.map((run) => [keyOf(run.provider, run.preset), run] as const));
  const groups = groupRuns(
    allRuns.filter(({ fallback }) => !fallback),
    ({ provider, preset }) => keyOf(provider, preset),
  ).filter(({ runs }) => runs >= FEWEST_RUNS);
  const now = groups.find(({ key }) => key === keyOf(current.provider, current.preset));
  if (!now) return undefined;
  const meanCost = ({ cost, runs }: RunGroup): number => cost / runs;
  const lossOf = ({ key }: RunGroup): number => LOSS[configured.get(key)?.provider ?? ''] ?? Infinity;
  const isBetter = (group: RunGroup): boolean => {
    const isCheaper = meanCost(now) > 0 && meanCost(group) <= meanCost(now) * MAX_COST_SHARE;
    const savesMore = savedShare(group) >= savedShare(now) + MORE_SAVED && meanCost(group) <= meanCost(now);
    return savesMore || (isCheaper && savedShare(group) >= savedShare(now) - HARDLY_LESS);
  };
  const best = groups
    .filter((group) => group !== now && lossOf(group) <= lossOf(now) && isBetter(group))
    .toSorted((a, b) => meanCost(a) - meanCost(b) || savedShare(b) - savedShare(a))[0];
  const chosen = best && configured.get(best.key);
  if (!chosen) return undefined;
  const dollars = Math.max(0, now.cost - meanCost(best) * now.runs);
  const tokens = Math.max(0, Math.round((savedShare(best) - savedShare(now)) * now.tokensBefore));
  const { provider, preset } = chosen;
  return {
    kind: 'configuration',
    provider,
    ...(preset !== undefined && { preset }),
    from: now.runs + best.runs,
    saving: { ...NOTHING, dollars, tokens },
  };
}

const IN_NEED = new Set(['window', 'too-long']);
const AUTOMATIC = new Set([...IN_NEED, 'threshold', 'cold-cache', 'background']);

function recommendThreshold(
  allRuns: readonly RunMetrics[],
  { threshold }: CurrentSettings,
): Recommendation | undefined {
  const runs = allRuns.filter((run) => AUTOMATIC.has(run.trigger ?? '') && !hasFailed(run));
  if (runs.length < FEWEST_RUNS) return undefined;
  const inNeed = runs.filter(({ trigger }) => IN_NEED.has(trigger ?? ''));
  if (inNeed.length / runs.length >= NEED_SHARE) {
    const percent = Math.max(MIN_CONDENSE_THRESHOLD, threshold - STEP);
    return percent === threshold ? undefined : advice(percent, runs.length, { ...NOTHING, runs: inNeed.length });
  }
  const [all] = groupRuns(runs, () => '');
  if (!all || savedShare(all) >= LITTLE_SAVED) return undefined;
  const percent = Math.min(MAX_CONDENSE_THRESHOLD - STEP, threshold + STEP);
  if (percent <= threshold) return undefined;
  // A conversation grows from its condensed size to the threshold; the larger that distance, the
  // fewer condensations.
  const left = threshold * (1 - savedShare(all));
  const avoided = 1 - (threshold - left) / (percent - left);
  return advice(percent, runs.length, {
    dollars: all.cost * avoided,
    tokens: 0,
    runs: Math.round(runs.length * avoided),
  });
}

const advice = (percent: number, from: number, saving: ExpectedSaving): Recommendation => ({
  kind: 'threshold',
  percent,
  from,
  saving,
});
