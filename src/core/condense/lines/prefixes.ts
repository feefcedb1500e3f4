import type { NumberForm, ToolKind } from '../../agents/types';
import { mayHoldMarker } from '../../messages/markers';
import { numberAt } from '../../messages/numberForms';
import type { LineHead } from '../../messages/commands/outputParts';
import { endOfLine, type LineEnd } from './lineEnds';

/**
 * Prefixes that tools put in front of a file's lines: a number, and in search results the file's path. Both follow from the
 * line before, so that a line is the same line with any of them.
 */

/**
 * The form of the prefixes of a text's lines: numbers in one of their forms; those of searches (`path:12:match`,
 * `path-13-context`, for one file `12:match`, `13-context`); the sign of a diff's line.
 */
export type PrefixFormat = LineHead;

/** One numbered line proves these; the others look like text that is no number. */
const PLAIN_FORMS = ['arrow', 'tab', 'pipe'] as const;
/** Forms that only lines which count from first to last prove. */
const COUNTED_FORMS = ['colon', 'bar', 'L', 'box', 'dot'] as const;

/** How the text of a tool is to be read: `read` numbers its lines, `search` prints matches, `other` may do either. */
export type PrefixHint = 'read' | 'search' | 'other';

/** How the lines of a call's results are prefixed. */
export const resultHint = (kind: ToolKind | undefined): PrefixHint =>
  kind === 'read' || kind === 'search' ? kind : 'other';

export interface Prefix {
  readonly number: number;
  /** Offset behind the prefix. */
  readonly end: number;
  /** Offset behind the path with its separator; where the line begins, if there is none. */
  readonly pathEnd: number;
  /** A search marks the lines that match with colons. */
  readonly isMatch: boolean;
}

/** The prefix of the line that begins at an offset. */
export function prefixAt(text: string, at: number, format: PrefixFormat): Prefix | undefined {
  if (format === 'search') return searchPrefix(text, at);
  if (format === 'diff') return { number: 0, end: Math.min(at + 1, text.length), pathEnd: at, isMatch: false };
  const found = numberAt(text, at, format);
  return found && { number: found.number, end: found.end, pathEnd: at, isMatch: false };
}

/** Whether a marker says which lines it stands for, so that the number behind it follows. @param what the marker's words. */
export const tellsNumbers = (what: string): boolean => /^lines \d[\d-]*/.test(what);

const NEWLINE = 10;
const DASH = 45;
const DOT = 46;
const ZERO = 48;
const COLON = 58;
const BACKSLASH = 92;
const MAX_PATH = 300;
const MAX_DIGITS = 9;
const MAX_EXTENSION = 8;

/**
 * `path:12:`, `path-12-`, `12:` or `12-`. A colon ends the path wherever it stands (but for a drive's), a dash only behind a file
 * extension: file names hold dashes and digits, too.
 */
function searchPrefix(text: string, at: number): Prefix | undefined {
  const hasDrive = isLetter(text.charCodeAt(at)) && text.charCodeAt(at + 1) === COLON;
  if (hasDrive && text.charCodeAt(at + 2) === BACKSLASH) {
    const pathEnd = colonBehind(text, at + 3);
    const end = pathEnd < 0 ? -1 : matchEnd(text, pathEnd);
    if (end >= 0) return searched(text, pathEnd, end, COLON);
  }
  const pathEnd = colonBehind(text, at);
  const end = pathEnd < 0 ? -1 : matchEnd(text, pathEnd);
  if (end >= 0) return searched(text, pathEnd, end, COLON);
  return contextPrefix(text, at) ?? barePrefix(text, at);
}

/** `path-12-`, as lines around a match have it. */
function contextPrefix(text: string, at: number): Prefix | undefined {
  for (let dot = at; dot <= at + MAX_PATH; dot++) {
    const code = text.charCodeAt(dot);
    if (code === NEWLINE || code === COLON || dot >= text.length) return undefined;
    if (code !== DOT || dot === at) continue;
    let dash = dot + 1;
    while (dash - dot <= MAX_EXTENSION && isWord(text.charCodeAt(dash))) dash++;
    if (dash === dot + 1 || text.charCodeAt(dash) !== DASH) continue;
    const end = matchEnd(text, dash + 1);
    if (end >= 0) return searched(text, dash + 1, end, DASH);
  }
  return undefined;
}

function barePrefix(text: string, at: number): Prefix | undefined {
  const end = matchEnd(text, at);
  return end < 0 ? undefined : searched(text, at, end, text.charCodeAt(end - 1));
}

/** @param separator what must stand behind the number: the same as behind the path. */
function searched(text: string, pathEnd: number, end: number, separator: number): Prefix | undefined {
  if (text.charCodeAt(end - 1) !== separator) return undefined;
  let number = 0;
  for (let digit = pathEnd; digit < end - 1; digit++) number = 10 * number + text.charCodeAt(digit) - ZERO;
  return { number, end, pathEnd, isMatch: separator === COLON };
}

/** Offset behind the first colon of a line, or -1 where the path before it would be empty or too long. */
function colonBehind(text: string, from: number): number {
  for (let at = from; at <= from + MAX_PATH && at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === COLON) return at > from ? at + 1 : -1;
    if (code === NEWLINE) return -1;
  }
  return -1;
}

/** Offset behind a number and the colon or dash that follows it, or -1. */
function matchEnd(text: string, at: number): number {
  let next = at;
  while (next - at < MAX_DIGITS && isDigit(text.charCodeAt(next))) next++;
  if (next === at || text.charCodeAt(at) === ZERO) return -1;
  const code = text.charCodeAt(next);
  return code === COLON || code === DASH ? next + 1 : -1;
}

const isDigit = (code: number): boolean => code >= ZERO && code <= 57;
const isLetter = (code: number): boolean => (code >= 97 && code <= 122) || (code >= 65 && code <= 90);
const isWord = (code: number): boolean => isLetter(code) || isDigit(code) || code === 95;

/** Nothing but a numbered line looks like `12→`; tables hold tabs and bars, too. */
const isDistinct = (format: PrefixFormat): boolean => format === 'arrow';

/** How many lines of a run keep their numbers, so that the format can be recognized again. */
export const linesThatProve = (format: PrefixFormat, hint: PrefixHint): number =>
  hint === 'other' && !isDistinct(format) ? 2 : 1;

/** Reads and searches begin with a line or two of their own ("Found 3 matches"), seldom more. */
const LINES_TO_LOOK_AT = 8;

/**
 * The format of a text's prefixes. Two numbered lines in a row prove it; an arrow, and for the output of a read or a search
 * one line near its beginning, is enough (the others may have been taken out).
 */
export function prefixFormat(
  text: string,
  hint: PrefixHint,
  lineEnd: LineEnd,
  forms?: readonly NumberForm[],
): PrefixFormat | undefined {
  // A tool that prints a file's lines as they are.
  if (forms?.length === 0) return undefined;
  // JSON holds several texts; only those of a read are all numbered, so that one line tells for the others.
  if (lineEnd !== '\n' && hint !== 'read') return undefined;
  const isMeant = (form: NumberForm): boolean => forms === undefined || forms.includes(form);
  const formats: readonly PrefixFormat[] = hint === 'search' ? ['search'] : PLAIN_FORMS.filter(isMeant);
  let at = 0;
  let before: { readonly format: PrefixFormat; readonly number: number } | undefined;
  for (let line = 0; line < LINES_TO_LOOK_AT; line++) {
    const format = formats.find((candidate) => prefixAt(text, at, candidate));
    const number = format && prefixAt(text, at, format)?.number;
    if (
      format &&
      (hint !== 'other' || isDistinct(format) || (before?.format === format && number === before.number + 1))
    ) {
      return format;
    }
    before = format && number !== undefined ? { format, number } : undefined;
    const end = endOfLine(text, at, lineEnd);
    if (end === text.length) break;
    at = end + lineEnd.length;
  }
  return hint === 'read' ? COUNTED_FORMS.find((form) => isMeant(form) && isCounted(text, form, lineEnd)) : undefined;
}

/**
 * Whether the numbers in front of a text's lines count them: each is as far from the first as its line is, unless a marker
 * stands between. Lines whose numbers were taken out have none; the first and the last of a run keep theirs.
 */
function isCounted(text: string, form: NumberForm, lineEnd: LineEnd): boolean {
  let count = 0;
  let without = 0;
  let expected = 0;
  let isOpen = false;
  for (let at = 0, end = 0; end < text.length; at = end + lineEnd.length) {
    end = endOfLine(text, at, lineEnd);
    const number = numberAt(text, at, form)?.number;
    if (number !== undefined && (count === 0 || number === expected || (isOpen && number > expected))) {
      if (count === 0 && without >= LINES_TO_LOOK_AT) return false;
      count++;
      without = 0;
      expected = number + 1;
      isOpen = false;
      continue;
    }
    // A number that doesn't count is text, and then so may the others be.
    if (number !== undefined && count > 0) return false;
    expected++;
    without++;
    if (mayHoldMarker(text.slice(at, end))) isOpen = true;
    if (count === 0 && without >= LINES_TO_LOOK_AT) return false;
  }
  return count >= 2 && without < LINES_TO_LOOK_AT;
}
