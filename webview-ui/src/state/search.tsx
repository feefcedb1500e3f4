/** The search over everything on the page: what doesn't match is not shown. */
import { createContext, use, type ReactNode } from 'react';

/** The search term, in lower case; empty: none. */
export const SearchContext = createContext('');

/** Ends the search and goes to a section. */
export const ShowSectionContext = createContext<(id: string) => void>(() => undefined);

/** What a search counts: settings, and other elements that carry `data-place`. */
export const FOUND_SELECTOR = '[data-setting], [data-place]';

/** Each word of the query has to occur somewhere in the texts. */
export function matchesQuery(query: string, texts: readonly (string | undefined)[]): boolean {
  const text = texts.join('\n').toLowerCase();
  return query.split(/\s+/).every((word) => text.includes(word));
}

export const useSearch = (): string => use(SearchContext);

interface FindableProps {
  /** Names the place to tests and to the search's count. */
  readonly id: string;
  /** The words by which a search finds it. */
  readonly words: readonly (string | undefined)[];
  readonly children: ReactNode;
}

/** Part of the page that is no setting, such as a list or a row of buttons. A search shows it only if its words match. */
export function Findable({ id, words, children }: FindableProps): ReactNode {
  const query = useSearch();
  if (query === '') return children;
  return matchesQuery(query, words) ? <div data-place={id}>{children}</div> : null;
}
