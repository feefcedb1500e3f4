import type { ReactNode } from 'react';
import type { Coherence } from '../../../../src/panel/protocol';
import { t } from '../../l10n';

interface FactKindCoherenceItemProps {
  /** The kind of facts, such as files. */
  readonly name: string;
  readonly found: Coherence[keyof Coherence];
}

export function FactKindCoherenceItem({ name, found }: FactKindCoherenceItemProps): ReactNode {
  const { kept, recallable, recallableExamples, lost, lostExamples } = found;
  const total = kept + recallable + lost;
  if (total === 0) return null;
  return (
    <li className="item">
      <div className="item-line">
        <span className="item-name">{name}</span>
        <span>{t('{0} of {1} kept', kept, total)}</span>
      </div>
      <FactExamples title={t('Only by reference: {0}', recallable)} examples={recallableExamples} count={recallable} />
      <FactExamples title={t('Lost: {0}', lost)} examples={lostExamples} count={lost} />
    </li>
  );
}

interface FactExamplesProps {
  readonly title: string;
  readonly examples: readonly string[];
  readonly count: number;
}

function FactExamples({ title, examples, count }: FactExamplesProps): ReactNode {
  if (count === 0) return null;
  return (
    <>
      <p>{title}</p>
      <ul className="coherence-examples">
        {examples.map((example, index) => (
          <li key={index} translate="no">
            {example}
          </li>
        ))}
        {count > examples.length && <li className="row-help">{t('and {0} more', count - examples.length)}</li>}
      </ul>
    </>
  );
}
