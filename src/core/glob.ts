/**
 * Globs for tool names and file paths: `**` any folders, `*` and `?` within a name, `{a,b}`
 * alternatives. Uses states instead of a regular expression, because imported patterns must not
 * cause exponential time.
 */

import { isWindowsPath } from './messages/filePath';

export type Matcher = (text: string) => boolean;

export const createToolMatcher = (patterns: readonly string[]): Matcher => matchAny(patterns);

/**
 * A pattern without a leading `/` matches in any folder, as in .gitignore. Windows paths ignore
 * case.
 */
export function createFileMatcher(patterns: readonly string[]): Matcher {
  const anywhere = patterns.map((pattern) => {
    const path = normalizeSlashes(pattern).replace(/^\.\//, '');
    return path.startsWith('/') ? path : `**/${path}`;
  });
  const matches = matchAny(anywhere);
  const matchesInAnyCase = matchAny(anywhere.map((pattern) => pattern.toLowerCase()));
  return (path) =>
    isWindowsPath(path) ? matchesInAnyCase(normalizeSlashes(path).toLowerCase()) : matches(normalizeSlashes(path));
}

const normalizeSlashes = (path: string): string => path.replaceAll('\\', '/');

function matchAny(patterns: readonly string[]): Matcher {
  const compiled = withoutTooMany(patterns).map(parseGlob);
  const known = new Map<string, boolean>();
  return (text) => {
    const before = known.get(text);
    if (before !== undefined) return before;
    const isOne = compiled.some((tokens) => matchesTokens(tokens, text));
    known.set(text, isOne);
    return isOne;
  };
}

const MAX_EXPANDED_CHARS = 50_000;
const MAX_ALTERNATIVES = 100;

function withoutTooMany(patterns: readonly string[]): readonly string[] {
  let room = MAX_EXPANDED_CHARS - sumLengths(patterns);
  return patterns.flatMap((pattern) => {
    const written = expandAlternatives([pattern]);
    const more = sumLengths(written) - pattern.length;
    if (more > room) return [pattern];
    room -= more;
    return written;
  });
}

const sumLengths = (patterns: readonly string[]): number => patterns.reduce((sum, { length }) => sum + length, 0);
const BRACE_ALTERNATIVES = /\{([^{},]*,[^{}]*)\}/;

/** Leaves braces literal if expanding them would make too many patterns. */
function expandAlternatives(patterns: readonly string[]): readonly string[] {
  const choices = patterns.map((pattern) => BRACE_ALTERNATIVES.exec(pattern)?.[1]?.split(','));
  const count = choices.reduce((sum, list) => sum + (list?.length ?? 1), 0);
  if (count === patterns.length || count > MAX_ALTERNATIVES) return patterns;
  return expandAlternatives(
    patterns.flatMap(
      (pattern, at) => choices[at]?.map((choice) => pattern.replace(BRACE_ALTERNATIVES, () => choice)) ?? [pattern],
    ),
  );
}

type Token =
  | { readonly kind: 'character'; readonly character: string }
  | { readonly kind: 'any' }
  /** `name` matches any characters within a name, `path` any characters at all. */
  | { readonly kind: 'name' | 'path' }
  | { readonly kind: 'optional' };

function parseGlob(pattern: string): Token[] {
  return [...pattern.matchAll(/(?:\*\*\/)+|\*+|[^*]/gsu)].flatMap(([text]): Token[] => {
    if (text.startsWith('**/')) return [{ kind: 'optional' }, { kind: 'path' }, { kind: 'character', character: '/' }];
    if (text.startsWith('*')) return [{ kind: text === '*' ? 'name' : 'path' }];
    return [text === '?' ? { kind: 'any' } : { kind: 'character', character: text }];
  });
}

class MatchStates {
  readonly list: number[] = [];
  private readonly marks: Uint8Array;

  constructor(private readonly tokens: readonly Token[]) {
    this.marks = new Uint8Array(tokens.length + 2);
  }

  hasState(state: number): boolean {
    return this.marks[state] === 1;
  }

  /** Adds a state and all states that it reaches without a character. */
  addState(from: number): void {
    for (let state = from; this.marks[state] === 0; state++) {
      this.marks[state] = 1;
      this.list.push(state);
      const kind = this.tokens[state]?.kind;
      if (kind === 'optional') this.addState(state + 3);
      else if (kind !== 'name' && kind !== 'path') return;
    }
  }

  clearStates(): void {
    for (const state of this.list) this.marks[state] = 0;
    this.list.length = 0;
  }
}

function matchesTokens(tokens: readonly Token[], text: string): boolean {
  let [states, next] = [new MatchStates(tokens), new MatchStates(tokens)];
  states.addState(0);
  for (const character of text) {
    for (const state of states.list) {
      const reached = stateAfter(tokens[state], state, character);
      if (reached !== undefined) next.addState(reached);
    }
    states.clearStates();
    [states, next] = [next, states];
    if (states.list.length === 0) return false;
  }
  return states.hasState(tokens.length);
}

function stateAfter(token: Token | undefined, state: number, character: string): number | undefined {
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
