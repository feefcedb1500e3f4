import { countLines, countLinesIn } from '../../lineCount';
import type { Slice } from '../../slice';
import { findMarkers } from '../../messages/markers';

/** Both limits apply, if set. */
export interface TruncateLimits {
  readonly maxLines?: number | undefined;
  /** In UTF-16 units. */
  readonly maxChars?: number | undefined;
  readonly keep: 'head' | 'tail' | 'both';
}

export interface TruncatedSlice extends Slice {
  readonly lines: number;
}

/** Undefined if the text is within the limits. The marker does not count toward them. */
export function findTruncatedSlice(text: string, limits: TruncateLimits): TruncatedSlice | undefined {
  if (isWithinLimits(text, limits)) return undefined;
  const { head, tail } = splitLimitsIntoHeadAndTail(limits);
  const start = head === 'none' ? 0 : findEndOfKeptHead(text, head);
  const end = tail === 'none' ? text.length : Math.max(start, findStartOfKeptTail(text, tail));
  return end > start ? { start, end, lines: countLinesIn(text, { start, end }) } : undefined;
}

function isWithinLimits(text: string, limits: TruncateLimits): boolean {
  const markers = findMarkers(text);
  const markerChars = markers.reduce((sum, found) => sum + found.end - found.start, 0);
  const chars = text.length - markerChars;
  // A marker on a line of its own does not count as a line.
  return (
    (limits.maxChars === undefined || chars <= limits.maxChars + markers.length) &&
    (limits.maxLines === undefined || countLines(text) <= limits.maxLines + markers.length)
  );
}

interface KeptLinesAndChars {
  readonly lines: number;
  readonly chars: number;
}

function splitLimitsIntoHeadAndTail(limits: TruncateLimits): {
  head: KeptLinesAndChars | 'none';
  tail: KeptLinesAndChars | 'none';
} {
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

function findEndOfKeptHead(text: string, keptPart: KeptLinesAndChars): number {
  let offset = 0;
  for (let line = 0; line < keptPart.lines; line++) {
    const newline = text.indexOf('\n', offset);
    if (newline < 0 || newline >= keptPart.chars) return findSafeBoundary(text, Math.min(text.length, keptPart.chars));
    offset = newline + 1;
  }
  return offset;
}

function findStartOfKeptTail(text: string, keptPart: KeptLinesAndChars): number {
  let offset = text.length;
  for (let line = 0; line < keptPart.lines; line++) {
    // Limits the search, because V8 would scan the whole of a very long line.
    const searchStart = Math.max(0, text.length - keptPart.chars - 1);
    const newline = offset <= searchStart ? -1 : text.slice(searchStart, offset).lastIndexOf('\n') + searchStart;
    if (newline < searchStart || text.length - newline > keptPart.chars) {
      return findSafeBoundary(text, Math.max(0, text.length - keptPart.chars), 'after');
    }
    offset = newline;
  }
  // Do not split a CRLF.
  return text[offset] === '\n' && text[offset - 1] === '\r' && text.length - offset < keptPart.chars
    ? offset - 1
    : offset;
}

/**
 * How far back to search for a certain grapheme boundary, and, if there is none, how far before and
 * after the offset to segment.
 */
const LOOK_BACK_CHARS = 128;
const MAX_SEGMENTED_CHARS = 64 * 1024;
const ASCII_PAIR = /[\x20-\x7e][\x20-\x7e]/g;

/** Returns the nearest offset on the given side that does not split a grapheme. */
export function findSafeBoundary(text: string, offset: number, side: 'before' | 'after' = 'before'): number {
  if (offset <= 0 || offset >= text.length) return Math.max(0, Math.min(offset, text.length));
  const searchStart = Math.max(0, offset - LOOK_BACK_CHARS);
  // A grapheme boundary always lies between two printable ASCII characters.
  let boundaryStart = searchStart > 0 ? -1 : 0;
  for (const pair of text.slice(searchStart, offset).matchAll(ASCII_PAIR)) boundaryStart = searchStart + pair.index + 1;
  // A part of the text could begin inside a row of flag emoji, each of which consists of two
  // letters.
  const segmentedStart = boundaryStart < 0 ? Math.max(0, offset - MAX_SEGMENTED_CHARS) : boundaryStart;
  const segmentedText = text.slice(
    segmentedStart,
    boundaryStart < 0 ? offset + MAX_SEGMENTED_CHARS : offset + LOOK_BACK_CHARS,
  );
  const segment = getSegmenter()
    .segment(segmentedText)
    .containing(offset - segmentedStart);
  if (!segment || segmentedStart + segment.index === offset || side === 'before')
    return segmentedStart + (segment?.index ?? offset - segmentedStart);
  return segmentedStart + segment.index + segment.segment.length;
}

let segmenter: Intl.Segmenter | undefined;
const getSegmenter = (): Intl.Segmenter => (segmenter ??= new Intl.Segmenter(undefined, { granularity: 'grapheme' }));
