import { LARGE_TEXT, LargeTexts, slicesOf } from './largeTexts';
import { inOneGo, type Steps } from './pace';
import type { Slice } from './slice';

/** Line feeds in large texts. */
const known = new LargeTexts<number>();

/** The lines of a text. */
export const lineCount = (text: string): number => 1 + lineFeeds(text);

/** The lines of a slice of a text, whole and broken ones. Of a large text the rest is counted where that is shorter. */
export function lineCountOf(text: string, { start, end }: Slice): number {
  if (end - start < LARGE_TEXT || text.length - (end - start) >= end - start) return lineCount(text.slice(start, end));
  return lineCount(text) - lineFeeds(text.slice(0, start)) - lineFeeds(text.slice(end));
}

/** Counts the lines of a text in steps; {@link lineCount} then has them at once. */
export function* countingLines(text: string): Steps<number> {
  const before = known.get(text);
  if (before !== undefined) return 1 + before;
  let count = 0;
  for (const slice of slicesOf(text)) {
    for (let at = 0; at < slice.length; at++) if (slice.charCodeAt(at) === LINE_FEED) count++;
    yield;
  }
  known.set(text, count);
  return 1 + count;
}

const LINE_FEED = 0x0a;

function lineFeeds(text: string): number {
  if (text.length >= LARGE_TEXT) return inOneGo(countingLines(text)) - 1;
  let count = 0;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) count++;
  return count;
}
