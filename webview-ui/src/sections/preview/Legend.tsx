import type { ReactNode } from 'react';
import type { MessageCell } from '../../../../src/panel/protocol';
import { t } from '../../l10n';
import { CELL_KINDS, kindOf, outcomeWords, type CellKind, type Marks } from './outcomes';

interface LegendProps {
  readonly cells: readonly MessageCell[];
  readonly marks: Marks;
}

/** The meaning of the colours and letters, and how many messages each has. */
export function Legend({ cells, marks }: LegendProps): ReactNode {
  const counts = new Map<CellKind, number>();
  cells.forEach((cell, index) => {
    const kind = kindOf(cell, index, marks);
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
  });
  return (
    <ul className="legend">
      {CELL_KINDS.filter((kind) => counts.has(kind)).map((kind) => {
        const { letter, name, help, style } = outcomeWords(kind);
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
