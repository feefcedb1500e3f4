import type { ReactNode } from 'react';
import type { Preview } from '../../../../src/panel/protocol';
import { formatDollars, formatDuration, formatPercent, t } from '../../l10n';

type ForecastFigures = Pick<
  Preview,
  'tokensBefore' | 'tokensAfter' | 'targetTokens' | 'calls' | 'cost' | 'costRange' | 'confidence' | 'timeMs'
>;

/** Percent of the tokens that would go. */
export const reductionOf = ({ tokensBefore, tokensAfter }: ForecastFigures): number =>
  tokensBefore === 0 ? 0 : (100 * (tokensBefore - tokensAfter)) / tokensBefore;

/** Nothing where no model is asked; else a range where one is known. */
export function costOf({ calls, cost, costRange }: ForecastFigures): string {
  if (calls === 0) return formatDollars(0);
  if (!costRange || costRange.least === costRange.most) return formatDollars(cost);
  return t('{0} to {1}', formatDollars(costRange.least), formatDollars(costRange.most));
}

/** How sure the cost is, in words. */
function costNote({ calls, confidence }: ForecastFigures): string {
  if (calls === 0) return t('no model is asked');
  const asked = t('{0} calls to a model', calls);
  switch (confidence) {
    case 'high':
      return t('{0}; many replies of it are known', asked);
    case 'medium':
      return t('{0}; few replies of it are known', asked);
    default:
      return t('{0}; no reply of it is known yet', asked);
  }
}

/** The figures in a row. */
export function Figures({ preview }: { readonly preview: ForecastFigures }): ReactNode {
  const { tokensBefore, tokensAfter, targetTokens, calls, timeMs } = preview;
  const figures: readonly (readonly [name: string, value: string, note: string])[] = [
    [t('Tokens now'), t('{0}', tokensBefore), ''],
    [
      calls === 0 ? t('Tokens afterwards') : t('Tokens afterwards, about'),
      t('{0}', tokensAfter),
      tokensAfter > targetTokens ? t('misses the target of {0}', targetTokens) : t('target {0}', targetTokens),
    ],
    [t('Reduction'), formatPercent(reductionOf(preview)), ''],
    [t('Cost'), costOf(preview), costNote(preview)],
    [t('Time'), formatDuration(timeMs), calls === 0 ? '' : t('and the model’s')],
  ];
  return (
    <dl className="figures">
      {figures.map(([name, value, note]) => (
        <div key={name} className="figure">
          <dt>{name}</dt>
          <dd>{value}</dd>
          {note !== '' && <dd className="figure-note">{note}</dd>}
        </div>
      ))}
    </dl>
  );
}
