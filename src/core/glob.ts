/**
 * Globs for tool names and file paths: `**` any folders, `*` and `?` within a name, `{a,b}`
 * alternatives. Uses no regular expressions, because imported patterns could take exponential time.
 */

import { isWindowsPath } from './messages/filePath';

export type TextMatcher = (text: string) => boolean;

export const createToolMatcher = (patterns: readonly string[]): TextMatcher => createAnyGlobMatcher(patterns);

/**
 * A pattern without a leading `/` matches in any folder, as in .gitignore. Windows paths ignore
 * case.
 */
export function createFileMatcher(patterns: readonly string[]): TextMatcher {
  const patternsInAnyFolder = patterns.map((pattern) => {
    const path = normalizeSlashes(pattern).replace(/^\.\//, '');
    return path.startsWith('/') ? path : `**/${path}`;
  });
  const matchesExactCase = createAnyGlobMatcher(patternsInAnyFolder);
  const matchesInAnyCase = createAnyGlobMatcher(patternsInAnyFolder.map((pattern) => pattern.toLowerCase()));
  return (path) =>
    isWindowsPath(path)
      ? matchesInAnyCase(normalizeSlashes(path).toLowerCase())
      : matchesExactCase(normalizeSlashes(path));
}

const normalizeSlashes = (path: string): string => path.replaceAll('\\', '/');

function createAnyGlobMatcher(patterns: readonly string[]): TextMatcher {
  const parsedPatterns = limitPatterns(patterns).map(parseGlobTokens);
  const matchByText = new Map<string, boolean>();
  return (text) => {
    const cachedMatch = matchByText.get(text);
    if (cachedMatch !== undefined) return cachedMatch;
    const isMatch = parsedPatterns.some((tokens) => matchesTokens(tokens, text));
    matchByText.set(text, isMatch);
    return isMatch;
  };
}

const MAX_EXPANDED_CHARS = 50_000;
const MAX_ALTERNATIVES = 100;

function limitPatterns(patterns: readonly string[]): readonly string[] {
  let charsLeft = MAX_EXPANDED_CHARS - sumLengths(patterns);
  return patterns.flatMap((pattern) => {
    const alternatives = expandAlternatives([pattern]);
    const addedChars = sumLengths(alternatives) - pattern.length;
    if (addedChars > charsLeft) return [pattern];
    charsLeft -= addedChars;
    return alternatives;
  });
}

const sumLengths = (patterns: readonly string[]): number => patterns.reduce((sum, { length }) => sum + length, 0);
const BRACE_ALTERNATIVES = /\{([^{},]*,[^{}]*)\}/;

/** Leaves braces literal if expanding them would make too many patterns. */
function expandAlternatives(patterns: readonly string[]): readonly string[] {
  const alternativesByPattern = patterns.map((pattern) => BRACE_ALTERNATIVES.exec(pattern)?.[1]?.split(','));
  const expandedCount = alternativesByPattern.reduce((sum, list) => sum + (list?.length ?? 1), 0);
  if (expandedCount === patterns.length || expandedCount > MAX_ALTERNATIVES) return patterns;
  return expandAlternatives(
    patterns.flatMap(
      (pattern, at) =>
        alternativesByPattern[at]?.map((choice) => pattern.replace(BRACE_ALTERNATIVES, () => choice)) ?? [pattern],
    ),
  );
}

type GlobToken =
  | { readonly kind: 'character'; readonly character: string }
  | { readonly kind: 'any' }
  /** `name` matches any characters within a name, `path` any characters at all. */
  | { readonly kind: 'name' | 'path' }
  | { readonly kind: 'optional' };

function parseGlobTokens(pattern: string): GlobToken[] {
  return [...pattern.matchAll(/(?:\*\*\/)+|\*+|[^*]/gsu)].flatMap(([text]): GlobToken[] => {
    if (text.startsWith('**/')) return [{ kind: 'optional' }, { kind: 'path' }, { kind: 'character', character: '/' }];
    if (text.startsWith('*')) return [{ kind: text === '*' ? 'name' : 'path' }];
    return [text === '?' ? { kind: 'any' } : { kind: 'character', character: text }];
  });
}

class GlobMatchStates {
  readonly list: number[] = [];
  private readonly isStateMarked: Uint8Array;

  constructor(private readonly tokens: readonly GlobToken[]) {
    this.isStateMarked = new Uint8Array(tokens.length + 2);
  }

  hasState(state: number): boolean {
    return this.isStateMarked[state] === 1;
  }

  /** Adds a state and all states that it reaches without a character. */
  addState(from: number): void {
    for (let state = from; this.isStateMarked[state] === 0; state++) {
      this.isStateMarked[state] = 1;
      this.list.push(state);
      const kind = this.tokens[state]?.kind;
      if (kind === 'optional') this.addState(state + 3);
      else if (kind !== 'name' && kind !== 'path') return;
    }
  }

  clearStates(): void {
    for (const state of this.list) this.isStateMarked[state] = 0;
    this.list.length = 0;
  }
}

function matchesTokens(tokens: readonly GlobToken[], text: string): boolean {
  let [states, nextStates] = [new GlobMatchStates(tokens), new GlobMatchStates(tokens)];
  states.addState(0);
  for (const character of text) {
    for (const state of states.list) {
      const nextState = getStateAfter(tokens[state], state, character);
      if (nextState !== undefined) nextStates.addState(nextState);
    }
    states.clearStates();
    [states, nextStates] = [nextStates, states];
    if (states.list.length === 0) return false;
  }
  return states.hasState(tokens.length);
}

function getStateAfter(token: GlobToken | undefined, state: number, character: string): number | undefined {
  switch (token?.kind) {
    case 'character':
      return token.character === character ? state + 1 : undefined;
    case 'any':
      return character === '/' ? undefined : state + 1;
    case 'name':
      return character === '/' ? undefined : state;
    case 'path':
      return state;
    case 'optional':
    case undefined:
      return undefined;
  }
}
