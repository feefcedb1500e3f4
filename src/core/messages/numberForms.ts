import type { NumberForm } from '../agents/types';

/**
 * Line-number formats in tool results: Claude Code (` 12→`, now `12⇥`), `nl` and `cat -n` (` 12⇥`),
 * Roo and Cline (`12 | `), OpenCode (`12: `, formerly `00012| `), Cursor (` 12|`), Oh My Pi's
 * searches (` 12|`, `*12|`), Copilot CLI (`12. `), Codex' read_file and Gemini CLI's searches
 * (`L12: `), `bat` (` 12 │ `).
 */
export const NUMBER_FORMS: readonly NumberForm[] = ['arrow', 'tab', 'pipe', 'bar', 'colon', 'dot', 'L', 'box'];

export interface LineNumber {
  readonly number: number;
  /** Offset after the number and its separator. */
  readonly end: number;
}

const ZERO = 48;
const SPACE = 32;
const STAR = 42;
const LETTER_L = 76;
const MAX_DIGITS = 9;
const MAX_INDENT = 12;
/** Width to which old versions of OpenCode padded numbers with zeros. */
const ZERO_PADDED = 5;

/** Separator after the number; longer ones first if one is a prefix of another. */
const SEPARATORS: Readonly<Record<NumberForm, readonly string[]>> = {
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
const BLANK_AT_END: ReadonlySet<string> = new Set([' |', ':', '.', '-', '   │', ' │']);

/**
 * Number at the start of the line at an offset.
 * @returns undefined if the line has none in that format
 */
export function numberAt(text: string, at: number, form: NumberForm): LineNumber | undefined {
  let next = at;
  if (form === 'bar' && text.charCodeAt(next) === STAR) next++;
  while (text.charCodeAt(next) === SPACE && next - at < MAX_INDENT) next++;
  if (form === 'L') {
    if (text.charCodeAt(next) !== LETTER_L) return undefined;
    next++;
  }
  const first = next;
  let number = 0;
  for (let digit = text.charCodeAt(next) - ZERO; digit >= 0 && digit <= 9; digit = text.charCodeAt(++next) - ZERO) {
    number = number * 10 + digit;
    if (next - first > MAX_DIGITS) return undefined;
  }
  if (next === first || number === 0) return undefined;
  const isPadded = text.charCodeAt(first) === ZERO;
  if (isPadded && !(form === 'bar' && next - first === ZERO_PADDED)) return undefined;
  for (const separator of isPadded ? ['| ', '|'] : SEPARATORS[form]) {
    if (text.charCodeAt(next) !== separator.charCodeAt(0) || !text.startsWith(separator, next)) continue;
    const end = next + separator.length;
    if (BLANK_AT_END.has(separator) && !isLineEnd(text, end)) continue;
    return { number, end };
  }
  return undefined;
}

/** Also matches a line end escaped in a JSON string. */
const isLineEnd = (text: string, at: number): boolean =>
  at >= text.length ||
  text[at] === '\n' ||
  text[at] === '\r' ||
  text.startsWith('\\n', at) ||
  text.startsWith('\\r', at);

/** Fewer numbered lines are no evidence, unless there are no others. */
const MIN_LINES = 2;
/** Lines that indicate omitted ones. */
const GAP = /^(?:\.{3}|…|--|⋮|\[?\.{3}.*)$/;

export interface NumberedLines {
  readonly form: NumberForm;
  readonly start: number;
  /** Exclusive. */
  readonly end: number;
}

/**
 * The form of the numbers in front of a text's lines. Each line must have its number, and each number must be the one
 * before plus one, or greater behind a line that says that some were left out; only a few lines in front and behind may
 * have none. So the lines of a file that look numbered are not taken for it: a list has other lines between its items,
 * and a table's first column seldom counts its rows by one from the first row to the last.
 * @param forms the forms that may occur; all where nothing is known of the tool.
 * @param around how many lines of the tool's own may stand in front of and behind the numbered ones.
 */
export function findNumberForm(
  text: string,
  forms: readonly NumberForm[] = NUMBER_FORMS,
  around = 8,
): NumberedLines | undefined {
  const candidates = forms.map((form) => new Candidate(form));
  let at = 0;
  for (;;) {
    const newline = text.indexOf('\n', at);
    const end = newline < 0 ? text.length : newline;
    for (const candidate of candidates) if (candidate.isOpen) candidate.take(text, at, end, around);
    if (newline < 0 || candidates.every(({ isOpen }) => !isOpen)) break;
    at = newline + 1;
  }
  // Formats that contain one another (`12 |` contains a bar) are distinguished by their separators.
  const found = candidates.find((candidate) => candidate.isOpen && candidate.count >= MIN_LINES);
  return found && { form: found.form, start: found.start, end: found.end };
}

class Candidate {
  isOpen = true;
  count = 0;
  start = 0;
  end = 0;
  private before = 0;
  /** Unnumbered lines before or after the numbered ones. */
  private without = 0;
  private hasGap = false;

  constructor(readonly form: NumberForm) {}

  take(text: string, at: number, end: number, around: number): void {
    const found = numberAt(text, at, this.form);
    if (!found) {
      const line = text.slice(at, Math.min(end, at + 80));
      if (this.count > 0 && GAP.test(line)) this.hasGap = true;
      else if (++this.without > around) this.isOpen = false;
      return;
    }
    const follows = found.number === this.before + 1 || (this.hasGap && found.number > this.before);
    // Numbered lines after unnumbered ones belong to another file.
    if (this.count > 0 && (!follows || (this.without > 0 && !this.hasGap))) {
      this.isOpen = false;
      return;
    }
    if (this.count === 0) {
      this.start = at;
      this.without = 0;
    }
    this.count++;
    this.end = end;
    this.before = found.number;
    this.hasGap = false;
  }
}
