import type { ReactNode } from 'react';
import type { ComparedConfiguration } from '../../../../src/panel/protocol';
import { ProblemList } from '../../components/Problems';
import { SideBySide, SideBySideRow } from '../../components/SideBySide';
import { formatPercent, t } from '../../l10n';
import { formatPreviewCost, computeReductionPercent } from './Figures';

interface ComparedConfigurationsTableProps {
  /** The figures of each configuration, or why they are unknown. */
  readonly results: readonly (ComparedConfiguration | string)[];
  /** The configurations' names, in the same order. */
  readonly names: readonly string[];
}

export function ComparedConfigurationsTable({ results, names }: ComparedConfigurationsTableProps): ReactNode {
  const title = results.find((result) => typeof result !== 'string')?.title ?? '';
  const tableRows: readonly (readonly [string, (result: ComparedConfiguration) => string])[] = [
    [t('Tokens now'), ({ tokensBefore }) => t('{0}', tokensBefore)],
    [t('Tokens afterwards'), ({ tokensAfter }) => t('{0}', tokensAfter)],
    [t('Reduction'), (result) => formatPercent(computeReductionPercent(result))],
    [t('Code lines kept'), ({ retention }) => formatShare(retention.verbatim, retention.needed)],
    [t('Code lines that can be recalled'), ({ retention }) => formatShare(retention.recallable, retention.needed)],
    [t('Facts lost'), ({ facts }) => t('{0} of {1}', facts.lost, facts.all)],
    [t('Cost'), formatPreviewCost],
  ];
  return (
    <>
      <SideBySide label={t('Comparison: {0}', title)} names={names} caption={title}>
        <tbody>
          {tableRows.map(([name, getValue]) => (
            <SideBySideRow
              key={name}
              name={name}
              values={results.map((result) => (typeof result === 'string' ? '–' : getValue(result)))}
            />
          ))}
        </tbody>
      </SideBySide>
      <ProblemList problems={results.filter((result) => typeof result === 'string')} />
    </>
  );
}

/** Formats a share of the lines that the conversation's later edits quoted. */
const formatShare = (part: number, whole: number): string =>
  whole === 0 ? t('none was needed') : t('{0} ({1} of {2})', formatPercent((100 * part) / whole), part, whole);
