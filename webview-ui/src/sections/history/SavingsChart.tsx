import type { ReactNode } from 'react';
import type { HistoryEntry } from '../../../../src/panel/protocol';
import { formatPercent, t } from '../../l10n';

/** Number of bars for which the chart is wide enough. */
const MAX_SHOWN_BARS = 40;
/** Lengths in units of the drawing. */
const CHART_HEIGHT = 64;
const BAR_STEP = 10;
const BAR_WIDTH = 7;

/** Percent of the tokens that were removed. */
export const computeRemovedPercent = ({ tokensBefore, tokensAfter }: HistoryEntry): number =>
  tokensBefore === 0 ? 0 : (100 * (tokensBefore - tokensAfter)) / tokensBefore;

/** Shows condensations oldest first. The list has the same figures. */
export function SavingsChart({ entries }: { readonly entries: readonly HistoryEntry[] }): ReactNode {
  const shownEntries = entries.slice(0, MAX_SHOWN_BARS).toReversed();
  if (shownEntries.length === 0) return null;
  const highest = Math.max(...shownEntries.map(({ tokensBefore }) => tokensBefore), 1);
  const mean = shownEntries.reduce((sum, entry) => sum + computeRemovedPercent(entry), 0) / shownEntries.length;
  const computeBarHeight = (tokens: number): number => (CHART_HEIGHT * tokens) / highest;
  return (
    <figure className="chart">
      <figcaption>
        {shownEntries.length === 1
          ? t('Tokens before and after the last condensation: {0} removed', formatPercent(mean))
          : t(
              'Tokens before and after, last {0} condensations: {1} removed on average',
              shownEntries.length,
              formatPercent(mean),
            )}
      </figcaption>
      <svg
        viewBox={`0 0 ${MAX_SHOWN_BARS * BAR_STEP} ${CHART_HEIGHT}`}
        role="img"
        aria-label={t('Tokens before and after each condensation')}
      >
        {shownEntries.map((entry, index) => (
          <g key={entry.condensation}>
            <rect
              className="chart-before"
              x={index * BAR_STEP}
              y={CHART_HEIGHT - computeBarHeight(entry.tokensBefore)}
              width={BAR_WIDTH}
              height={computeBarHeight(entry.tokensBefore)}
            />
            <rect
              className="chart-after"
              x={index * BAR_STEP}
              y={CHART_HEIGHT - computeBarHeight(entry.tokensAfter)}
              width={BAR_WIDTH}
              height={computeBarHeight(entry.tokensAfter)}
            />
          </g>
        ))}
      </svg>
    </figure>
  );
}
