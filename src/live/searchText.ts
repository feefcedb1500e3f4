/** Searching for lines by words or by a regular expression that a model wrote, without holding up the host. */
import { createContext, Script } from 'node:vm';

/** Gives back which of some lines match; undefined where that took too long. */
export type LineMatcher = (lines: readonly string[]) => readonly boolean[] | undefined;

/** Thrown by {@link searchLines} for a pattern that is wrong or takes too long. */
export class PatternError extends Error {
  override readonly name = 'PatternError';
}

/** Milliseconds that one stretch of matching may hold the thread. */
const STRETCH_MS = 20;
/** Milliseconds of matching in one search, all stretches together. */
const BUDGET_MS = 2_000;
/** How often one line is tried: on a busy machine a stretch may end before it has begun. */
const MAX_TRIES = 3;
/** UTF-16 units that are matched in one stretch; a longer line is a stretch of its own. */
const STRETCH_CHARS = 64 * 1024;
/** Longer lines are searched only so far: a pattern may take quadratic time. */
const MAX_LINE = 4_096;

/** A line that holds all words, in any order and case. */
export function matchesWords(words: string): LineMatcher {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  return (lines) =>
    lines.map((line) => {
      const lower = line.toLowerCase();
      return wanted.every((word) => lower.includes(word));
    });
}

/**
 * A line that a regular expression matches. It runs where it can be stopped in the middle: a pattern such as `(a+)+$` would
 * else hold the thread for years.
 * @throws PatternError
 */
export function matchesPattern(pattern: string): LineMatcher {
  const sandbox = createContext({ lines: [] as readonly string[], pattern: compiled(pattern) });
  const script = new Script('lines.map((line) => pattern.test(line))');
  return (lines) => {
    sandbox['lines'] = lines;
    try {
      return script.runInContext(sandbox, { timeout: STRETCH_MS }) as readonly boolean[];
    } catch {
      return undefined;
    }
  };
}

function compiled(pattern: string): RegExp {
  for (const flags of ['iu', 'i']) {
    try {
      return new RegExp(pattern, flags);
    } catch {
      // Old ways to write a pattern are wrong with the flag u alone.
    }
  }
  throw new PatternError('The pattern is no regular expression as JavaScript knows it.');
}

/**
 * The lines of a text that match, by number from 0.
 * @param spent milliseconds that the search has taken so far; it is added to.
 * @throws PatternError
 */
export function searchLines(lines: readonly string[], matches: LineMatcher, spent: { ms: number }): number[] {
  const found: number[] = [];
  let most = Infinity;
  let tries = 0;
  for (let at = 0; at < lines.length;) {
    const end = Math.min(stretchEnd(lines, at), at + most);
    const started = performance.now();
    const hits = matches(lines.slice(at, end).map((line) => line.slice(0, MAX_LINE)));
    spent.ms += performance.now() - started;
    tries = hits || end - at > 1 ? 0 : tries + 1;
    if (tries === MAX_TRIES || spent.ms > BUDGET_MS) throw new PatternError(TOO_SLOW);
    // A search that took too long is tried again in smaller pieces.
    most = hits ? Infinity : Math.max(1, Math.floor((end - at) / 2));
    if (!hits) continue;
    for (const [index, isHit] of hits.entries()) if (isHit) found.push(at + index);
    at = end;
  }
  return found;
}

const TOO_SLOW = 'The pattern takes too long. Use a simpler one, or words.';

function stretchEnd(lines: readonly string[], from: number): number {
  let chars = 0;
  let at = from;
  while (at < lines.length && (at === from || chars < STRETCH_CHARS)) {
    // A line costs more than what it says.
    chars += 1 + Math.min(MAX_LINE, lines[at]?.length ?? 0);
    at++;
  }
  return at;
}
