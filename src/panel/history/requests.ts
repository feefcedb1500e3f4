import { groupByProfile } from '../../core/condense/metrics/groups';
import type { RunMetrics } from '../../core/condense/metrics/metrics';
import { createRecommendations, type CurrentSettings } from '../../core/condense/metrics/recommendations';
import { isBuiltInProvider } from '../../core/condense/types';
import { readModelSettings } from '../../window/settings/modelSettings';
import { readSetting } from '../../window/settings/settings';
import type { PanelDependencies } from '../parts';
import type { RequestHandlers } from '../requestHandlers';
import type { RunWithoutEffect, History, HistoryEntry, historyMethods } from './methods';

/** The panel lists only this many entries; an export has all. */
const MAX_SHOWN_ENTRIES = 500;
const MAX_SHOWN_EMPTY_RUNS = 100;

export function createHistoryHandlers(
  dependencies: PanelDependencies,
): Pick<RequestHandlers, keyof typeof historyMethods> {
  const { services } = dependencies;
  return {
    history: async (_params, signal) => {
      const { entries, runs } = await dependencies.commands().readHistory(services, signal);
      return {
        entries: entries.slice(0, MAX_SHOWN_ENTRIES).map((entry) => ({ ...entry, passes: [...entry.passes] })),
        total: entries.length,
        sums: sumHistoryEntries(entries),
        emptyRuns: runs.flatMap(toRunWithoutEffect).slice(-MAX_SHOWN_EMPTY_RUNS).toReversed(),
        groups: groupByProfile(runs),
        recommendations: createRecommendations(runs, readCurrentSettings()),
      };
    },
    setUndone: async ({ isUndone, ...subject }) => {
      await dependencies.commands().undoOrRedoCondensation(services, subject, isUndone);
      return null;
    },
    showCondensation: async (subject) => {
      await dependencies.commands().showCondensation(services, subject);
      return null;
    },
    exportHistory: async ({ format }, signal) => ({
      written: await dependencies.commands().exportHistory(services, format, signal),
    }),
    clearHistory: async ({ part }) => ({ removed: await dependencies.commands().clearHistory(services, part) }),
  };
}

type EntryToSum = Pick<
  HistoryEntry,
  'isInUse' | 'isGone' | 'state' | 'tokensBefore' | 'tokensAfter' | 'savedPerRequest' | 'timeMs'
>;

function sumHistoryEntries(entries: readonly EntryToSum[]): History['sums'] {
  const shownEntries = entries.filter(({ state, isGone }) => state === 'shown' && isGone !== true);
  // A stored conversation saves nothing until its agent continues with the result.
  const savings = shownEntries.flatMap(({ isInUse, savedPerRequest }) => (isInUse ? (savedPerRequest ?? []) : []));
  return {
    tokensSaved: sumValues(shownEntries.map(({ tokensBefore, tokensAfter }) => tokensBefore - tokensAfter)),
    ...(savings.length > 0 && { savedPerRequest: sumValues(savings) }),
    timeMs: sumValues(entries.map(({ timeMs }) => timeMs)),
  };
}

const sumValues = (values: readonly number[]): number => values.reduce((all, value) => all + value, 0);

function toRunWithoutEffect({ at, provider, outcome, reason, timeMs, cost }: RunMetrics): RunWithoutEffect[] {
  if (outcome === 'condensed') return [];
  return [
    { at, provider, outcome, timeMs, ...(reason !== undefined && { reason }), ...(cost !== undefined && { cost }) },
  ];
}

/** Returns the settings with which recommendations are compared. */
function readCurrentSettings(): CurrentSettings {
  const { condensing, threshold } = readModelSettings();
  const provider = readSetting('provider');
  const preset = isBuiltInProvider(provider) ? readSetting(provider) : undefined;
  return {
    provider,
    ...(typeof preset === 'string' && { preset }),
    ...(condensing && { profile: condensing.name }),
    threshold: threshold.percent,
  };
}
