import type { PlacedContent } from '../../messages/exchanges';
import type { Slice } from '../../slice';
import { readLinePrefix, detectPrefixFormat } from '../lines/prefixes';
import { findMarkers } from '../../messages/markers';
import { findDeclarations } from './declarations';

export interface OutlinedFileLine extends Slice {
  readonly text: string;
  /** Line number, stated in the text or inferred from the line before. */
  readonly number: number | undefined;
  /** True if text was already removed at this line. */
  readonly isMarker: boolean;
}

export interface FileReadWithKeptLines {
  readonly content: PlacedContent;
  readonly lines: readonly OutlinedFileLine[];
  readonly isKept: readonly boolean[];
}

export interface OutlineRules {
  /** If false, only lines that edits quoted stay. */
  readonly keepDeclarations: boolean;
  /** Number of lines to keep on either side of a quoted line. */
  readonly contextLines: number;
}

export function splitReadIntoLines(text: string): OutlinedFileLine[] {
  const format = detectPrefixFormat(text, 'read', '\n');
  const lines: OutlinedFileLine[] = [];
  let number: number | undefined;
  for (let start = 0; start <= text.length;) {
    const newline = text.indexOf('\n', start);
    const end = newline < 0 ? text.length : newline;
    const prefix = format && readLinePrefix(text, start, format);
    number = prefix?.number ?? (number === undefined ? undefined : number + 1);
    const textWithoutPrefix = text.slice(prefix?.end ?? start, end);
    const isMarker = findMarkers(textWithoutPrefix).length > 0;
    if (isMarker) number = undefined;
    lines.push({ start, end, text: textWithoutPrefix, number, isMarker });
    start = end + 1;
  }
  return lines;
}

/** Agents add reminders after a file's content. */
const REMINDER_START = '<system-reminder>';

export const isMarkdown = (path: string | undefined): boolean =>
  path !== undefined && /\.(?:md|mdx|markdown)$/i.test(path);

export function markLinesToKeep(
  content: PlacedContent,
  path: string | undefined,
  isQuoted: (line: string) => boolean,
  { keepDeclarations, contextLines }: OutlineRules,
): FileReadWithKeptLines {
  const lines = splitReadIntoLines(content.text);
  const isDeclarationByLine = findDeclarations(lines, isMarkdown(path));
  const isQuotedByLine = lines.map((line) => isQuoted(line.text.trim()));
  const isKept = keepDeclarations ? [...isDeclarationByLine] : new Array<boolean>(lines.length).fill(false);
  let isInReminder = false;
  let contextLinesLeft = 0;
  for (const [index, line] of lines.entries()) {
    isInReminder ||= line.text.startsWith(REMINDER_START);
    if (isQuotedByLine[index]) {
      isKept.fill(true, Math.max(0, index - contextLines), index);
      contextLinesLeft = contextLines + 1;
    }
    if (line.isMarker || isInReminder || contextLinesLeft-- > 0) isKept[index] = true;
  }
  return { content, lines, isKept };
}
