import { useEffect, useRef, type ReactNode } from 'react';
import { t } from '../l10n';
import { Icon } from '../ui';

interface SearchBoxProps {
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly result: string;
}

/** `/` and Ctrl+F focus the search box, Escape empties it. */
export function SearchBox({ value, onChange, result }: SearchBoxProps): ReactNode {
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (!(event.ctrlKey || event.metaKey) || event.key !== 'f') return;
      event.preventDefault();
      input.current?.focus();
      input.current?.select();
    };
    window.addEventListener('keydown', onKey);
    return () => {
      window.removeEventListener('keydown', onKey);
    };
  }, []);
  return (
    <div role="search" className="search">
      <Icon name="search" />
      <input
        ref={input}
        type="search"
        className="search-input"
        aria-label={t('Search settings')}
        placeholder={t('Search settings')}
        value={value}
        onChange={(event) => {
          onChange(event.target.value);
        }}
        onKeyDown={(event) => {
          if (event.key === 'Escape') onChange('');
        }}
      />
      <span className="search-result" role="status">
        {result}
      </span>
    </div>
  );
}
