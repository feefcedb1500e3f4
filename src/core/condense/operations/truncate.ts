import { lineCount, countLinesIn } from '../../lineCount';
import type { Slice } from '../../slice';
import { findMarkers } from '../../messages/markers';

/** How much of a text stays. Both limits hold; undefined sets none. */
export interface TruncateLimits {
  readonly maxLines?: number | undefined;
  /** In UTF-16 units. */
  readonly maxChars?: number | undefined;
  readonly keep: 'head' | 'tail' | 'both';
}

/** The slice of a text that truncation takes out. */
export interface TruncatedSlice extends Slice {
  /** Whole and broken lines in the slice. */
  readonly lines: number;
}

/** The slice to take out so that the rest keeps the limits; undefined where it already does. Markers don't count. */
export function truncatedSlice(text: string, limits: TruncateLimits): TruncatedSlice | undefined {
  if (withinLimits(text, limits)) return undefined;
  const { head, tail } = shares(limits);
  const start = head === 'none' ? 0 : headEnd(text, head);
  const end = tail === 'none' ? text.length : Math.max(start, tailStart(text, tail));
  return end > start ? { start, end, lines: countLinesIn(text, { start, end }) } : undefined;
}

function withinLimits(text: string, limits: TruncateLimits): boolean {
  const markers = findMarkers(text);
  const markerChars = markers.reduce((sum, found) => sum + found.end - found.start, 0);
  const chars = text.length - markerChars;
  // A marker stands on a line of its own or in the middle of one; the former is no line of the text.
  return (
    (limits.maxChars === undefined || chars <= limits.maxChars + markers.length) &&
    (limits.maxLines === undefined || lineCount(text) <= limits.maxLines + markers.length)
  );
}

interface Share {
  readonly lines: number;
  readonly chars: number;
}

function shares(limits: TruncateLimits): { head: Share | 'none'; tail: Share | 'none' } {
  const lines = limits.maxLines ?? Number.POSITIVE_INFINITY;
  const chars = limits.maxChars ?? Number.POSITIVE_INFINITY;
  switch (limits.keep) {
    case 'head':
      return { head: { lines, chars }, tail: 'none' };
    case 'tail':
      return { head: 'none', tail: { lines, chars } };
    case 'both':
      return {
        head: { lines: Math.ceil(lines / 2), chars: Math.ceil(chars / 2) },
        tail: { lines: Math.floor(lines / 2), chars: Math.floor(chars / 2) },
      };
  }
}

/** Offset behind the kept head; behind a newline where lines decide. */
function headEnd(text: string, share: Share): number {
  let at = 0;
  for (let line = 0; line < share.lines; line++) {
    const newline = text.indexOf('\n', at);
    if (newline < 0 || newline >= share.chars) return safeBoundary(text, Math.min(text.length, share.chars));
    at = newline + 1;
  }
  return at;
}

/** Offset where the kept tail begins. */
function tailStart(text: string, share: Share): number {
  let at = text.length;
  for (let line = 0; line < share.lines; line++) {
    // No further back than counts: of a line without end V8 would go through all of it.
    const from = Math.max(0, text.length - share.chars - 1);
    const newline = at <= from ? -1 : text.slice(from, at).lastIndexOf('\n') + from;
    if (newline < from || text.length - newline > share.chars) {
      return safeBoundary(text, Math.max(0, text.length - share.chars), 'after');
    }
    at = newline;
  }
  // A line's end may be two characters.
  return text[at] === '\n' && text[at - 1] === '\r' && text.length - at < share.chars ? at - 1 : at;
}

/** How far back a place is looked for where a grapheme certainly begins. */
const LOOK_BACK = 128;
/** How far back a grapheme is taken to begin where there is no such place: at the text's beginning, or behind so many units. */
const LONGEST_ROW = 64 * 1024;
const ASCII_PAIR = /[\x20-\x7e][\x20-\x7e]/g;

/** The offset, or the nearest one on the given side of it that doesn't cut a character (as a person sees it) in two. */
export function safeBoundary(text: string, offset: number, side: 'before' | 'after' = 'before'): number {
  if (offset <= 0 || offset >= text.length) return Math.max(0, Math.min(offset, text.length));
  const from = Math.max(0, offset - LOOK_BACK);
  // Between two printable ASCII characters there always is a boundary; the segmenter starts there.
  let start = from > 0 ? -1 : 0;
  for (const pair of text.slice(from, offset).matchAll(ASCII_PAIR)) start = from + pair.index + 1;
  // A window could begin in the middle of a row of flags, each of them two letters; without a sure place, the text
  // does.
  const base = start < 0 ? Math.max(0, offset - LONGEST_ROW) : start;
  const window = text.slice(base, start < 0 ? offset + LONGEST_ROW : offset + LOOK_BACK);
  const segment = graphemes()
    .segment(window)
    .containing(offset - base);
  if (!segment || base + segment.index === offset || side === 'before') return base + (segment?.index ?? offset - base);
  return base + segment.index + segment.segment.length;
}

let segmenter: Intl.Segmenter | undefined;
const graphemes = (): Intl.Segmenter => (segmenter ??= new Intl.Segmenter(undefined, { granularity: 'grapheme' }));
