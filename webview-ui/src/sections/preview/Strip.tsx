import { memo, useCallback, useRef, useState, type KeyboardEvent, type ReactNode } from 'react';
import type { MessageCell } from '../../../../src/panel/protocol';
import { t } from '../../l10n';
import { Checkbox } from '../../ui';
import { CELL_KINDS, kindOf, toggled, wordsOf, type CellKind, type Marks } from './fates';
import { neighbour } from './neighbour';

interface StripProps {
  readonly cells: readonly MessageCell[];
  readonly marks: Marks;
  readonly onMark: (marks: Marks) => void;
}

/** The whole conversation, one cell a message. One of them is in the order of tabs; arrow keys move to the others. */
export function Strip({ cells, marks, onMark }: StripProps): ReactNode {
  const [at, setAt] = useState(0);
  const strip = useRef<HTMLDivElement>(null);
  const current = Math.min(at, cells.length - 1);
  const onPin = (message: number): void => {
    onMark({ ...marks, pinned: toggled(marks.pinned, message) });
  };
  const onExclude = (message: number): void => {
    onMark({ ...marks, excluded: toggled(marks.excluded, message) });
  };
  // The cells stay the same where nothing of theirs changes, whatever the latest marks are.
  const pin = useRef(onPin);
  pin.current = onPin;
  const choose = useCallback((message: number) => {
    setAt(message);
    pin.current(message);
  }, []);
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === 'x' || event.key === 'X') {
      onExclude(current);
      return;
    }
    const buttons = [...(strip.current?.querySelectorAll<HTMLElement>('.cell') ?? [])];
    const next = neighbour(
      event.key,
      current,
      buttons.map(({ offsetTop }) => offsetTop),
    );
    if (next === undefined) return;
    event.preventDefault();
    setAt(next);
    buttons[next]?.focus();
  };
  const cell = cells[current];
  return (
    <div className="group-plain">
      <h3 className="group-title">{t('Message by message')}</h3>
      <p className="row-help">
        {t(
          'Click a message, or press Enter on it, to pin it: nothing of it is lost. X leaves it out of this condensation.',
        )}
      </p>
      <Legend cells={cells} marks={marks} />
      <div ref={strip} className="strip" role="group" aria-label={t('Messages')} onKeyDown={onKeyDown}>
        {cells.map((each, index) => (
          <Cell
            key={index}
            index={index}
            cell={each}
            kind={kindOf(each, index, marks)}
            isPinned={marks.pinned.has(index)}
            isCurrent={index === current}
            onChoose={choose}
            onFocus={setAt}
          />
        ))}
      </div>
      {cell && (
        <Details
          cell={cell}
          index={current}
          marks={marks}
          onPin={() => {
            onPin(current);
          }}
          onExclude={() => {
            onExclude(current);
          }}
        />
      )}
    </div>
  );
}

interface CellProps {
  readonly index: number;
  readonly cell: MessageCell;
  readonly kind: CellKind;
  readonly isPinned: boolean;
  readonly isCurrent: boolean;
  readonly onChoose: (index: number) => void;
  readonly onFocus: (index: number) => void;
}

const sameCell = (a: CellProps, b: CellProps): boolean =>
  a.kind === b.kind &&
  a.isPinned === b.isPinned &&
  a.isCurrent === b.isCurrent &&
  a.cell.tokensBefore === b.cell.tokensBefore &&
  a.cell.tokensAfter === b.cell.tokensAfter &&
  a.cell.role === b.cell.role;

const Cell = memo(function Cell({ index, cell, kind, isPinned, isCurrent, onChoose, onFocus }: CellProps): ReactNode {
  const { letter, name } = wordsOf(kind);
  const { role, tokensBefore, tokensAfter } = cell;
  const label =
    tokensBefore === tokensAfter
      ? t('Message {0}, {1}: {2}, {3} tokens', index + 1, roleInWords(role), name, tokensBefore)
      : t('Message {0}, {1}: {2}, {3} → {4} tokens', index + 1, roleInWords(role), name, tokensBefore, tokensAfter);
  return (
    <button
      type="button"
      className={`cell cell-${kind}`}
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
}, sameCell);

interface DetailsProps {
  readonly cell: MessageCell;
  readonly index: number;
  readonly marks: Marks;
  readonly onPin: () => void;
  readonly onExclude: () => void;
}

/** The message that the strip stands at. */
function Details({ cell, index, marks, onPin, onExclude }: DetailsProps): ReactNode {
  const { role, words, tokensBefore, tokensAfter } = cell;
  const { name, help } = wordsOf(kindOf(cell, index, marks));
  return (
    <div className="cell-details">
      <p>
        <span className="row-name">{t('Message {0}, {1}', index + 1, roleInWords(role))}</span>{' '}
        {t('{0}: {1}', name, help)} <span className="row-help">{t('{0} → {1} tokens', tokensBefore, tokensAfter)}</span>
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

const roleInWords = (role: string): string =>
  role === 'user' ? t('user') : role === 'assistant' ? t('assistant') : t('system');

/** What the colours and letters mean, and how many messages each has. */
function Legend({ cells, marks }: Pick<StripProps, 'cells' | 'marks'>): ReactNode {
  const counts = new Map<CellKind, number>();
  cells.forEach((cell, index) => {
    const kind = kindOf(cell, index, marks);
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
  });
  return (
    <ul className="legend">
      {CELL_KINDS.filter((kind) => counts.has(kind)).map((kind) => {
        const { letter, name, help } = wordsOf(kind);
        return (
          <li key={kind} title={help}>
            <span className={`cell cell-${kind}`} aria-hidden="true">
              {letter}
            </span>
            {t('{0}: {1}', name, counts.get(kind) ?? 0)}
          </li>
        );
      })}
    </ul>
  );
}
