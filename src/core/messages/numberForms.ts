import type { LineNumberForm } from '../agents/types';

/**
 * Line numbers in results: Claude Code (` 12→`, `12⇥`), `nl` and `cat -n` (` 12⇥`), Roo and Cline
 * (`12 | `), OpenCode (`12: `), Cursor (` 12|`), Oh My Pi's searches (` 12|`, `*12|`), Copilot CLI
 * (`12. `), Codex' read_file and Gemini CLI's searches (`L12: `), `bat` (` 12 │ `).
 */
export const NUMBER_FORMS: readonly LineNumberForm[] = ['arrow', 'tab', 'pipe', 'bar', 'colon', 'dot', 'L', 'box'];

export interface ParsedLineNumber {
  readonly number: number;
  readonly end: number;
}

const ZERO_CHAR = 48;
const SPACE_CHAR = 32;
const STAR_CHAR = 42;
const LETTER_L_CHAR = 76;
const MAX_NUMBER_DIGITS = 9;
const MAX_INDENT_CHARS = 12;
/** Old versions of OpenCode padded numbers with zeros to this width. */
const ZERO_PADDED_DIGITS = 5;

/** If one separator is a prefix of another, the longer one comes first. */
const SEPARATORS_BY_FORM: Readonly<Record<LineNumberForm, readonly string[]>> = {
  arrow: ['→'],
  tab: ['\t'],
  pipe: [' | ', ' |'],
  bar: ['|'],
  colon: [': ', ':'],
  dot: ['. ', '.'],
  L: [': ', '- ', ':', '-'],
  box: ['   │ ', ' │ ', '   │', ' │'],
};

/** Separators that may lose their trailing blank on an empty line. */
const SEPARATORS_WITH_OPTIONAL_BLANK: ReadonlySet<string> = new Set([' |', ':', '.', '-', '   │', ' │']);

/** @returns undefined if the line has no number in that format */
export function readNumberAt(text: string, offset: number, form: LineNumberForm): ParsedLineNumber | undefined {
  let position = offset;
  if (form === 'bar' && text.charCodeAt(position) === STAR_CHAR) position++;
  while (text.charCodeAt(position) === SPACE_CHAR && position - offset < MAX_INDENT_CHARS) position++;
  if (form === 'L') {
    if (text.charCodeAt(position) !== LETTER_L_CHAR) return undefined;
    position++;
  }
  const numberStart = position;
  let number = 0;
  for (
    let digit = text.charCodeAt(position) - ZERO_CHAR;
    digit >= 0 && digit <= 9;
    digit = text.charCodeAt(++position) - ZERO_CHAR
  ) {
    number = number * 10 + digit;
    if (position - numberStart > MAX_NUMBER_DIGITS) return undefined;
  }
  if (position === numberStart || number === 0) return undefined;
  const isPadded = text.charCodeAt(numberStart) === ZERO_CHAR;
  if (isPadded && !(form === 'bar' && position - numberStart === ZERO_PADDED_DIGITS)) return undefined;
  for (const separator of isPadded ? ['| ', '|'] : SEPARATORS_BY_FORM[form]) {
    if (text.charCodeAt(position) !== separator.charCodeAt(0) || !text.startsWith(separator, position)) continue;
    const end = position + separator.length;
    if (SEPARATORS_WITH_OPTIONAL_BLANK.has(separator) && !isAtLineEnd(text, end)) continue;
    return { number, end };
  }
  return undefined;
}

/** Also matches a line end that is escaped in a JSON string. */
const isAtLineEnd = (text: string, offset: number): boolean =>
  offset >= text.length ||
  text[offset] === '\n' ||
  text[offset] === '\r' ||
  text.startsWith('\\n', offset) ||
  text.startsWith('\\r', offset);
