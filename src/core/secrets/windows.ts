/** Searches in windows, so that a line of megabytes costs no more than many short ones. */
import type { Slice } from '../slice';

export const WINDOW_CHARS = 64_000;

/** Maximum lookbehind of a pattern in UTF-16 units. */
const WINDOW_LOOK_BEHIND_CHARS = 256;

/**
 * Maximum UTF-16 units from the start of a match until it is certain; long repetitions must be at a
 * pattern's end.
 */
const WINDOW_LOOK_AHEAD_CHARS = 1_024;

/** Maximum lookahead of a pattern in UTF-16 units. */
const WINDOW_MARGIN_CHARS = 16;

export interface WindowMatch extends Slice {
  readonly groups: readonly (string | undefined)[];
  /** The slice of the group `secret`, or else of the whole match. Requires the flag `d`. */
  readonly secret: Slice;
}

export function* splitIntoWindows(text: string, chars = WINDOW_CHARS): Generator<Slice> {
  for (let start = 0; start === 0 || start < text.length; start += chars)
    yield { start, end: Math.min(text.length, start + chars) };
}

/** Extends a window by the text that is needed to decide which matches start in it. */
export const getWindowWithContext = (text: string, { start, end }: Slice): string =>
  text.slice(Math.max(0, start - WINDOW_LOOK_BEHIND_CHARS), end + WINDOW_LOOK_AHEAD_CHARS);

/**
 * Finds the first match that starts in the window, as a search of the whole text would. Patterns
 * must keep to the three limits above.
 */
export function findMatchInWindow(text: string, pattern: RegExp, from: number, window: Slice): WindowMatch | undefined {
  const searchStart = Math.max(from, window.start);
  if (searchStart >= window.end) return undefined;
  const offset = Math.max(0, searchStart - WINDOW_LOOK_BEHIND_CHARS);
  for (let length = window.end + WINDOW_LOOK_AHEAD_CHARS - offset; ; length *= 2) {
    pattern.lastIndex = searchStart - offset;
    const match = pattern.exec(text.slice(offset, offset + length));
    if (!match || offset + match.index >= window.end) return undefined;
    const end = pattern.lastIndex;
    // The match may continue after the part that was searched.
    if (end + WINDOW_MARGIN_CHARS > length && offset + length < text.length) continue;
    const [start, stop] = match.indices?.groups?.['secret'] ?? [match.index, end];
    return {
      start: offset + match.index,
      end: offset + end,
      groups: match,
      secret: { start: offset + start, end: offset + stop },
    };
  }
}

export function findMatchesInWindows(text: string, pattern: RegExp, chars = WINDOW_CHARS): WindowMatch[] {
  const matches: WindowMatch[] = [];
  let searchStart = 0;
  for (const window of splitIntoWindows(text, chars)) {
    for (
      let match = findMatchInWindow(text, pattern, searchStart, window);
      match;
      match = findMatchInWindow(text, pattern, searchStart, window)
    ) {
      matches.push(match);
      searchStart = match.end;
    }
  }
  return matches;
}
