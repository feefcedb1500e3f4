import type { LineNumberForm, ToolKind } from '../../agents/types';
import { mayContainMarker } from '../../messages/markers';
import { readNumberAt } from '../../messages/numberForms';
import type { OutputLinePrefix } from '../../messages/commands/outputParts';
import { findEndOfLine, type LineTerminator } from './lineEnds';

/**
 * Prefixes are line numbers and, in search results, paths. Lines that differ only in their prefixes
 * count as equal.
 */

/**
 * A form of line numbers; search prefixes (`path:12:match`, `path-13-context`, for one file
 * `12:match`, `13-context`); or a diff's sign.
 */
export type LinePrefixFormat = OutputLinePrefix;

/** One numbered line is enough to recognize these forms. */
const NUMBER_FORMS_RECOGNIZED_ANYWHERE = ['arrow', 'tab', 'pipe'] as const;
/** Recognized only if the numbers count the lines from first to last. */
const NUMBER_FORMS_NEEDING_CONSECUTIVE_NUMBERS = ['colon', 'bar', 'L', 'box', 'dot'] as const;

/** What a tool prints: numbered lines (`read`), matches (`search`), or either (`other`). */
export type ToolKindHintForPrefixes = 'read' | 'search' | 'other';

export const getPrefixHintForToolKind = (kind: ToolKind | undefined): ToolKindHintForPrefixes =>
  kind === 'read' || kind === 'search' ? kind : 'other';

export interface LinePrefix {
  readonly number: number;
  readonly end: number;
  /** Offset after the path; the start of the line if it has no path. */
  readonly pathEnd: number;
  readonly isMatch: boolean;
}

export function readLinePrefix(text: string, offset: number, format: LinePrefixFormat): LinePrefix | undefined {
  if (format === 'search') return readSearchPrefix(text, offset);
  if (format === 'diff') return { number: 0, end: Math.min(offset + 1, text.length), pathEnd: offset, isMatch: false };
  const numberAtOffset = readNumberAt(text, offset, format);
  return numberAtOffset && { number: numberAtOffset.number, end: numberAtOffset.end, pathEnd: offset, isMatch: false };
}

export const statesLineNumbers = (what: string): boolean => /^lines \d[\d-]*/.test(what);

const NEWLINE_CHAR = 10;
const DASH_CHAR = 45;
const DOT_CHAR = 46;
const ZERO_CHAR = 48;
const COLON_CHAR = 58;
const BACKSLASH_CHAR = 92;
const MAX_PATH_CHARS = 300;
const MAX_NUMBER_DIGITS = 9;
const MAX_EXTENSION_CHARS = 8;

/**
 * Reads `path:12:`, `path-12-`, `12:` or `12-`. A dash ends the path only after a file extension,
 * since file names contain dashes and digits.
 */
function readSearchPrefix(text: string, offset: number): LinePrefix | undefined {
  const hasDrive = isLetterChar(text.charCodeAt(offset)) && text.charCodeAt(offset + 1) === COLON_CHAR;
  if (hasDrive && text.charCodeAt(offset + 2) === BACKSLASH_CHAR) {
    const pathEnd = findColon(text, offset + 3);
    const end = pathEnd < 0 ? -1 : findNumberEnd(text, pathEnd);
    if (end >= 0) return createSearchPrefix(text, pathEnd, end, COLON_CHAR);
  }
  const pathEnd = findColon(text, offset);
  const end = pathEnd < 0 ? -1 : findNumberEnd(text, pathEnd);
  if (end >= 0) return createSearchPrefix(text, pathEnd, end, COLON_CHAR);
  return readContextPrefix(text, offset) ?? readNumberOnlyPrefix(text, offset);
}

function readContextPrefix(text: string, offset: number): LinePrefix | undefined {
  for (let dot = offset; dot <= offset + MAX_PATH_CHARS; dot++) {
    const code = text.charCodeAt(dot);
    if (code === NEWLINE_CHAR || code === COLON_CHAR || dot >= text.length) return undefined;
    if (code !== DOT_CHAR || dot === offset) continue;
    let dashOffset = dot + 1;
    while (dashOffset - dot <= MAX_EXTENSION_CHARS && isWordChar(text.charCodeAt(dashOffset))) dashOffset++;
    if (dashOffset === dot + 1 || text.charCodeAt(dashOffset) !== DASH_CHAR) continue;
    const end = findNumberEnd(text, dashOffset + 1);
    if (end >= 0) return createSearchPrefix(text, dashOffset + 1, end, DASH_CHAR);
  }
  return undefined;
}

function readNumberOnlyPrefix(text: string, offset: number): LinePrefix | undefined {
  const end = findNumberEnd(text, offset);
  return end < 0 ? undefined : createSearchPrefix(text, offset, end, text.charCodeAt(end - 1));
}

function createSearchPrefix(text: string, pathEnd: number, end: number, separator: number): LinePrefix | undefined {
  if (text.charCodeAt(end - 1) !== separator) return undefined;
  let lineNumber = 0;
  for (let digit = pathEnd; digit < end - 1; digit++) lineNumber = 10 * lineNumber + text.charCodeAt(digit) - ZERO_CHAR;
  return { number: lineNumber, end, pathEnd, isMatch: separator === COLON_CHAR };
}

function findColon(text: string, start: number): number {
  for (let offset = start; offset <= start + MAX_PATH_CHARS && offset < text.length; offset++) {
    const code = text.charCodeAt(offset);
    if (code === COLON_CHAR) return offset > start ? offset + 1 : -1;
    if (code === NEWLINE_CHAR) return -1;
  }
  return -1;
}

function findNumberEnd(text: string, offset: number): number {
  let end = offset;
  while (end - offset < MAX_NUMBER_DIGITS && isDigitChar(text.charCodeAt(end))) end++;
  if (end === offset || text.charCodeAt(offset) === ZERO_CHAR) return -1;
  const code = text.charCodeAt(end);
  return code === COLON_CHAR || code === DASH_CHAR ? end + 1 : -1;
}

const isDigitChar = (code: number): boolean => code >= ZERO_CHAR && code <= 57;
const isLetterChar = (code: number): boolean => (code >= 97 && code <= 122) || (code >= 65 && code <= 90);
const isWordChar = (code: number): boolean => isLetterChar(code) || isDigitChar(code) || code === 95;

/** Only numbered lines look like `12→`; tables also contain tabs and bars. */
const isUnmistakableFormat = (format: LinePrefixFormat): boolean => format === 'arrow';

/** Number of lines that must keep their numbers so that the format is recognized again. */
export const getRequiredNumberedLines = (format: LinePrefixFormat, hint: ToolKindHintForPrefixes): number =>
  hint === 'other' && !isUnmistakableFormat(format) ? 2 : 1;

/**
 * Results of reads and searches may begin with a few lines without a prefix ("Found 3 matches").
 */
const MAX_DETECTION_LINES = 8;

/**
 * Two numbered lines in a row prove a format. An arrow, or one numbered line near the beginning of
 * a read or search, is enough, because cuts may have removed the other numbers.
 */
export function detectPrefixFormat(
  text: string,
  hint: ToolKindHintForPrefixes,
  lineEnd: LineTerminator,
  forms?: readonly LineNumberForm[],
): LinePrefixFormat | undefined {
  if (forms?.length === 0) return undefined;
  // JSON may contain several texts; only in a read are all of them numbered alike.
  if (lineEnd !== '\n' && hint !== 'read') return undefined;
  const isPossibleForm = (form: LineNumberForm): boolean => forms === undefined || forms.includes(form);
  const formats: readonly LinePrefixFormat[] =
    hint === 'search' ? ['search'] : NUMBER_FORMS_RECOGNIZED_ANYWHERE.filter(isPossibleForm);
  let lineStart = 0;
  let previousLine: { readonly format: LinePrefixFormat; readonly number: number } | undefined;
  for (let line = 0; line < MAX_DETECTION_LINES; line++) {
    const format = formats.find((candidate) => readLinePrefix(text, lineStart, candidate));
    const number = format && readLinePrefix(text, lineStart, format)?.number;
    if (
      format &&
      (hint !== 'other' ||
        isUnmistakableFormat(format) ||
        (previousLine?.format === format && number === previousLine.number + 1))
    ) {
      return format;
    }
    previousLine = format && number !== undefined ? { format, number } : undefined;
    const end = findEndOfLine(text, lineStart, lineEnd);
    if (end === text.length) break;
    lineStart = end + lineEnd.length;
  }
  return hint === 'read'
    ? NUMBER_FORMS_NEEDING_CONSECUTIVE_NUMBERS.find(
        (form) => isPossibleForm(form) && areNumbersConsecutive(text, form, lineEnd),
      )
    : undefined;
}

/**
 * True if each line has the next number, except across markers. Only inner lines may lack numbers.
 */
function areNumbersConsecutive(text: string, form: LineNumberForm, lineEnd: LineTerminator): boolean {
  let numberedLines = 0;
  let linesWithoutNumber = 0;
  let expectedNumber = 0;
  let isAfterMarker = false;
  for (let lineStart = 0, end = 0; end < text.length; lineStart = end + lineEnd.length) {
    end = findEndOfLine(text, lineStart, lineEnd);
    const number = readNumberAt(text, lineStart, form)?.number;
    if (
      number !== undefined &&
      (numberedLines === 0 || number === expectedNumber || (isAfterMarker && number > expectedNumber))
    ) {
      if (numberedLines === 0 && linesWithoutNumber >= MAX_DETECTION_LINES) return false;
      numberedLines++;
      linesWithoutNumber = 0;
      expectedNumber = number + 1;
      isAfterMarker = false;
      continue;
    }
    // A number out of sequence is text, so the other numbers may be text, too.
    if (number !== undefined && numberedLines > 0) return false;
    expectedNumber++;
    linesWithoutNumber++;
    if (mayContainMarker(text.slice(lineStart, end))) isAfterMarker = true;
    if (numberedLines === 0 && linesWithoutNumber >= MAX_DETECTION_LINES) return false;
  }
  return numberedLines >= 2 && linesWithoutNumber < MAX_DETECTION_LINES;
}
