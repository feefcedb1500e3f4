import { MARKER_START } from '../../messages/markers';

/** In JSON, lines of a program's output end with an escape sequence of two characters. */
export type LineTerminator = '\n' | '\\n';

const CUT_AFTER_ESCAPED_NEWLINE = `\\n${MARKER_START}`;

const MIN_ESCAPED_NEWLINES = 3;

export function detectLineTerminator(text: string): LineTerminator {
  if (!/^\s*[[{]/.test(text)) return '\n';
  // A text from which lines were cut must be split as it was before the cut.
  if (text.includes(CUT_AFTER_ESCAPED_NEWLINE)) return isValidJson(text) ? '\\n' : '\n';
  let searchStart = 0;
  for (let foundCount = 0; foundCount < MIN_ESCAPED_NEWLINES; foundCount++) {
    const end = text.indexOf('\\n', searchStart);
    if (end < 0) return '\n';
    searchStart = end + 2;
  }
  return hasMoreEscapedNewlines(text) && isValidJson(text) ? '\\n' : '\n';
}

/** A JSON file has ordinary newlines, and perhaps a few escaped ones in its strings. */
function hasMoreEscapedNewlines(text: string): boolean {
  let difference = 0;
  for (let position = text.indexOf('\\n'); position >= 0; position = text.indexOf('\\n', position + 2)) difference++;
  for (let position = text.indexOf('\n'); position >= 0; position = text.indexOf('\n', position + 1)) difference--;
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
  for (
    let position = text.indexOf(lineEnd, from);
    position >= 0;
    position = text.indexOf(lineEnd, position + lineEnd.length)
  ) {
    if (lineEnd === '\n' || !isEscapedCharacter(text, position)) return position;
  }
  return text.length;
}

/** Only a line inside a single JSON string contains no unescaped quote. */
export function isInsideJsonString(text: string, start: number, end: number): boolean {
  // Searches only the line: the next quote may be megabytes away.
  const line = text.slice(start, end);
  for (let position = line.indexOf('"'); position >= 0; position = line.indexOf('"', position + 1)) {
    if (!isEscapedCharacter(text, start + position)) return false;
  }
  return start > 0 && end < text.length;
}

function isEscapedCharacter(text: string, offset: number): boolean {
  let firstBackslash = offset;
  while (text[firstBackslash - 1] === '\\') firstBackslash--;
  return (offset - firstBackslash) % 2 === 1;
}

export const encodeForJson = (text: string): string => JSON.stringify(text).slice(1, -1);
