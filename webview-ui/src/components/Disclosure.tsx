import { useState, type ReactNode } from 'react';
import { useSearch } from '../state/search';
import { Icon } from '../ui';

interface DisclosureProps {
  readonly title: string;
  readonly children: ReactNode;
}

/** What few need, folded away. A search looks into it. */
export function Disclosure({ title, children }: DisclosureProps): ReactNode {
  const [isOpen, setOpen] = useState(false);
  const isSearching = useSearch() !== '';
  if (isSearching) return children;
  return (
    <div className="folded">
      <button
        type="button"
        className="disclosure"
        aria-expanded={isOpen}
        onClick={() => {
          setOpen(!isOpen);
        }}
      >
        <Icon name={isOpen ? 'chevron-down' : 'chevron-right'} />
        {title}
      </button>
      {isOpen && <div className="folded-content">{children}</div>}
    </div>
  );
}
