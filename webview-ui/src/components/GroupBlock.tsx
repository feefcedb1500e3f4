import type { ReactNode } from 'react';
import { makeGroupPlace, type NavigationGroup } from '../groups';
import { useIsSearching } from '../state/search';

interface GroupBlockProps {
  readonly group: NavigationGroup;
  readonly children: ReactNode;
}

export function SettingsGroup({ group: { id, title, help }, children }: GroupBlockProps): ReactNode {
  const place = makeGroupPlace(id);
  return (
    <section id={place} className="page-group" data-group={id} aria-labelledby={`${place}-title`}>
      <h2 id={`${place}-title`} className="page-group-title">
        {title}
      </h2>
      {!useIsSearching() && <p className="row-help">{help}</p>}
      {children}
    </section>
  );
}
