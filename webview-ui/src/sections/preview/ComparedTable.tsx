import type { ReactNode } from 'react';
import type { Compared } from '../../../../src/panel/protocol';
import { Problems } from '../../components/Problems';
import { formatPercent, t } from '../../l10n';
import { costOf, reductionOf } from './Figures';

interface ComparedTableProps {
  /** What each configuration would make of the conversation, or why that is not known. */
  readonly results: readonly (Compared | string)[];
  /** The configurations' names, in the same order. */
  readonly names: readonly string[];
}

/** One conversation: its figures by configuration. */
export function ComparedTable({ results, names }: ComparedTableProps): ReactNode {
  const title = results.find((result) => typeof result !== 'string')?.title ?? '';
  const lines: readonly (readonly [string, (result: Compared) => string])[] = [
    [t('Tokens now'), ({ tokensBefore }) => t('{0}', tokensBefore)],
    [t('Tokens afterwards'), ({ tokensAfter }) => t('{0}', tokensAfter)],
    [t('Reduction'), (result) => formatPercent(reductionOf(result))],
    [t('Code lines that still stand there'), ({ recall }) => share(recall.verbatim, recall.needed)],
    [t('Code lines that can be recalled'), ({ recall }) => share(recall.recallable, recall.needed)],
    [t('Facts lost'), ({ facts }) => t('{0} of {1}', facts.lost, facts.all)],
    [t('Cost'), costOf],
  ];
  return (
    <div className="table-frame" tabIndex={0} role="region" aria-label={t('Comparison: {0}', title)}>
      <table className="table">
        <caption translate="no">{title}</caption>
        <thead>
          <tr>
            <td />
            {names.map((name, index) => (
              <th key={index} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {lines.map(([name, valueOf]) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              {results.map((result, index) => (
                <td key={index}>{typeof result === 'string' ? '–' : valueOf(result)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      <Problems problems={results.filter((result) => typeof result === 'string')} />
    </div>
  );
}

/** Of the lines that the conversation's later edits quoted. */
const share = (part: number, whole: number): string =>
  whole === 0 ? t('none was needed') : t('{0} ({1} of {2})', formatPercent((100 * part) / whole), part, whole);
