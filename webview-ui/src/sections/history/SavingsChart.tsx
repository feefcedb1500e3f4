import type { ReactNode } from 'react';
import type { Measured } from '../../../../src/panel/protocol';
import { formatPercent, t } from '../../l10n';
import { savedPercent } from './Runs';

type Run = Measured['runs'][number];

/** Runs that fit beside each other. */
const SHOWN = 40;
/** The drawing's own units. */
const HEIGHT = 64;
const STEP = 10;
const BAR = 7;

/** The last runs, oldest first: what was there, and within it what stayed. The table says the same in numbers. */
export function SavingsChart({ runs }: { readonly runs: readonly Run[] }): ReactNode {
  const shown = runs
    .filter(({ outcome }) => outcome === 'condensed')
    .slice(0, SHOWN)
    .toReversed();
  if (shown.length === 0) return null;
  const most = Math.max(...shown.map(({ tokensBefore }) => tokensBefore), 1);
  const saved = shown.map(savedPercent);
  const mean = saved.reduce((sum, percent) => sum + percent, 0) / saved.length;
  const height = (tokens: number): number => (HEIGHT * tokens) / most;
  return (
    <figure className="chart">
      <figcaption>
        {t('Tokens before and after, last {0} runs: {1} saved on average', shown.length, formatPercent(mean))}
      </figcaption>
      <svg viewBox={`0 0 ${SHOWN * STEP} ${HEIGHT}`} role="img" aria-label={t('Tokens before and after each run')}>
        {shown.map((run, index) => (
          <g key={`${run.at} ${index}`}>
            <rect
              className="chart-before"
              x={index * STEP}
              y={HEIGHT - height(run.tokensBefore)}
              width={BAR}
              height={height(run.tokensBefore)}
            />
            <rect
              className="chart-after"
              x={index * STEP}
              y={HEIGHT - height(run.tokensAfter)}
              width={BAR}
              height={height(run.tokensAfter)}
            />
          </g>
        ))}
      </svg>
    </figure>
  );
}
