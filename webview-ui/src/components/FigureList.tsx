import type { ReactNode } from 'react';

export type LabeledFigure = readonly [name: string, value: string, note?: string, isWarning?: boolean];

export function FigureList({ figures }: { readonly figures: readonly LabeledFigure[] }): ReactNode {
  return (
    <dl className="figures">
      {figures.map(([name, value, note = '', isWarning = false]) => (
        <div key={name} className="figure">
          <dt>{name}</dt>
          <dd className={isWarning ? 'figure-warning' : undefined}>{value}</dd>
          {note !== '' && <dd className="figure-note">{note}</dd>}
        </div>
      ))}
    </dl>
  );
}
