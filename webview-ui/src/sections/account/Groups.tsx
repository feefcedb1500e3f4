import { useState, type ReactNode } from 'react';
import { computeCostRange, isCostUnknown } from '../../../../src/core/account/words';
import { placeDayBars } from '../../../../src/core/account/timeAxis';
import type { ShownAccount, ShownAccountRow } from '../../../../src/panel/protocol';
import { Table, type TableColumn } from '../../components/Table';
import { formatDate, formatDollars, formatNumber, t } from '../../l10n';
import { Dropdown } from '../../ui';

type CostAndRequests = Pick<ShownAccountRow, 'cost' | 'replayedCost' | 'unpriced' | 'requests'>;

/** Shows a range if part of the cost was replayed, and how many requests have no known price. */
export function formatMoney(money: CostAndRequests): string {
  const { unpriced, requests } = money;
  if (isCostUnknown(money)) return t('Cost not known');
  const formatted = formatCostRange(money, 1);
  if (unpriced === 0) return formatted;
  // Each part of a request has its own price, so more prices may be unknown than there are
  // requests.
  if (unpriced >= requests) return t('{0}; some prices are not known', formatted);
  return unpriced === 1
    ? t('{0} for {1} of {2} requests; 1 has no known price', formatted, requests - 1, requests)
    : t('{0} for {1} of {2} requests; {3} have no known price', formatted, requests - unpriced, requests, unpriced);
}

/** Divides the cost by a count; returns a range if part of the cost was replayed. */
export function formatCostRange(money: Pick<CostAndRequests, 'cost' | 'replayedCost'>, count: number): string {
  const { least: lowest, most: highest } = computeCostRange(money);
  const [low, high] = [formatDollars(lowest / count), formatDollars(highest / count)];
  return low === high ? low : t('{0} to {1}', low, high);
}

/** Width and height in units of the drawing. */
const CHART_WIDTH = 400;
const CHART_HEIGHT = 80;

export function CostPerDayChart({ days }: { readonly days: readonly ShownAccountRow[] }): ReactNode {
  const highestCost = Math.max(...days.map(({ cost }) => cost), 0);
  const firstDay = days[0];
  const lastDay = days.at(-1);
  if (!firstDay || !lastDay || highestCost === 0) return null;
  const bars = placeDayBars(
    days.map(({ label }) => label),
    CHART_WIDTH,
  );
  return (
    <figure className="chart">
      <figcaption>
        {days.length === 1
          ? t('Cost on {0}: {1}', formatDate(firstDay.label), formatDollars(highestCost))
          : t('Cost per day; highest {0}', formatDollars(highestCost))}
      </figcaption>
      <svg
        viewBox={`0 0 ${CHART_WIDTH} ${CHART_HEIGHT + 1}`}
        role="img"
        aria-label={t('Cost per day; the table by day has the figures')}
      >
        <path className="chart-axis" d={`M0 ${CHART_HEIGHT}H${CHART_WIDTH}`} />
        {days.map(({ label, cost }, index) => (
          <rect
            key={label}
            className="chart-after"
            {...bars[index]}
            y={CHART_HEIGHT - (CHART_HEIGHT * cost) / highestCost}
            height={(CHART_HEIGHT * cost) / highestCost}
          >
            <title>{`${formatDate(label)}: ${formatDollars(cost)}`}</title>
          </rect>
        ))}
      </svg>
      {days.length > 1 && (
        <p className="chart-dates">
          <span>{formatDate(firstDay.label)}</span>
          <span>{formatDate(lastDay.label)}</span>
        </p>
      )}
    </figure>
  );
}

type AccountGrouping = keyof ShownAccount['groups'];

const listGroupings = (): readonly {
  readonly value: AccountGrouping;
  readonly label: string;
  readonly head: string;
}[] => [
  { value: 'agent', label: t('By agent'), head: t('Agent') },
  { value: 'project', label: t('By project'), head: t('Project') },
  { value: 'model', label: t('By model'), head: t('Model') },
  { value: 'block', label: t('By five-hour block'), head: t('Five-hour block') },
  { value: 'day', label: t('By day'), head: t('Day') },
  { value: 'week', label: t('By week'), head: t('Week') },
  { value: 'session', label: t('By session'), head: t('Session') },
];

export function AccountGroupsTable({ groups }: Pick<ShownAccount, 'groups'>): ReactNode {
  const [grouping, setGrouping] = useState<AccountGrouping>('agent');
  const choices = listGroupings();
  const { label, head } = choices.find(({ value }) => value === grouping) ?? { label: '', head: '' };
  const highestCost = Math.max(...groups[grouping].map(({ cost }) => cost), 0);
  const number = (value: number): string => formatNumber(value);
  const columns: readonly TableColumn<ShownAccountRow>[] = [
    {
      title: head,
      cell: ({ label, tree }) =>
        grouping === 'day' ? (
          formatDate(label)
        ) : (
          <span className="wrapped">{`${'↳ '.repeat(tree?.depth ?? 0)}${label}`}</span>
        ),
    },
    { title: t('Cost'), cell: (row) => <CostWithBar row={row} highest={highestCost} /> },
    { title: t('Requests'), isNumber: true, cell: ({ requests }) => number(requests) },
    ...listFigureColumns(groups[grouping]),
  ];
  return (
    <>
      <p className="actions">
        <Dropdown
          label={t('Show')}
          value={grouping}
          choices={choices}
          onChange={(value) => {
            const chosenGrouping = choices.find((choice) => choice.value === value);
            if (chosenGrouping) setGrouping(chosenGrouping.value);
          }}
        />
      </p>
      <Table
        label={label}
        columns={columns}
        rows={groups[grouping]}
        getKey={({ label }, index) => `${index} ${label}`}
      />
    </>
  );
}

/** Leaves out figures that are zero in all rows. */
function listFigureColumns(rows: readonly ShownAccountRow[]): readonly TableColumn<ShownAccountRow>[] {
  const formatShort = (tokens: number): string =>
    formatNumber(tokens, { notation: 'compact', maximumFractionDigits: 1 });
  const figures = [
    { title: t('Estimated requests'), get: ({ replayed }: ShownAccountRow) => replayed, format: formatNumber },
    { title: t('Input, not cached'), get: ({ fresh }: ShownAccountRow) => fresh, format: formatShort },
    { title: t('Cache writes'), get: ({ cacheWrite }: ShownAccountRow) => cacheWrite, format: formatShort },
    { title: t('Cache reads'), get: ({ cacheRead }: ShownAccountRow) => cacheRead, format: formatShort },
    { title: t('Output'), get: ({ output }: ShownAccountRow) => output, format: formatShort },
  ];
  return figures
    .filter(({ get }) => rows.some((row) => get(row) > 0))
    .map(({ title, get, format }) => ({ title, isNumber: true, cell: (row) => format(get(row)) }));
}

/** Shows a cost with a bar, relative to the largest cost. */
function CostWithBar({
  row,
  highest: highestCost,
}: {
  readonly row: ShownAccountRow;
  readonly highest: number;
}): ReactNode {
  return (
    <span className="measured">
      <ShareBar share={highestCost === 0 ? 0 : row.cost / highestCost} />
      {formatMoney(row)}
      {row.tree && row.tree.sessions > 1 && <span>{t('{0} with all sessions below', formatMoney(row.tree))}</span>}
    </span>
  );
}

/** @param share of the largest, 0 to 1 */
export const ShareBar = ({ share }: { readonly share: number }): ReactNode => (
  <svg className="measure" viewBox="0 0 60 10" aria-hidden="true">
    <rect className="chart-after" width={60 * share} height={10} />
  </svg>
);
