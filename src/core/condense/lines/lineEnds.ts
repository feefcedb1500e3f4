import { MARKER_START } from '../../messages/markers';

/**
 * How lines end in a text. JSON contains a program's output as strings, in which a line ends with
 * the two characters of an escape.
 */
export type LineEnd = '\n' | '\\n';

const CUT_AFTER_ESCAPED_NEWLINE = `\\n${MARKER_START}`;

/** With fewer escaped line ends, a text has no run of lines. */
const MIN_ESCAPED_NEWLINES = 3;

export function detectLineEnd(text: string): LineEnd {
  if (!/^\s*[[{]/.test(text)) return '\n';
  // Removed lines leave fewer line ends, but the text must still be read as before.
  if (text.includes(CUT_AFTER_ESCAPED_NEWLINE)) return isJson(text) ? '\\n' : '\n';
  let at = 0;
  for (let found = 0; found < MIN_ESCAPED_NEWLINES; found++) {
    const end = text.indexOf('\\n', at);
    if (end < 0) return '\n';
    at = end + 2;
  }
  return hasMoreEscaped(text) && isJson(text) ? '\\n' : '\n';
}

/** A file that is JSON itself has ordinary lines, and perhaps some escaped ones in its strings. */
function hasMoreEscaped(text: string): boolean {
  let difference = 0;
  for (let at = text.indexOf('\\n'); at >= 0; at = text.indexOf('\\n', at + 2)) difference++;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) difference--;
  return difference > 0;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Offset after the line that begins at `from`, without its line end. */
export function findEndOfLine(text: string, from: number, lineEnd: LineEnd): number {
  for (let at = text.indexOf(lineEnd, from); at >= 0; at = text.indexOf(lineEnd, at + lineEnd.length)) {
    if (lineEnd === '\n' || !isEscaped(text, at)) return at;
  }
  return text.length;
}

/**
 * True for a line inside one JSON string. Other lines contain a quote, since escapes occur only in
 * strings.
 */
export function isInString(text: string, start: number, end: number): boolean {
  // Search the line only: the next quote may be megabytes away.
  const line = text.slice(start, end);
  for (let at = line.indexOf('"'); at >= 0; at = line.indexOf('"', at + 1)) {
    if (!isEscaped(text, start + at)) return false;
  }
  return start > 0 && end < text.length;
}

/** True after an odd number of backslashes; the last one escapes this character. */
function isEscaped(text: string, at: number): boolean {
  let first = at;
  while (text[first - 1] === '\\') first--;
  return (at - first) % 2 === 1;
}

/** The text as it appears in a JSON string. */
export const encodeForJson = (text: string): string => JSON.stringify(text).slice(1, -1);
