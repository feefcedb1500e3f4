/** Which of several equal copies stays: the latest (older zones are condensed further) or the first (prompt cache). */
export type Keep = 'latest' | 'first';
