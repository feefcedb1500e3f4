import { useState, type ReactNode } from 'react';
import { useSearch } from '../state/search';
import { Icon } from '../ui';

interface DisclosureButtonProps {
  readonly isOpen: boolean;
  readonly onToggle: (isOpen: boolean) => void;
  readonly className?: string;
  readonly children: ReactNode;
}

/** Folds and unfolds what follows it. */
export function DisclosureButton({ isOpen, onToggle, className = '', children }: DisclosureButtonProps): ReactNode {
  return (
    <button
      type="button"
      className={`disclosure ${className}`.trim()}
      aria-expanded={isOpen}
      onClick={() => {
        onToggle(!isOpen);
      }}
    >
      <Icon name={isOpen ? 'chevron-down' : 'chevron-right'} />
      {children}
    </button>
  );
}

interface DisclosureProps {
  readonly title: string;
  /** A search's treatment: looks into it, or passes it over. */
  readonly whenSearching?: 'shown' | 'hidden';
  readonly children: ReactNode;
}

/** Fields that few need, folded away. */
export function Disclosure({ title, whenSearching = 'shown', children }: DisclosureProps): ReactNode {
  const [isOpen, setOpen] = useState(false);
  const isSearching = useSearch() !== '';
  if (isSearching) return whenSearching === 'shown' ? children : null;
  return (
    <div className="folded">
      <DisclosureButton isOpen={isOpen} onToggle={setOpen}>
        {title}
      </DisclosureButton>
      {isOpen && <div className="folded-content">{children}</div>}
    </div>
  );
}
