import type { ReactNode } from 'react';
import type { MessageCell } from '../../../../src/panel/protocol';
import { t } from '../../l10n';
import { Checkbox } from '../../ui';
import { getCellKind, describeRole, getCellKindTexts, type MessageMarks } from './outcomes';

interface CellDetailsProps {
  readonly cell: MessageCell;
  readonly index: number;
  readonly marks: MessageMarks;
  readonly onPin: () => void;
  readonly onExclude: () => void;
}

export function CellDetails({ cell, index, marks, onPin, onExclude }: CellDetailsProps): ReactNode {
  const { role, words, tokensBefore, tokensAfter } = cell;
  const { name, help } = getCellKindTexts(getCellKind(cell, index, marks));
  return (
    <div className="cell-details">
      <p>
        <span className="row-name">{t('Message {0}, {1}', index + 1, describeRole(role))}</span>{' '}
        {t('{0}: {1}', name, help)}{' '}
        <span className="row-help">
          {tokensBefore === tokensAfter
            ? t('{0} tokens', tokensBefore)
            : t('{0} → {1} tokens', tokensBefore, tokensAfter)}
        </span>
      </p>
      <p className="cell-words" translate="no">
        {words}
      </p>
      <p className="actions">
        <Checkbox label={t('Pin message {0}', index + 1)} checked={marks.pinned.has(index)} onChange={onPin} />
        <Checkbox
          label={t('Leave message {0} out of this condensation', index + 1)}
          checked={marks.excluded.has(index)}
          onChange={onExclude}
        />
      </p>
    </div>
  );
}
