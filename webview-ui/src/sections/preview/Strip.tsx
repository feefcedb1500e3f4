import { useCallback, useRef, useState, type KeyboardEvent, type ReactNode } from 'react';
import type { MessageCell } from '../../../../src/panel/protocol';
import { t } from '../../l10n';
import { MessageCellButton } from './Cell';
import { CellDetails } from './CellDetails';
import { getCellKind, toggleElement, type MessageMarks, CELL_KINDS, getCellKindTexts, type CellKind } from './outcomes';

interface MessageStripProps {
  readonly cells: readonly MessageCell[];
  readonly marks: MessageMarks;
  readonly onMark: (marks: MessageMarks) => void;
}

/** Shows one cell per message. Only one is in the tab order; arrow keys move to the others. */
export function MessageStrip({ cells, marks, onMark }: MessageStripProps): ReactNode {
  const [focusedIndex, setFocusedIndex] = useState(0);
  const strip = useRef<HTMLDivElement>(null);
  const currentIndex = Math.min(focusedIndex, cells.length - 1);
  const onPin = (message: number): void => {
    onMark({ ...marks, pinned: toggleElement(marks.pinned, message) });
  };
  const onExclude = (message: number): void => {
    onMark({ ...marks, excluded: toggleElement(marks.excluded, message) });
  };
  // Lets unchanged cells keep their props when the marks change.
  const latestOnPin = useRef(onPin);
  latestOnPin.current = onPin;
  const choose = useCallback((message: number) => {
    setFocusedIndex(message);
    latestOnPin.current(message);
  }, []);
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === 'x' || event.key === 'X') {
      onExclude(currentIndex);
      return;
    }
    const buttons = [...(strip.current?.querySelectorAll<HTMLElement>('.cell') ?? [])];
    const nextIndex = findCellForKey(
      event.key,
      currentIndex,
      buttons.map(({ offsetTop }) => offsetTop),
    );
    if (nextIndex === undefined) return;
    event.preventDefault();
    setFocusedIndex(nextIndex);
    buttons[nextIndex]?.focus();
  };
  const cell = cells[currentIndex];
  return (
    <div className="group-plain">
      <h4 className="group-title">{t('Message by message')}</h4>
      <p className="row-help">
        {t(
          'Click a message or press Enter to pin it, so that nothing in it is lost. Press X to leave it out of this condensation.',
        )}
      </p>
      <MessageStripLegend cells={cells} marks={marks} />
      <div ref={strip} className="strip" role="group" aria-label={t('Messages')} onKeyDown={onKeyDown}>
        {cells.map((cell, index) => (
          <MessageCellButton
            key={index}
            index={index}
            cell={cell}
            kind={getCellKind(cell, index, marks)}
            isPinned={marks.pinned.has(index)}
            isCurrent={index === currentIndex}
            onChoose={choose}
            onFocus={setFocusedIndex}
          />
        ))}
      </div>
      {cell && (
        <CellDetails
          cell={cell}
          index={currentIndex}
          marks={marks}
          onPin={() => {
            onPin(currentIndex);
          }}
          onExclude={() => {
            onExclude(currentIndex);
          }}
        />
      )}
    </div>
  );
}

/**
 * Finds the cell to which an arrow key moves in wrapped rows; undefined if there is none.
 * @param tops top of each cell in pixels
 */
function findCellForKey(key: string, cellIndex: number, tops: readonly number[]): number | undefined {
  const lastIndex = tops.length - 1;
  const cellsPerRow = Math.max(1, tops.filter((top) => top === tops[0]).length);
  switch (key) {
    case 'ArrowRight':
      return Math.min(lastIndex, cellIndex + 1);
    case 'ArrowLeft':
      return Math.max(0, cellIndex - 1);
    case 'ArrowDown':
      return cellIndex + cellsPerRow > lastIndex ? cellIndex : cellIndex + cellsPerRow;
    case 'ArrowUp':
      return cellIndex < cellsPerRow ? cellIndex : cellIndex - cellsPerRow;
    case 'Home':
      return 0;
    case 'End':
      return lastIndex;
    default:
      return undefined;
  }
}

interface MessageStripLegendProps {
  readonly cells: readonly MessageCell[];
  readonly marks: MessageMarks;
}

/** Explains the colors and letters, with the number of messages for each. */
function MessageStripLegend({ cells, marks }: MessageStripLegendProps): ReactNode {
  const counts = new Map<CellKind, number>();
  cells.forEach((cell, index) => {
    const kind = getCellKind(cell, index, marks);
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
  });
  return (
    <ul className="legend">
      {CELL_KINDS.filter((kind) => counts.has(kind)).map((kind) => {
        const { letter, name, help, style } = getCellKindTexts(kind);
        return (
          <li key={kind} title={help}>
            <span className={`cell cell-${kind}`} style={style} aria-hidden="true">
              {letter}
            </span>
            {t('{0}: {1}', name, counts.get(kind) ?? 0)}
          </li>
        );
      })}
    </ul>
  );
}
