/** The search over all settings: what doesn't match is not shown. */
import { createContext, use } from 'react';

/** The search term, in lower case; empty: none. */
export const SearchContext = createContext('');

/** Each word of the query has to occur somewhere in the texts. */
export function matches(query: string, texts: readonly (string | undefined)[]): boolean {
  const text = texts.join('\n').toLowerCase();
  return query.split(/\s+/).every((word) => text.includes(word));
}

export const useSearch = (): string => use(SearchContext);
