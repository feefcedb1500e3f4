import type { ReactNode } from 'react';

/** Figures in a row: what each is, its value, and a note where there is one. */
export function FigureList({
  figures,
}: {
  readonly figures: readonly (readonly [name: string, value: string, note?: string])[];
}): ReactNode {
  return (
    <dl className="figures">
      {figures.map(([name, value, note = '']) => (
        <div key={name} className="figure">
          <dt>{name}</dt>
          <dd>{value}</dd>
          {note !== '' && <dd className="figure-note">{note}</dd>}
        </div>
      ))}
    </dl>
  );
}
