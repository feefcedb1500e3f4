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
  return found && { ...found, pathEnd: at, isMatch: false };
}

/** Whether a marker says which lines it stands for, so that the number behind it follows. @param what the marker's words. */
export const tellsNumbers = (what: string): boolean => /^lines \d[\d-]*/.test(what);

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
