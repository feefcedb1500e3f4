import type { ReactNode } from 'react';
import type { RunGroup } from '../../../../src/panel/protocol';
import { Table, type TableColumn } from '../../components/Table';
import { formatDollars, formatDuration, formatNumber, formatPercent, t } from '../../l10n';

/** Lengths in units of the drawing. */
const CHART_WIDTH = 400;
const ROW_HEIGHT = 14;
const BAR_HEIGHT = 10;

export function SavingsPerModelChart({ groups }: { readonly groups: readonly RunGroup[] }): ReactNode {
  const mostTokensSaved = Math.max(...groups.map(({ tokensSaved }) => tokensSaved), 1);
  return (
    <>
      <figure className="chart">
        <figcaption>
          {t('Tokens removed by model, in all runs (undone and replaced ones, too); the table has the figures')}
        </figcaption>
        <svg
          viewBox={`0 0 ${CHART_WIDTH} ${groups.length * ROW_HEIGHT}`}
          role="img"
          aria-label={describeRunGroups(groups)}
        >
          {groups.map(({ key, tokensSaved }, index) => (
            <rect
              key={key}
              className="chart-after"
              x={0}
              y={index * ROW_HEIGHT}
              // Keeps the bar visible even if nothing was removed.
              width={Math.max(1, (CHART_WIDTH * tokensSaved) / mostTokensSaved)}
              height={BAR_HEIGHT}
            />
          ))}
        </svg>
      </figure>
      <Table label={t('By model')} columns={listRunGroupColumns(groups)} rows={groups} getKey={({ key }) => key} />
    </>
  );
}

const getGroupName = ({ key }: RunGroup): string => (key === '' ? t('Without a model') : key);

const describeRunGroups = (groups: readonly RunGroup[]): string =>
  groups.map((group) => `${getGroupName(group)}: ${formatNumber(group.tokensSaved)}`).join(', ');

const formatShareOfRuns = (count: number, { runs }: RunGroup): string =>
  formatPercent((100 * count) / Math.max(1, runs));

/** Omits figures that are zero or unknown for all models. */
const listRunGroupColumns = (groups: readonly RunGroup[]): readonly TableColumn<RunGroup>[] => [
  { title: t('Model'), cell: getGroupName },
  { title: t('All runs'), isNumber: true, cell: ({ runs }) => formatNumber(runs) },
  { title: t('Tokens removed, all runs'), isNumber: true, cell: ({ tokensSaved }) => formatNumber(tokensSaved) },
  { title: t('Cost'), isNumber: true, cell: ({ cost }) => formatDollars(cost) },
  {
    title: t('Time'),
    isNumber: true,
    cell: ({ latencyMs }) => (latencyMs === undefined ? '–' : formatDuration(latencyMs)),
  },
  ...(groups.some(({ failures }) => failures > 0)
    ? [{ title: t('Failures'), isNumber: true, cell: (group: RunGroup) => formatShareOfRuns(group.failures, group) }]
    : []),
  ...(groups.some(({ fallbacks }) => fallbacks > 0)
    ? [{ title: t('Fallbacks'), isNumber: true, cell: (group: RunGroup) => formatShareOfRuns(group.fallbacks, group) }]
    : []),
  ...(groups.some(({ estimateErrorPercent }) => estimateErrorPercent !== undefined)
    ? [
        {
          title: t('Estimation error'),
          isNumber: true,
          cell: ({ estimateErrorPercent: percent }: RunGroup) => (percent === undefined ? '–' : formatPercent(percent)),
        },
      ]
    : []),
];
