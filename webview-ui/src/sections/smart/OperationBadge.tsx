import type { CSSProperties, ReactNode } from 'react';
import {
  OPERATIONS,
  OUTCOME_ROWS,
  type EditOutcome,
  type OperationName,
} from '../../../../src/core/condense/edits/operations';
import { t } from '../../l10n';
import { getCellKindTexts } from '../preview/outcomes';

export const describePriceAndQuality = (callsModel: boolean, outcome: EditOutcome): readonly string[] => [
  callsModel ? t('calls a model') : t('free'),
  callsModel ? t('seconds for each call') : t('instant'),
  t(OUTCOME_ROWS[outcome].help),
];

/** The badge has the color of the operation's outcome in the message strip. */
export function OperationBadge({ operation }: { readonly operation: OperationName }): ReactNode {
  const { label, outcome } = OPERATIONS[operation];
  const style: CSSProperties = getCellKindTexts(outcome).style;
  return (
    <span className="tag operation-tag" style={style}>
      {t(label)}
    </span>
  );
}
