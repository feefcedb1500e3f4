import { mayContainMarker } from '../../messages/markers';
import type { LineNumberForm } from '../../agents/types';
import { findEndOfLine, isInsideJsonString, detectLineTerminator, type LineTerminator } from './lineEnds';
import type { FilePart } from '../../messages/fileParts';
import { NO_LINE_ID, type LineId, type LineIds } from './lineIds';
import { SharedLineTables } from './lineTables';
import { readLinePrefix, detectPrefixFormat, type ToolKindHintForPrefixes } from './prefixes';

export class TextLines {
  /**
   * @param table from `tableStart` on: the start of each line and the end of the last (`count + 1`
   * entries); each line's ID; if the text has prefixes, the start of each line's own text, and each
   * line's number
   */
  constructor(
    readonly count: number,
    private readonly table: Int32Array,
    private readonly tableStart: number,
    private readonly hasPrefixes: boolean,
    readonly lineEnd: LineTerminator,
    private readonly wholeCount = count,
  ) {}

  get mayHaveNumbers(): boolean {
    return this.hasPrefixes;
  }

  sliceLines(first: number, last: number): TextLines {
    return new TextLines(
      last - first + 1,
      this.table,
      this.tableStart + first,
      this.hasPrefixes,
      this.lineEnd,
      this.wholeCount,
    );
  }

  /** Returns the offset before the line's number, if it has one. */
  getStart(line: number): number {
    return this.table[this.tableStart + line] as number;
  }

  getEnd(line: number): number {
    return (this.table[this.tableStart + line + 1] as number) - this.lineEnd.length;
  }

  /** {@link NO_LINE_ID} for lines that can neither be removed alone nor replace others. */
  getId(line: number): LineId {
    return Math.max(NO_LINE_ID, this.table[this.tableStart + this.wholeCount + 1 + line] as number);
  }

  /** Unlike {@link getId}, also identifies lines that can only be removed with the whole text. */
  getIdIncludingBlankLines(line: number): LineId {
    const id = this.table[this.tableStart + this.wholeCount + 1 + line] as number;
    return id < 0 ? FIRST_ID_OF_BLANK_LINES - id : id;
  }

  /** Returns the offset after the line's number, if it has one. */
  getStartAfterPrefix(line: number): number {
    return this.hasPrefixes
      ? (this.table[this.tableStart + 2 * this.wholeCount + 1 + line] as number)
      : this.getStart(line);
  }

  /** Stated or inferred from the line before; 0 if the text states none. */
  getStatedLineNumber(line: number): number {
    return this.hasPrefixes ? Math.max(0, this.table[this.tableStart + 3 * this.wholeCount + 1 + line] as number) : 0;
  }

  /** Returns a diff's sign as a number; 0 outside of diffs. */
  getDiffSign(line: number): number {
    return this.hasPrefixes ? Math.min(0, this.table[this.tableStart + 3 * this.wholeCount + 1 + line] as number) : 0;
  }

  /** Returns where a cut may begin. If all lines of a diff have one sign, the first sign stays. */
  getStartOfCut(first: number, last: number): number {
    const sign = this.getDiffSign(first);
    for (let line = first; line <= last && sign !== 0; line++)
      if (this.getDiffSign(line) !== sign) return this.getStart(first);
    return sign === 0 ? this.getStart(first) : this.getStartAfterPrefix(first);
  }
}

const FIRST_ID_OF_BLANK_LINES = NO_LINE_ID - 1;

/** Roo wraps each file of a multi-file read in these elements, which tell the files apart. */
const FILE_TAG_START = /^<\/?(?:files?|content|path)[\s>]/;
const MIN_FILE_TAG_CHARS = 10;
const LESS_THAN_CHAR = 60;

export interface TextLayout {
  readonly hint: ToolKindHintForPrefixes;
  /** Empty if the tool prints no line numbers; undefined if unknown. */
  readonly forms: readonly LineNumberForm[] | undefined;
  /** The parts of the text that show a known file. */
  readonly parts: readonly FilePart[];
}

export function splitLines(
  text: string,
  { hint, forms, parts }: TextLayout,
  ids: LineIds,
  tables = new SharedLineTables(),
): TextLines {
  const lineEnd = detectLineTerminator(text);
  if (
    lineEnd === '\n' &&
    parts.some(({ linePrefix, firstLine }) => linePrefix !== undefined || firstLine !== undefined)
  )
    return splitFilePartsIntoLines(text, parts, ids, tables);
  const format = detectPrefixFormat(text, hint, lineEnd, forms);
  const count = countLines(text, lineEnd);
  const { table, start: tableStart } = tables.allocateSlice((format ? 4 : 2) * count + 1);
  const mayHoldMarkers = mayContainMarker(text);
  let lineStart = 0;
  let number = 0;
  // Lines whose number is only inferred so far.
  let unnumberedLines = 0;
  const forgetLinesBefore = (to: number): void => {
    if (format) table.fill(0, tableStart + 3 * count + 1 + to - unnumberedLines, tableStart + 3 * count + 1 + to);
  };
  for (let line = 0; line < count; line++) {
    const end = findEndOfLine(text, lineStart, lineEnd);
    const isFrame =
      hint === 'read' &&
      text.charCodeAt(lineStart) === LESS_THAN_CHAR &&
      FILE_TAG_START.test(text.slice(lineStart, Math.min(end, lineStart + MIN_FILE_TAG_CHARS)));
    const holdsMarker = mayHoldMarkers && mayContainMarker(text.slice(lineStart, end));
    let bodyStart = lineStart;
    if (format) {
      const statedPrefix = readLinePrefix(text, lineStart, format);
      if (statedPrefix && statedPrefix.number !== number + 1) forgetLinesBefore(line);
      unnumberedLines = statedPrefix || number === 0 ? 0 : unnumberedLines + 1;
      number = statedPrefix ? statedPrefix.number : number > 0 && format !== 'search' ? number + 1 : 0;
      if (statedPrefix) bodyStart = statedPrefix.end;
      if (holdsMarker || isFrame) number = 0;
      table[tableStart + 2 * count + 1 + line] = bodyStart;
      table[tableStart + 3 * count + 1 + line] = number;
    }
    table[tableStart + line] = lineStart;
    const isIgnored = holdsMarker || isFrame || (lineEnd !== '\n' && !isInsideJsonString(text, lineStart, end));
    const id = ids.getOrCreateId(text, bodyStart, end, lineEnd !== '\n');
    table[tableStart + count + 1 + line] = isIgnored ? FIRST_ID_OF_BLANK_LINES - id : id;
    lineStart = end + lineEnd.length;
  }
  // A blank line after the last one is not part of the file.
  if (count > 1 && table[tableStart + count - 1] === text.length) forgetLinesBefore(count);
  table[tableStart + count] = text.length + lineEnd.length;
  return new TextLines(count, table, tableStart, format !== undefined, lineEnd);
}

function splitFilePartsIntoLines(
  text: string,
  fileParts: readonly FilePart[],
  ids: LineIds,
  tables: SharedLineTables,
): TextLines {
  const count = countLines(text, '\n');
  const { table, start: tableStart } = tables.allocateSlice(4 * count + 1);
  const mayHoldMarkers = mayContainMarker(text);
  let lineStart = 0;
  let nextPart = 0;
  let number = 0;
  let part: FilePart | undefined;
  for (let line = 0; line < count; line++) {
    const end = findEndOfLine(text, lineStart, '\n');
    while (
      nextPart < fileParts.length &&
      (fileParts[nextPart]?.start ?? 0) < end + 1 &&
      (fileParts[nextPart]?.start ?? 0) <= lineStart
    ) {
      part = fileParts[nextPart++];
      number = part?.linePrefix === undefined ? (part?.firstLine ?? 0) : 0;
    }
    if (part && lineStart >= part.end && lineStart > part.start) part = undefined;
    const head = part?.linePrefix;
    const holdsMarker = mayHoldMarkers && mayContainMarker(text.slice(lineStart, end));
    const statedPrefix = part && head !== undefined ? readLinePrefix(text, lineStart, head) : undefined;
    const bodyStart = Math.min(end, statedPrefix?.end ?? lineStart);
    if (part && head === undefined) {
      // After a marker, which may replace any number of lines, the number is unknown.
      if (holdsMarker) number = 0;
      table[tableStart + 3 * count + 1 + line] = number;
      if (number > 0) number++;
    } else if (head === 'diff') {
      table[tableStart + 3 * count + 1 + line] = end > lineStart ? -text.charCodeAt(lineStart) : -SPACE_CHAR;
    } else if (statedPrefix && !holdsMarker) {
      table[tableStart + 3 * count + 1 + line] = statedPrefix.number;
    }
    table[tableStart + line] = lineStart;
    table[tableStart + 2 * count + 1 + line] = bodyStart;
    const id = ids.getOrCreateId(text, bodyStart, end, false);
    table[tableStart + count + 1 + line] = holdsMarker ? FIRST_ID_OF_BLANK_LINES - id : id;
    lineStart = end + 1;
  }
  table[tableStart + count] = text.length + 1;
  return new TextLines(count, table, tableStart, true, '\n');
}

const SPACE_CHAR = 32;

function countLines(text: string, lineEnd: LineTerminator): number {
  let count = 1;
  for (
    let lineEndOffset = findEndOfLine(text, 0, lineEnd);
    lineEndOffset < text.length;
    lineEndOffset = findEndOfLine(text, lineEndOffset + lineEnd.length, lineEnd)
  )
    count++;
  return count;
}
