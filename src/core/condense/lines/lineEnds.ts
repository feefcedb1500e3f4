import { MARKER_START } from '../../messages/markers';

/** In JSON, lines of a program's output end with the two characters of an escape. */
export type LineTerminator = '\n' | '\\n';

const CUT_AFTER_ESCAPED_NEWLINE = `\\n${MARKER_START}`;

const MIN_ESCAPED_NEWLINES = 3;

export function detectLineTerminator(text: string): LineTerminator {
  if (!/^\s*[[{]/.test(text)) return '\n';
  // A text from which lines were cut must be split as before.
  if (text.includes(CUT_AFTER_ESCAPED_NEWLINE)) return isValidJson(text) ? '\\n' : '\n';
  let searchStart = 0;
  for (let found = 0; found < MIN_ESCAPED_NEWLINES; found++) {
    const end = text.indexOf('\\n', searchStart);
    if (end < 0) return '\n';
    searchStart = end + 2;
  }
  return hasMoreEscapedNewlines(text) && isValidJson(text) ? '\\n' : '\n';
}

/** A JSON file has ordinary lines, and perhaps some escaped ones in its strings. */
function hasMoreEscapedNewlines(text: string): boolean {
  let difference = 0;
  for (let at = text.indexOf('\\n'); at >= 0; at = text.indexOf('\\n', at + 2)) difference++;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) difference--;
  return difference > 0;
}

function isValidJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

export function findEndOfLine(text: string, from: number, lineEnd: LineTerminator): number {
  for (let at = text.indexOf(lineEnd, from); at >= 0; at = text.indexOf(lineEnd, at + lineEnd.length)) {
    if (lineEnd === '\n' || !isEscapedCharacter(text, at)) return at;
  }
  return text.length;
}

/** Only a line inside a single JSON string contains no unescaped quote. */
export function isInsideJsonString(text: string, start: number, end: number): boolean {
  // Searches only the line: the next quote may be megabytes away.
  const line = text.slice(start, end);
  for (let at = line.indexOf('"'); at >= 0; at = line.indexOf('"', at + 1)) {
    if (!isEscapedCharacter(text, start + at)) return false;
  }
  return start > 0 && end < text.length;
}

function isEscapedCharacter(text: string, offset: number): boolean {
  let first = offset;
  while (text[first - 1] === '\\') first--;
  return (offset - first) % 2 === 1;
}

export const encodeForJson = (text: string): string => JSON.stringify(text).slice(1, -1);
