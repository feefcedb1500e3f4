import { useState, type ReactNode } from 'react';
import { usePanel } from '../state/panel';
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

/** State of what is folded at first and unfolds when the user goes to the place inside it. */
export function useUnfolded(place: string | undefined): [boolean, (isOpen: boolean) => void] {
  const { wanted } = usePanel();
  const request = place !== undefined && wanted?.section === place ? wanted.number : undefined;
  const [isOpen, setOpen] = useState(request !== undefined);
  const [lastRequest, setLastRequest] = useState(request);
  if (request !== lastRequest) {
    setLastRequest(request);
    if (request !== undefined) setOpen(true);
  }
  return [isOpen, setOpen];
}

interface DisclosureProps {
  readonly title: string;
  /**
   * Words by which search finds the disclosure; without them, search looks at the fields inside.
   */
  readonly searchTexts?: readonly string[];
  /** A place inside; going there unfolds the disclosure. */
  readonly place?: string | undefined;
  readonly children: ReactNode;
}

/** Hides rarely used fields. */
export function Disclosure({ title, searchTexts, place, children }: DisclosureProps): ReactNode {
  const [isOpen, setOpen] = useUnfolded(place);
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
