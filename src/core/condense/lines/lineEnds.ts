import { MARKER_START } from '../../messages/markers';

/**
 * How lines end in a text. In JSON the lines of a program's output stand inside strings, and their ends are the two
 * characters of an escape.
 */
export type LineEnd = '\n' | '\\n';

const CUT_ESCAPED = `\\n${MARKER_START}`;

/** Fewer escaped line ends hold no run of lines. */
const MIN_ESCAPED = 3;

/** How the lines of a text end. */
export function lineEndOf(text: string): LineEnd {
  if (!/^\s*[[{]/.test(text)) return '\n';
  // Where such lines were left out fewer stand, and it is still to be read as before.
  if (text.includes(CUT_ESCAPED)) return isJson(text) ? '\\n' : '\n';
  let at = 0;
  for (let found = 0; found < MIN_ESCAPED; found++) {
    const end = text.indexOf('\\n', at);
    if (end < 0) return '\n';
    at = end + 2;
  }
  return hasMoreEscaped(text) && isJson(text) ? '\\n' : '\n';
}

/** A file that is JSON itself has lines of its own, and perhaps some escaped ones in its strings. */
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

/** Offset behind the line that begins at `from`, without its end. */
export function endOfLine(text: string, from: number, lineEnd: LineEnd): number {
  for (let at = text.indexOf(lineEnd, from); at >= 0; at = text.indexOf(lineEnd, at + lineEnd.length)) {
    if (lineEnd === '\n' || !isEscaped(text, at)) return at;
  }
  return text.length;
}

/** True for a line that lies inside one JSON string. The others hold a quote, for all escapes stand in strings. */
export function isInString(text: string, start: number, end: number): boolean {
  // In the line alone: the next quote may be megabytes away.
  const line = text.slice(start, end);
  for (let at = line.indexOf('"'); at >= 0; at = line.indexOf('"', at + 1)) {
    if (!isEscaped(text, start + at)) return false;
  }
  return start > 0 && end < text.length;
}

/** Whether an odd number of backslashes stands before: the last of them escapes what follows. */
function isEscaped(text: string, at: number): boolean {
  let first = at;
  while (text[first - 1] === '\\') first--;
  return (at - first) % 2 === 1;
}

/** A text as it stands in a JSON string. */
export const encoded = (text: string): string => JSON.stringify(text).slice(1, -1);
