import { createContext, use, type ReactNode } from 'react';

/** The search term in lower case; empty without a search. */
export const SearchContext = createContext('');

export const IsSearchingContext = createContext(false);

/** Provides a function that ends the search and goes to a section. */
export const ShowSectionContext = createContext<(id: string) => void>(() => undefined);

/** Elements that a search counts. */
export const SEARCHABLE_ELEMENTS_SELECTOR = '[data-setting], [data-place]';

/** Each word of the query must occur in the texts. */
export function matchesQuery(query: string, texts: readonly (string | undefined)[]): boolean {
  const text = texts.join('\n').toLowerCase();
  return query.split(/\s+/).every((word) => text.includes(word));
}

export const useSearchQuery = (): string => use(SearchContext);

/** True while a search is shown. Unlike the query, it doesn't render its readers again at each key. */
export const useIsSearching = (): boolean => use(IsSearchingContext);

interface SearchablePlaceProps {
  /** Identifies the place to tests and to the search's count. */
  readonly id: string;
  /** Words by which search finds the place. */
  readonly searchTexts: readonly (string | undefined)[];
  readonly children: ReactNode;
}

/**
 * Part of the page that is no setting, such as a row of buttons. A search shows it only if its
 * words match.
 */
export function SearchablePlace({ id, searchTexts, children }: SearchablePlaceProps): ReactNode {
  const query = useSearchQuery();
  if (query === '') return children;
  return matchesQuery(query, searchTexts) ? <div data-place={id}>{children}</div> : null;
}
