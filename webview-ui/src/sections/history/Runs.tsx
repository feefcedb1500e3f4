import type { ReactNode } from 'react';
import type { Measured } from '../../../../src/panel/protocol';
import { formatDollars, formatDuration, formatPercent, formatTimeOfDay, t } from '../../l10n';

type Run = Measured['runs'][number];

export const savedPercent = ({ tokensBefore, tokensAfter }: Run): number =>
  tokensBefore === 0 ? 0 : (100 * (tokensBefore - tokensAfter)) / tokensBefore;

/** The runs as a table, newest first. */
export function Runs({ runs }: { readonly runs: readonly Run[] }): ReactNode {
  return (
    <div className="table-frame" tabIndex={0} role="region" aria-label={t('Runs')}>
      <table className="table">
        <thead>
          <tr>
            <th scope="col">{t('When')}</th>
            <th scope="col">{t('Provider')}</th>
            <th scope="col">{t('Outcome')}</th>
            <th scope="col" className="number">
              {t('Tokens')}
            </th>
            <th scope="col" className="number">
              {t('Saved')}
            </th>
            <th scope="col" className="number">
              {t('Time')}
            </th>
            <th scope="col" className="number">
              {t('Cost')}
            </th>
          </tr>
        </thead>
        <tbody>
          {runs.map((run, index) => (
            <tr key={`${run.at} ${index}`}>
              <td>{formatTimeOfDay(run.at)}</td>
              <td>{run.provider}</td>
              <td title={run.reason}>{outcomeInWords(run.outcome)}</td>
              <td className="number">{t('{0} → {1}', run.tokensBefore, run.tokensAfter)}</td>
              <td className="number">{formatPercent(savedPercent(run))}</td>
              <td className="number">{formatDuration(run.timeMs)}</td>
              <td className="number">{formatDollars(run.cost)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function outcomeInWords(outcome: string): string {
  switch (outcome) {
    case 'condensed':
      return t('condensed');
    case 'unchanged':
      return t('left as it was');
    case 'refused':
      return t('refused by the checks');
    case 'cancelled':
      return t('cancelled');
    case 'failed':
      return t('failed');
    default:
      return outcome;
  }
}
