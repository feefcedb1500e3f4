/** Searching a text in windows, so that a line of megabytes costs no more than many short ones. */
import type { Slice } from '../slice';

/** UTF-16 units of a window, as a rule. */
export const WINDOW = 64_000;

/** UTF-16 units in front of a match that a pattern looks at, at most. */
const BEHIND = 256;

/**
 * UTF-16 units from a match's beginning up to where it is sure, at most: what a pattern repeats without an end, or thousands of times,
 * stands at its own end.
 */
const AHEAD = 1_024;

/** UTF-16 units behind a match that a pattern looks at, at most. */
const MARGIN = 16;

/** A match; `start` and `end` are places in the whole text. */
export interface Match extends Slice {
  /** The text that a group took. */
  readonly groups: readonly (string | undefined)[];
  /** Where the group `secret` stands, else the match; the pattern has the flag `d`. */
  readonly secret: Slice;
}

/** The windows of a text, one after the other; at least one. */
export function* splitIntoWindows(text: string, chars = WINDOW): Generator<Slice> {
  for (let start = 0; start === 0 || start < text.length; start += chars)
    yield { start, end: Math.min(text.length, start + chars) };
}

/** The part of a text that decides on the matches that begin in a window. */
export const seenFrom = (text: string, { start, end }: Slice): string =>
  text.slice(Math.max(0, start - BEHIND), end + AHEAD);

/**
 * The first match that begins in a window, from a place on: the same as in the whole text. That holds for patterns as {@link BEHIND},
 * {@link AHEAD} and {@link MARGIN} say.
 */
export function matchIn(text: string, pattern: RegExp, from: number, window: Slice): Match | undefined {
  const at = Math.max(from, window.start);
  if (at >= window.end) return undefined;
  const offset = Math.max(0, at - BEHIND);
  for (let seen = window.end + AHEAD - offset; ; seen *= 2) {
    pattern.lastIndex = at - offset;
    const found = pattern.exec(text.slice(offset, offset + seen));
    if (!found || offset + found.index >= window.end) return undefined;
    const end = pattern.lastIndex;
    // It may go on behind what was seen.
    if (end + MARGIN > seen && offset + seen < text.length) continue;
    const [start, stop] = found.indices?.groups?.['secret'] ?? [found.index, end];
    return {
      start: offset + found.index,
      end: offset + end,
      groups: found,
      secret: { start: offset + start, end: offset + stop },
    };
  }
}

/** All matches of a pattern, as `matchAll` finds them. */
export function matchesIn(text: string, pattern: RegExp, chars = WINDOW): Match[] {
  const matches: Match[] = [];
  let reached = 0;
  for (const window of splitIntoWindows(text, chars)) {
    for (let found = matchIn(text, pattern, reached, window); found; found = matchIn(text, pattern, reached, window)) {
      matches.push(found);
      reached = found.end;
    }
  }
  return matches;
}
