/** Searches with a pattern from a model, without blocking the host. */
import { createContext, Script } from 'node:vm';

/** Undefined if matching took too long. */
export type LineMatcher = (lines: readonly string[]) => readonly boolean[] | undefined;

export class SearchPatternError extends Error {
  override readonly name = 'PatternError';
}

/** Milliseconds that one batch may block the thread. */
const MAX_BATCH_MS = 20;
/** Milliseconds of all batches of a search together. */
const MAX_SEARCH_MS = 2_000;
/** On a busy machine a batch may time out before it has begun. */
const MAX_TRIES_PER_LINE = 3;
/** UTF-16 units; a longer line is a batch of its own. */
const MAX_BATCH_CHARS = 64 * 1024;
/** Only this much of a line is searched, because a pattern may take quadratic time. */
const MAX_SEARCHED_LINE_CHARS = 4_096;

export function createWordMatcher(words: string): LineMatcher {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  return (lines) =>
    lines.map((line) => {
      const lower = line.toLowerCase();
      return wanted.every((word) => lower.includes(word));
    });
}

/**
 * A pattern such as `(a+)+$` could block the thread for years, so it runs in a context that can be
 * interrupted.
 * @throws SearchPatternError
 */
export function createPatternMatcher(pattern: string): LineMatcher {
  const sandbox = createContext({ lines: [] as readonly string[], pattern: compilePattern(pattern) });
  const script = new Script('lines.map((line) => pattern.test(line))');
  return (lines) => {
    sandbox['lines'] = lines;
    try {
      return script.runInContext(sandbox, { timeout: MAX_BATCH_MS }) as readonly boolean[];
    } catch {
      return undefined;
    }
  };
}

function compilePattern(pattern: string): RegExp {
  for (const flags of ['iu', 'i']) {
    try {
      return new RegExp(pattern, flags);
    } catch {
      // Legacy syntax is invalid only with the flag `u`.
    }
  }
  throw new SearchPatternError('The pattern is no regular expression as JavaScript knows it.');
}

/**
 * Returns the zero-based numbers of the matching lines.
 * @param spent milliseconds used so far; updated
 * @throws SearchPatternError
 */
export function searchLinesWithinTime(lines: readonly string[], matches: LineMatcher, spent: { ms: number }): number[] {
  const found: number[] = [];
  let maxBatch = Infinity;
  let tries = 0;
  for (let at = 0; at < lines.length;) {
    const end = Math.min(findBatchEnd(lines, at), at + maxBatch);
    const started = performance.now();
    const hits = matches(lines.slice(at, end).map((line) => line.slice(0, MAX_SEARCHED_LINE_CHARS)));
    spent.ms += performance.now() - started;
    tries = hits || end - at > 1 ? 0 : tries + 1;
    if (tries === MAX_TRIES_PER_LINE || spent.ms > MAX_SEARCH_MS) throw new SearchPatternError(TOO_SLOW_TEXT);
    maxBatch = hits ? Infinity : Math.max(1, Math.floor((end - at) / 2));
    if (!hits) continue;
    for (const [index, isHit] of hits.entries()) if (isHit) found.push(at + index);
    at = end;
  }
  return found;
}

const TOO_SLOW_TEXT = 'The pattern takes too long. Use a simpler one, or words.';

function findBatchEnd(lines: readonly string[], from: number): number {
  let chars = 0;
  let at = from;
  while (at < lines.length && (at === from || chars < MAX_BATCH_CHARS)) {
    // Each line has a fixed cost, too.
    chars += 1 + Math.min(MAX_SEARCHED_LINE_CHARS, lines[at]?.length ?? 0);
    at++;
  }
  return at;
}
