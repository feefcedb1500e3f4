import type { ReactNode } from 'react';
import type { Measured } from '../../../../src/panel/protocol';
import { Problems } from '../../components/Problems';
import { Section } from '../../components/Section';
import { formatDollars, formatDuration, formatPercent, t } from '../../l10n';
import { usePanel } from '../../state/panel';
import { useSearch } from '../../state/search';
import { useAnswer } from '../../state/useAnswer';
import { Button, ProgressRing } from '../../ui';
import { Runs } from './Runs';
import { SavingsChart } from './SavingsChart';

/** What condensations took and saved. The measures stay on this machine. */
export function History(): ReactNode {
  return (
    <Section id="history" title={t('History and savings')}>
      <Content />
    </Section>
  );
}

function Content(): ReactNode {
  const isSearching = useSearch() !== '';
  const { connection } = usePanel();
  const { answer, again } = useAnswer('measures', {});
  if (isSearching) return null;
  if (answer.kind === 'waiting') return <ProgressRing label={t('Reading the measures…')} />;
  if (answer.kind === 'failed') return <Problems problems={[answer.message]} />;
  const measured = answer.result;
  if (measured.runs.length === 0) {
    return <p className="row-help">{t('Nothing has been condensed with a model yet.')}</p>;
  }
  return (
    <>
      <Figures measured={measured} />
      <SavingsChart runs={measured.runs} />
      <Runs runs={measured.runs} />
      <p className="actions">
        <Button onClick={again}>{t('Refresh')}</Button>
        <Button icon="trash" onClick={() => void connection.request('clearMeasures', {}).then(again)}>
          {t('Clear the measures')}
        </Button>
      </p>
    </>
  );
}

function Figures({ measured }: { readonly measured: Measured }): ReactNode {
  const { condensations, failures, fallbacks, latencyMs, reductionPercent, estimateErrorPercent, runs } = measured;
  const saved = runs.reduce((sum, run) => sum + run.tokensBefore - run.tokensAfter, 0);
  const spent = measured.byProfile.reduce((sum, { cost }) => sum + cost, 0);
  const figures: readonly (readonly [string, string])[] = [
    [t('Condensations'), t('{0}', condensations)],
    [t('Tokens saved'), t('{0}', saved)],
    [t('Spent'), formatDollars(spent)],
    ...(reductionPercent === undefined ? [] : [[t('Reduction'), formatPercent(reductionPercent)] as const]),
    ...(latencyMs === undefined ? [] : [[t('Time'), formatDuration(latencyMs)] as const]),
    [t('Failures'), t('{0}', failures)],
    [t('Fallbacks'), t('{0}', fallbacks)],
    ...(estimateErrorPercent === undefined
      ? []
      : [[t('Error of the estimate'), formatPercent(estimateErrorPercent)] as const]),
  ];
  return (
    <dl className="figures">
      {figures.map(([name, value]) => (
        <div key={name} className="figure">
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
