import { useState, type ReactNode } from 'react';
import { SearchablePlace, useIsSearching } from '../state/search';
import { Icon } from '../ui';

interface DisclosureButtonProps {
  readonly isOpen: boolean;
  readonly onToggle: (isOpen: boolean) => void;
  readonly className?: string;
  readonly children: ReactNode;
}

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
  /**
   * Words by which search finds the disclosure; without them, search looks at the fields inside.
   */
  readonly searchTexts?: readonly string[];
  readonly children: ReactNode;
}

/** Hides rarely used fields. */
export function Disclosure({ title, searchTexts, children }: DisclosureProps): ReactNode {
  const [isOpen, setOpen] = useState(false);
  const isSearching = useIsSearching();
  if (isSearching && !searchTexts) return children;
  return (
    <SearchablePlace id={title} searchTexts={[title, ...(searchTexts ?? [])]}>
      <div className="folded">
        <DisclosureButton isOpen={isOpen} onToggle={setOpen}>
          {title}
        </DisclosureButton>
        {isOpen && <div className="folded-content">{children}</div>}
      </div>
    </SearchablePlace>
  );
}
