import { prefixAt, prefixFormat, type PrefixHint } from './prefixes';

/** A list of numbers, typed or plain. */
export type Numbers = ArrayLike<number> & Iterable<number>;

/** The lines of a text with what is known of each: where it stands, its number where the text states numbers, its hash. */
export interface Lines {
  readonly count: number;
  /** Offset where the line begins, its number included; one more entry than lines, the last behind the end. */
  readonly starts: Numbers;
  /** Offset where the line's own text begins: behind its number where it states one. */
  readonly bodies: Numbers;
  /** Offset behind the line, without the newline. */
  readonly ends: Numbers;
  /** The line's number: stated, or following from the one before; 0 where the text states none. */
  readonly numbers: Numbers;
  /** Hash of the line's own text; {@link NOTHING} for lines that can never be the same as another. */
  readonly hashes: Numbers;
}

/** The entry of a list at an index that it has. */
export const entry = (list: ArrayLike<number>, index: number): number => list[index] as number;

/** Hash of a line that holds a marker: it is no content of the conversation. */
export const NOTHING = -1;

/** A line of letters and digits that many says something by itself; `}` or `---` is found everywhere. */
const TELLING_CHARS = 4;

/** A typed array takes some 200 bytes of its own: most texts have a few lines, and a plain list of those is smaller. */
const SMALL = 32;

const integers = (count: number): Int32Array | number[] =>
  count < SMALL ? new Array<number>(count).fill(0) : new Int32Array(count);

/** Splits a text into its lines. */
export function splitLines(text: string, hint: PrefixHint): Lines {
  const format = prefixFormat(text, hint);
  const count = countLines(text);
  const lines = {
    count,
    starts: integers(count + 1),
    bodies: integers(count),
    ends: integers(count),
    numbers: integers(count),
    hashes: count < SMALL ? new Array<number>(count).fill(0) : new Float64Array(count),
  };
  const mayHoldMarkers = text.includes('⟦condensed: ');
  let at = 0;
  let number = 0;
  for (let line = 0; line < count; line++) {
    const newline = text.indexOf('\n', at);
    const end = newline < 0 ? text.length : newline;
    const stated = format && prefixAt(text, at, format);
    number = stated ? stated.number : number > 0 && format !== 'search' ? number + 1 : 0;
    const body = stated ? stated.end : at;
    const holdsMarker = mayHoldMarkers && text.slice(at, end).includes('⟦condensed: ');
    if (holdsMarker) number = 0;
    lines.starts[line] = at;
    lines.bodies[line] = body;
    lines.ends[line] = end;
    lines.numbers[line] = number;
    lines.hashes[line] = holdsMarker ? NOTHING : hashSlice(text, body, end);
    at = end + 1;
  }
  lines.starts[count] = text.length + 1;
  return lines;
}

function countLines(text: string): number {
  let count = 1;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) count++;
  return count;
}

/**
 * A hash of a slice, 53 bits: of our own, since V8 hashes long strings by their length alone. Who finds two equal ones
 * compares the text.
 */
export function hashSlice(text: string, start: number, end: number): number {
  let low = 0x811c9dc5;
  let high = 0x9747b28c;
  for (let at = start; at < end; at++) {
    const code = text.charCodeAt(at);
    low = Math.imul(low ^ code, 0x01000193);
    high = Math.imul(high + code, 0x85ebca6b) ^ (high >>> 13);
  }
  return (low >>> 0) + (high & 0x1fffff) * 0x100000000;
}

/** True for a line that says something by itself, so that finding it again means something. */
export function isTelling(text: string, start: number, end: number): boolean {
  let telling = 0;
  for (let at = start; at < end; at++) {
    const code = text.charCodeAt(at);
    const isWord =
      (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || (code >= 48 && code <= 57) || code > 127;
    if (isWord && ++telling >= TELLING_CHARS) return true;
  }
  return false;
}

/** True where two slices of one length hold the same text. */
export function sameSlice(a: string, aStart: number, b: string, bStart: number, length: number): boolean {
  if (length > COMPARE_WHOLE_FROM) return a.slice(aStart, aStart + length) === b.slice(bStart, bStart + length);
  for (let at = 0; at < length; at++) {
    if (a.charCodeAt(aStart + at) !== b.charCodeAt(bStart + at)) return false;
  }
  return true;
}

/** The engine compares long slices faster than a loop does. */
const COMPARE_WHOLE_FROM = 256;
