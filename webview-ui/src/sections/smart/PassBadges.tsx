import type { CSSProperties, ReactNode } from 'react';
import {
  EDIT_OUTCOMES,
  OPERATIONS,
  OUTCOMES,
  type EditOutcome,
  type OperationName,
} from '../../../../src/core/condense/edits/operations';
import { t } from '../../l10n';
import { outcomeWords } from '../preview/outcomes';
import type { PassEntry } from './smartValue';

/** A pass at a glance: what it does to what, how it works, when it runs, what it costs, how fast it is, and what it leaves. */
export function PassBadges({ entry }: { readonly entry: PassEntry }): ReactNode {
  const { mode, isConditional, tokenThreshold, callsModel, isEnabled, operations } = entry;
  const condition = !isConditional
    ? t('always')
    : tokenThreshold === undefined
      ? t('under a condition')
      : t('above {0} tokens', tokenThreshold);
  return (
    <span className="badges">
      {!isEnabled && <span className="tag">{t('off')}</span>}
      {operations.map(({ content, operation }) => (
        <OperationBadge key={content} content={content} operation={operation} />
      ))}
      {mode === 'batch' && <span className="tag">{t('all at once')}</span>}
      <span className="tag">{condition}</span>
      {priceAndQuality(callsModel, mostChanging(operations)).map((words) => (
        <span key={words} className="tag">
          {words}
        </span>
      ))}
    </span>
  );
}

/** Of several operations, the outcome that changes most. */
const mostChanging = (operations: PassEntry['operations']): EditOutcome =>
  operations
    .map(({ operation }) => OPERATIONS[operation].outcome)
    .reduce<EditOutcome>(
      (most, one) => (EDIT_OUTCOMES.indexOf(one) > EDIT_OUTCOMES.indexOf(most) ? one : most),
      'kept',
    );

/** Cost, speed and quality in words. Whatever is removed can be recalled; a summary is a model's words. */
export const priceAndQuality = (callsModel: boolean, outcome: EditOutcome): readonly string[] => [
  callsModel ? t('calls a model') : t('free'),
  callsModel ? t('seconds for each call') : t('instant'),
  t(OUTCOMES[outcome].help),
];

interface OperationBadgeProps {
  /** To what it is done. */
  readonly content?: string;
  readonly operation: OperationName;
}

/** An operation in the colour that its outcome has in the strip of messages. */
export function OperationBadge({ content, operation }: OperationBadgeProps): ReactNode {
  const { label, outcome } = OPERATIONS[operation];
  const style: CSSProperties = outcomeWords(outcome).style;
  return (
    <span className="tag operation-tag" style={style}>
      {content === undefined ? t(label) : t('{0}: {1}', content, t(label))}
    </span>
  );
}
