import type { PlacedContent } from '../../messages/exchanges';
import { prefixAt, prefixFormat } from '../lossless/prefixes';
import { findMarkers } from '../markers';
import { declarationsIn } from './declarations';
import type { FileBlock } from './relevance';

/** A line of a file that was read. */
export interface FileLine {
  /** Offset where it begins, with the number that the tool put in front of it. */
  readonly start: number;
  /** Offset behind it, without the newline. */
  readonly end: number;
  /** The line itself. */
  readonly text: string;
  /** Its number in the file, stated or following from the line before; undefined where the text states none. */
  readonly number: number | undefined;
  /** Text was taken out here before. */
  readonly isMarker: boolean;
}

/** A file read as an outline sees it. */
export interface FileLines {
  readonly content: PlacedContent;
  readonly lines: readonly FileLine[];
  /** For each line, whether it always stays. */
  readonly stays: readonly boolean[];
  readonly blocks: readonly FileBlock[];
}

export interface FileRules {
  /** False: only the lines that edits quoted stay. */
  readonly keepDeclarations: boolean;
  /** Lines that stay on either side of a quoted one. */
  readonly contextLines: number;
}

/** The lines of what a read tool gave. */
export function readLines(text: string): FileLine[] {
  const format = prefixFormat(text, 'read', '\n');
  const lines: FileLine[] = [];
  let number: number | undefined;
  for (let start = 0; start <= text.length;) {
    const newline = text.indexOf('\n', start);
    const end = newline < 0 ? text.length : newline;
    const prefix = format && prefixAt(text, start, format);
    number = prefix?.number ?? (number === undefined ? undefined : number + 1);
    const own = text.slice(prefix?.end ?? start, end);
    const isMarker = findMarkers(own).length > 0;
    if (isMarker) number = undefined;
    lines.push({ start, end, text: own, number, isMarker });
    start = end + 1;
  }
  return lines;
}

/** What a tool says behind a file's content. */
const REMINDER = '<system-reminder>';

/** A block ends before a declaration once it has the one, at a blank line once it has the other, at twice that anywhere. */
const SHORT_BLOCK = 8;
const LONG_BLOCK = 40;

/**
 * Splits a read into blocks and says what of it stays. Takes time in proportion to the text.
 * @param isQuoted tells of a line without the blanks around it whether an edit of the file quoted it.
 */
export function fileLines(
  content: PlacedContent,
  tokens: number,
  path: string | undefined,
  isQuoted: (line: string) => boolean,
  { keepDeclarations, contextLines }: FileRules,
): FileLines {
  const { text } = content;
  const lines = readLines(text);
  const declares = declarationsIn(lines, path !== undefined && /\.(?:md|mdx|markdown)$/i.test(path));
  const quoted = lines.map((line) => isQuoted(line.text.trim()));
  const stays = keepDeclarations ? [...declares] : new Array<boolean>(lines.length).fill(false);
  let isBehind = false;
  let near = 0;
  for (const [index, line] of lines.entries()) {
    isBehind ||= line.text.startsWith(REMINDER);
    if (quoted[index]) {
      stays.fill(true, Math.max(0, index - contextLines), index);
      near = contextLines + 1;
    }
    if (line.isMarker || isBehind || near-- > 0) stays[index] = true;
  }

  const blocks: FileBlock[] = [];
  let first = 0;
  const endAt = (last: number): void => {
    const own = text.slice(lines[first]?.start, lines[last]?.end);
    blocks.push({
      first,
      last,
      text: own,
      head: lines
        .slice(first, last + 1)
        .filter((_, at) => declares[first + at])
        .map((line) => line.text)
        .join('\n'),
      tokens: (tokens * own.length) / Math.max(1, text.length),
      quoted: quoted.slice(first, last + 1).filter(Boolean).length / (last - first + 1),
    });
    first = last + 1;
  };
  for (const [index, line] of lines.entries()) {
    const length = index - first;
    const endsHere =
      (declares[index] && length >= SHORT_BLOCK) ||
      (length >= LONG_BLOCK && (line.text.trim() === '' || length >= 2 * LONG_BLOCK));
    if (endsHere) endAt(index - 1);
  }
  endAt(lines.length - 1);
  return { content, lines, stays, blocks };
}
