import { memo, type ReactNode } from 'react';
import type { MessageCell } from '../../../../src/panel/protocol';
import { t } from '../../l10n';
import { describeRole, getCellKindTexts, type CellKind } from './outcomes';

interface MessageCellButtonProps {
  readonly index: number;
  readonly cell: MessageCell;
  readonly kind: CellKind;
  readonly isPinned: boolean;
  readonly isCurrent: boolean;
  readonly onChoose: (index: number) => void;
  readonly onFocus: (index: number) => void;
}

const areCellsEqual = (a: MessageCellButtonProps, b: MessageCellButtonProps): boolean =>
  a.kind === b.kind &&
  a.isPinned === b.isPinned &&
  a.isCurrent === b.isCurrent &&
  a.cell.tokensBefore === b.cell.tokensBefore &&
  a.cell.tokensAfter === b.cell.tokensAfter &&
  a.cell.role === b.cell.role;

/** One message of the strip; rerendered only if its own data changes. */
export const MessageCellButton = memo(function Cell({
  index,
  cell,
  kind,
  isPinned,
  isCurrent,
  onChoose,
  onFocus,
}: MessageCellButtonProps): ReactNode {
  const { letter, name, style } = getCellKindTexts(kind);
  const { role, tokensBefore, tokensAfter } = cell;
  const label =
    tokensBefore === tokensAfter
      ? t('Message {0}, {1}: {2}, {3} tokens', index + 1, describeRole(role), name, tokensBefore)
      : t('Message {0}, {1}: {2}, {3} → {4} tokens', index + 1, describeRole(role), name, tokensBefore, tokensAfter);
  return (
    <button
      type="button"
      className={`cell cell-${kind}`}
      style={style}
      tabIndex={isCurrent ? 0 : -1}
      aria-label={label}
      aria-pressed={isPinned}
      title={label}
      onClick={() => {
        onChoose(index);
      }}
      onFocus={() => {
        onFocus(index);
      }}
    >
      {letter}
    </button>
  );
}, areCellsEqual);
