import type { ReactNode } from 'react';
import type { History } from '../../../../src/panel/protocol';
import { FigureList } from '../../components/FigureList';
import { formatDollars, formatDuration, formatPercent, t } from '../../l10n';

/** An undone condensation saves nothing. */
export function HistoryFigures({ history }: { readonly history: History }): ReactNode {
  const { total, sums, groups } = history;
  const sumValues = (values: readonly number[]): number => values.reduce((all, value) => all + value, 0);
  const runs = sumValues(groups.map((group) => group.runs));
  const formatShareOfRuns = (count: number): string => formatPercent(runs === 0 ? 0 : (100 * count) / runs);
  const errors = groups.flatMap(({ estimateErrorPercent: percent, condensed }) =>
    percent === undefined ? [] : [{ percent, condensed }],
  );
  const spentDollars = sumValues(groups.map(({ cost }) => cost));
  const condensedCount = sumValues(groups.map((group) => group.condensed));
  const failures = sumValues(groups.map((group) => group.failures));
  const fallbacks = sumValues(groups.map((group) => group.fallbacks));
  const estimatedRuns = sumValues(errors.map(({ condensed }) => condensed));
  const figures: readonly (readonly [string, string])[] = [
    [t('Condensations'), t('{0}', total)],
    [t('Tokens removed'), t('{0}', sums.tokensSaved)],
    [t('Spent'), formatDollars(spentDollars)],
    ...(condensedCount === 0
      ? []
      : [[t('Spent per condensation'), formatDollars(spentDollars / condensedCount)] as const]),
    ...(sums.savedPerRequest === undefined
      ? []
      : [[t('Saved with each later request'), formatDollars(sums.savedPerRequest)] as const]),
    ...(total === 0 ? [] : [[t('Time on average'), formatDuration(sums.timeMs / total)] as const]),
    ...(failures === 0 ? [] : [[t('Failures'), formatShareOfRuns(failures)] as const]),
    ...(fallbacks === 0 ? [] : [[t('Fallbacks'), formatShareOfRuns(fallbacks)] as const]),
    ...(estimatedRuns === 0
      ? []
      : [
          [
            t('Estimation error'),
            formatPercent(sumValues(errors.map(({ percent, condensed }) => percent * condensed)) / estimatedRuns),
          ] as const,
        ]),
  ];
  return <FigureList figures={figures} />;
}
