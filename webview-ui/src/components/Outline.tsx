import type { ReactNode } from 'react';
import type { NavigationGroup } from '../groups';
import { t } from '../l10n';

interface NavigationOutlineProps {
  readonly groups: readonly NavigationGroup[];
  /** ID of the group in view, whose sections are listed. */
  readonly current: string | undefined;
  readonly onChoose: (id: string) => void;
}

export function NavigationOutline({ groups, current: currentGroup, onChoose }: NavigationOutlineProps): ReactNode {
  const renderEntry = (id: string, title: string, className: string, isCurrent = false): ReactNode => (
    <button
      type="button"
      className={className}
      aria-current={isCurrent ? 'true' : undefined}
      onClick={() => {
        onChoose(id);
      }}
    >
      {title}
    </button>
  );
  return (
    <nav className="outline" aria-label={t('Sections')}>
      <ul>
        {groups.map(({ id, title, sections }) => (
          <li key={id}>
            {renderEntry(id, title, 'outline-entry', id === currentGroup)}
            {id === currentGroup && sections.length > 1 && (
              <ul className="outline-sections">
                {sections.map((section) => (
                  <li key={section.id}>{renderEntry(section.id, section.title, 'outline-entry outline-section')}</li>
                ))}
              </ul>
            )}
          </li>
        ))}
      </ul>
    </nav>
  );
}
