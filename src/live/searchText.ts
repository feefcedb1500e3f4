/**
 * Searches text for words or a regular expression that a model chose, without blocking the
 * extension host.
 */
import { createContext, Script } from 'node:vm';

/** Returns for each line whether it matches; undefined if matching took too long. */
export type LineMatcher = (lines: readonly string[]) => readonly boolean[] | undefined;

export class SearchPatternError extends Error {
  override readonly name = 'PatternError';
}

/** Milliseconds that one batch may block the thread. */
const MAX_BATCH_MS = 20;
/** Maximum milliseconds of all batches of a search together. */
const MAX_SEARCH_MS = 2_000;
/**
 * How often a single line is tried, because a batch may time out on a busy machine before it has
 * begun.
 */
const MAX_TRIES_PER_LINE = 3;
/** Maximum UTF-16 units of a batch; a longer line is a batch of its own. */
const MAX_BATCH_CHARS = 64 * 1024;
/**
 * Only this many UTF-16 units of a line are searched, because a pattern may take quadratic time.
 */
const MAX_SEARCHED_LINE_CHARS = 4_096;

export function createWordMatcher(words: string): LineMatcher {
  const wantedWords = words.toLowerCase().split(/\s+/).filter(Boolean);
  return (lines) =>
    lines.map((line) => {
      const lowerLine = line.toLowerCase();
      return wantedWords.every((word) => lowerLine.includes(word));
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
      // Legacy syntax is invalid with the flag `u`, so the pattern is compiled again without it.
    }
  }
  throw new SearchPatternError('The pattern is no regular expression as JavaScript knows it.');
}

/**
 * Returns zero-based line numbers.
 * @param spent milliseconds used by earlier calls; increased by this call
 * @throws SearchPatternError
 */
export function searchLinesWithinTime(lines: readonly string[], matches: LineMatcher, spent: { ms: number }): number[] {
  const matchingLines: number[] = [];
  let maxBatchLines = Infinity;
  let failedTries = 0;
  for (let batchStart = 0; batchStart < lines.length;) {
    const batchEnd = Math.min(findBatchEnd(lines, batchStart), batchStart + maxBatchLines);
    const startMs = performance.now();
    const batchMatches = matches(
      lines.slice(batchStart, batchEnd).map((line) => line.slice(0, MAX_SEARCHED_LINE_CHARS)),
    );
    spent.ms += performance.now() - startMs;
    failedTries = batchMatches || batchEnd - batchStart > 1 ? 0 : failedTries + 1;
    if (failedTries === MAX_TRIES_PER_LINE || spent.ms > MAX_SEARCH_MS) throw new SearchPatternError(TOO_SLOW_TEXT);
    maxBatchLines = batchMatches ? Infinity : Math.max(1, Math.floor((batchEnd - batchStart) / 2));
    if (!batchMatches) continue;
    for (const [index, isHit] of batchMatches.entries()) if (isHit) matchingLines.push(batchStart + index);
    batchStart = batchEnd;
  }
  return matchingLines;
}

const TOO_SLOW_TEXT = 'The pattern takes too long. Use a simpler one, or words.';

function findBatchEnd(lines: readonly string[], start: number): number {
  let chars = 0;
  let index = start;
  while (index < lines.length && (index === start || chars < MAX_BATCH_CHARS)) {
    // Counts each line as one character more, because matching even an empty line takes time.
    chars += 1 + Math.min(MAX_SEARCHED_LINE_CHARS, lines[index]?.length ?? 0);
    index++;
  }
  return index;
}
