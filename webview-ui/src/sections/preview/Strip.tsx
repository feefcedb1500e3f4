import { useCallback, useRef, useState, type KeyboardEvent, type ReactNode } from 'react';
import type { MessageCell } from '../../../../src/panel/protocol';
import { t } from '../../l10n';
import { Cell } from './Cell';
import { CellDetails } from './CellDetails';
import { kindOf, toggled, type Marks } from './outcomes';
import { Legend } from './Legend';
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
        <CellDetails
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
