import type { CSSProperties, ReactNode } from 'react';
import { OPERATIONS, type OperationName } from '../../../../src/core/condense/operations/operations';
import { t } from '../../l10n';
import { outcomeWords } from '../preview/outcomes';
import type { PassEntry } from './smartValue';

/** A pass at a glance: what it does to what, how it works, when it runs, what it costs. */
export function PassBadges({ entry }: { readonly entry: PassEntry }): ReactNode {
  const { mode, isConditional, tokenThreshold, callsModel, isEnabled, operations } = entry;
  const condition = !isConditional
    ? t('always')
    : tokenThreshold === undefined
      ? t('if its condition is met')
      : t('above {0} tokens', tokenThreshold);
  return (
    <span className="badges">
      {!isEnabled && <span className="tag">{t('off')}</span>}
      {operations.map(({ content, operation }) => (
        <OperationBadge key={content} content={content} operation={operation} />
      ))}
      <span className="tag">{mode === 'batch' ? t('all at once') : t('one by one')}</span>
      <span className="tag">{condition}</span>
      <span className="tag">{callsModel ? t('calls a model') : t('free')}</span>
    </span>
  );
}

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
