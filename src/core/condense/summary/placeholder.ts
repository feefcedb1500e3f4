/** A text of so many tokens, in place of one that isn't written yet. */
export const placeholder = (tokens: number): string =>
  Array.from({ length: Math.max(1, tokens) }, () => 'word').join(' ');
