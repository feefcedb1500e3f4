import type { ToolKind } from '../../agents/types';
import { endOfLine, type LineEnd } from './lineEnds';

/**
 * What tools put in front of the lines of a file: a number, and in search results the file's path. Both follow from the
 * line before, so that a line is the same line with any of them.
 */

/** Agents number lines so: Claude Code `   12→`, `cat -n` and Codex `12\t`, the Roo family and Cline `12 | `. */
const NUMBERED = ['→', '\t', ' | '] as const;
/** Searches print `path:12:match`, `path-13-context`, and for one file `12:match`, `13-context`. */
export type PrefixFormat = (typeof NUMBERED)[number] | 'search';

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

const ZERO = 48;
const SPACE = 32;
const MAX_DIGITS = 9;

/** The prefix of the line that begins at an offset. */
export function prefixAt(text: string, at: number, format: PrefixFormat): Prefix | undefined {
  if (format === 'search') return searchPrefix(text, at);
  let next = at;
  while (text.charCodeAt(next) === SPACE && next - at < MAX_INDENT) next++;
  const first = next;
  let number = 0;
  for (let digit = text.charCodeAt(next) - ZERO; digit >= 0 && digit <= 9; digit = text.charCodeAt(++next) - ZERO) {
    number = number * 10 + digit;
    if (next - first > MAX_DIGITS) return undefined;
  }
  // A number with leading zeros is no line number: it wouldn't follow from the one before.
  if (next === first || text.charCodeAt(first) === ZERO || !text.startsWith(format, next)) return undefined;
  return { number, end: next + format.length, pathEnd: at, isMatch: false };
}

const MAX_INDENT = 12;

/** A dash ends the path only behind a file extension: file names hold dashes and digits, too. */
const SEARCH = /((?:[A-Za-z]:\\)?[^\n:]{1,300}?:|[^\n:]{1,300}?\.\w{1,8}-)?([1-9]\d{0,8})([:-])/y;

function searchPrefix(text: string, at: number): Prefix | undefined {
  SEARCH.lastIndex = at;
  const match = SEARCH.exec(text);
  if (!match) return undefined;
  const path = match[1] ?? '';
  const separator = path.slice(-1) || match[3];
  if (separator !== match[3]) return undefined;
  return {
    number: Number(match[2]),
    end: at + match[0].length,
    pathEnd: at + path.length,
    isMatch: match[3] === ':',
  };
}

/** Nothing but a numbered line looks like `12→`; tables hold tabs and bars, too. */
const isDistinct = (format: PrefixFormat): boolean => format === '→';

/** How many lines of a run keep their numbers, so that the format can be recognized again. */
export const linesThatProve = (format: PrefixFormat, hint: PrefixHint): number =>
  hint === 'other' && !isDistinct(format) ? 2 : 1;

/** Reads and searches begin with a line or two of their own ("Found 3 matches"), seldom more. */
const LINES_TO_LOOK_AT = 8;

/**
 * The format of a text's prefixes. Two numbered lines in a row prove it; an arrow, and for the output of a read or a search
 * one line near its beginning, is enough (the others may have been taken out).
 */
export function prefixFormat(text: string, hint: PrefixHint, lineEnd: LineEnd): PrefixFormat | undefined {
  // JSON holds several texts; only those of a read are all numbered, so that one line tells for the others.
  if (lineEnd !== '\n' && hint !== 'read') return undefined;
  const formats: readonly PrefixFormat[] = hint === 'search' ? ['search'] : NUMBERED;
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
    if (end === text.length) return undefined;
    at = end + lineEnd.length;
  }
  return undefined;
}
