/**
 * Globs for tool names and file paths: `**` any folders, `*` and `?` within a name, `{a,b}` one of them. Matched state by
 * state and not by a regular expression: a pattern may come with an imported configuration, and must not take for ever.
 */

import { isWindowsPath } from './messages/filePath';

export type Matcher = (text: string) => boolean;

/** Whether a tool's name is one of these. */
export const toolMatcher = (patterns: readonly string[]): Matcher => anyOf(patterns);

/**
 * Whether a path is one of these. A pattern without a leading `/` matches below any folder, as in .gitignore. Paths of Windows match
 * in either case.
 */
export function fileMatcher(patterns: readonly string[]): Matcher {
  const anywhere = patterns.map((pattern) => {
    const path = slashes(pattern).replace(/^\.\//, '');
    return path.startsWith('/') ? path : `**/${path}`;
  });
  const matches = anyOf(anywhere);
  const matchesInAnyCase = anyOf(anywhere.map((pattern) => pattern.toLowerCase()));
  return (path) => (isWindowsPath(path) ? matchesInAnyCase(slashes(path).toLowerCase()) : matches(slashes(path)));
}

const slashes = (path: string): string => path.replaceAll('\\', '/');

function anyOf(patterns: readonly string[]): Matcher {
  const compiled = patterns.flatMap((pattern) => alternatives([pattern])).map(tokensOf);
  return (text) => compiled.some((tokens) => matches(tokens, text));
}

const MAX_ALTERNATIVES = 100;
const BRACES = /\{([^{},]*,[^{}]*)\}/;

/** Braces written out; where that would be too many patterns, those that are left stand for themselves. */
function alternatives(patterns: readonly string[]): readonly string[] {
  const choices = patterns.map((pattern) => BRACES.exec(pattern)?.[1]?.split(','));
  const count = choices.reduce((sum, list) => sum + (list?.length ?? 1), 0);
  if (count === patterns.length || count > MAX_ALTERNATIVES) return patterns;
  return alternatives(
    patterns.flatMap((pattern, at) => choices[at]?.map((choice) => pattern.replace(BRACES, () => choice)) ?? [pattern]),
  );
}

type Token =
  | { readonly kind: 'character'; readonly character: string }
  /** One character of a name. */
  | { readonly kind: 'any' }
  /** Any characters of a name; any characters at all. */
  | { readonly kind: 'name' | 'path' }
  /** The next two tokens may be left out. */
  | { readonly kind: 'optional' };

function tokensOf(pattern: string): Token[] {
  return [...pattern.matchAll(/(?:\*\*\/)+|\*+|[^*]/gsu)].flatMap(([text]): Token[] => {
    if (text.startsWith('**/')) return [{ kind: 'optional' }, { kind: 'path' }, { kind: 'character', character: '/' }];
    if (text.startsWith('*')) return [{ kind: text === '*' ? 'name' : 'path' }];
    return [text === '?' ? { kind: 'any' } : { kind: 'character', character: text }];
  });
}

function matches(tokens: readonly Token[], text: string): boolean {
  let states = new Set<number>();
  reach(tokens, 0, states);
  for (const character of text) {
    const next = new Set<number>();
    for (const state of states) {
      const reached = stateAfter(tokens[state], state, character);
      if (reached !== undefined) reach(tokens, reached, next);
    }
    states = next;
  }
  return states.has(tokens.length);
}

/** The state behind one more character; undefined where the token doesn't take it. */
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

/** Adds a state and those that can be had from it without a character. */
function reach(tokens: readonly Token[], state: number, states: Set<number>): void {
  if (states.has(state)) return;
  states.add(state);
  const kind = tokens[state]?.kind;
  if (kind === 'name' || kind === 'path' || kind === 'optional') reach(tokens, state + 1, states);
  if (kind === 'optional') reach(tokens, state + 3, states);
}
