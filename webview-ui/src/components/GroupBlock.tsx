import type { ReactNode } from 'react';
import { placeOfGroup, type NavigationGroup } from '../groups';
import { useSearch } from '../state/search';

interface GroupBlockProps {
  readonly group: NavigationGroup;
  readonly children: ReactNode;
}

export function GroupBlock({ group: { id, title, help }, children }: GroupBlockProps): ReactNode {
  const place = placeOfGroup(id);
  return (
    <section id={place} className="page-group" data-group={id} aria-labelledby={`${place}-title`}>
      <h2 id={`${place}-title`} className="page-group-title">
        {title}
      </h2>
      {useSearch() === '' && <p className="row-help">{help}</p>}
      {children}
    </section>
  );
}
