import type { ReactNode } from 'react';
import { t } from '../l10n';

export interface OutlineEntry {
  readonly id: string;
  readonly title: string;
}

interface OutlineProps {
  readonly entries: readonly OutlineEntry[];
  readonly onChoose: (id: string) => void;
}

/** The sections, to go to one. */
export function Outline({ entries, onChoose }: OutlineProps): ReactNode {
  return (
    <nav className="outline" aria-label={t('Sections')}>
      <ul>
        {entries.map(({ id, title }) => (
          <li key={id}>
            <button
              type="button"
              className="outline-entry"
              onClick={() => {
                onChoose(id);
              }}
            >
              {title}
            </button>
          </li>
        ))}
      </ul>
    </nav>
  );
}
