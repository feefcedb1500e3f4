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

  /**
   * Returns the line number that the text states or that follows from the line before; 0 if the
   * text states none.
   */
  getStatedLineNumber(line: number): number {
    return this.hasPrefixes ? Math.max(0, this.table[this.tableStart + 3 * this.wholeCount + 1 + line] as number) : 0;
  }

  /** Returns a diff's sign as a number; 0 outside of diffs. */
  getDiffSign(line: number): number {
    return this.hasPrefixes ? Math.min(0, this.table[this.tableStart + 3 * this.wholeCount + 1 + line] as number) : 0;
  }

  /** Returns where a cut may begin. If all lines of a diff have one sign, the first sign stays. */
  getStartOfCut(first: number, last: number): number {
    const diffSign = this.getDiffSign(first);
    for (let line = first; line <= last && diffSign !== 0; line++)
      if (this.getDiffSign(line) !== diffSign) return this.getStart(first);
    return diffSign === 0 ? this.getStart(first) : this.getStartAfterPrefix(first);
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
  const lineCount = countLines(text, lineEnd);
  const { table, start: tableStart } = tables.allocateSlice((format ? 4 : 2) * lineCount + 1);
  const mayContainMarkers = mayContainMarker(text);
  let lineStart = 0;
  let lineNumber = 0;
  // Number of lines since the last stated number; their own numbers are only inferred.
  let unnumberedCount = 0;
  const forgetNumbersBefore = (to: number): void => {
    if (format)
      table.fill(0, tableStart + 3 * lineCount + 1 + to - unnumberedCount, tableStart + 3 * lineCount + 1 + to);
  };
  for (let line = 0; line < lineCount; line++) {
    const end = findEndOfLine(text, lineStart, lineEnd);
    const isFileTag =
      hint === 'read' &&
      text.charCodeAt(lineStart) === LESS_THAN_CHAR &&
      FILE_TAG_START.test(text.slice(lineStart, Math.min(end, lineStart + MIN_FILE_TAG_CHARS)));
    const containsMarker = mayContainMarkers && mayContainMarker(text.slice(lineStart, end));
    let bodyStart = lineStart;
    if (format) {
      const statedPrefix = readLinePrefix(text, lineStart, format);
      if (statedPrefix && statedPrefix.number !== lineNumber + 1) forgetNumbersBefore(line);
      unnumberedCount = statedPrefix || lineNumber === 0 ? 0 : unnumberedCount + 1;
      lineNumber = statedPrefix ? statedPrefix.number : lineNumber > 0 && format !== 'search' ? lineNumber + 1 : 0;
      if (statedPrefix) bodyStart = statedPrefix.end;
      if (containsMarker || isFileTag) lineNumber = 0;
      table[tableStart + 2 * lineCount + 1 + line] = bodyStart;
      table[tableStart + 3 * lineCount + 1 + line] = lineNumber;
    }
    table[tableStart + line] = lineStart;
    const isIgnored = containsMarker || isFileTag || (lineEnd !== '\n' && !isInsideJsonString(text, lineStart, end));
    const id = ids.getOrCreateId(text, bodyStart, end, lineEnd !== '\n');
    table[tableStart + lineCount + 1 + line] = isIgnored ? FIRST_ID_OF_BLANK_LINES - id : id;
    lineStart = end + lineEnd.length;
  }
  // A blank line after the last line is not part of the file.
  if (lineCount > 1 && table[tableStart + lineCount - 1] === text.length) forgetNumbersBefore(lineCount);
  table[tableStart + lineCount] = text.length + lineEnd.length;
  return new TextLines(lineCount, table, tableStart, format !== undefined, lineEnd);
}

function splitFilePartsIntoLines(
  text: string,
  fileParts: readonly FilePart[],
  ids: LineIds,
  tables: SharedLineTables,
): TextLines {
  const lineCount = countLines(text, '\n');
  const { table, start: tableStart } = tables.allocateSlice(4 * lineCount + 1);
  const mayContainMarkers = mayContainMarker(text);
  let lineStart = 0;
  let nextPartIndex = 0;
  let lineNumber = 0;
  let part: FilePart | undefined;
  for (let line = 0; line < lineCount; line++) {
    const end = findEndOfLine(text, lineStart, '\n');
    while (
      nextPartIndex < fileParts.length &&
      (fileParts[nextPartIndex]?.start ?? 0) < end + 1 &&
      (fileParts[nextPartIndex]?.start ?? 0) <= lineStart
    ) {
      part = fileParts[nextPartIndex++];
      lineNumber = part?.linePrefix === undefined ? (part?.firstLine ?? 0) : 0;
    }
    if (part && lineStart >= part.end && lineStart > part.start) part = undefined;
    const linePrefix = part?.linePrefix;
    const containsMarker = mayContainMarkers && mayContainMarker(text.slice(lineStart, end));
    const statedPrefix = part && linePrefix !== undefined ? readLinePrefix(text, lineStart, linePrefix) : undefined;
    const bodyStart = Math.min(end, statedPrefix?.end ?? lineStart);
    if (part && linePrefix === undefined) {
      // After a marker, which may replace any number of lines, the number is unknown.
      if (containsMarker) lineNumber = 0;
      table[tableStart + 3 * lineCount + 1 + line] = lineNumber;
      if (lineNumber > 0) lineNumber++;
    } else if (linePrefix === 'diff') {
      table[tableStart + 3 * lineCount + 1 + line] = end > lineStart ? -text.charCodeAt(lineStart) : -SPACE_CHAR;
    } else if (statedPrefix && !containsMarker) {
      table[tableStart + 3 * lineCount + 1 + line] = statedPrefix.number;
    }
    table[tableStart + line] = lineStart;
    table[tableStart + 2 * lineCount + 1 + line] = bodyStart;
    const id = ids.getOrCreateId(text, bodyStart, end, false);
    table[tableStart + lineCount + 1 + line] = containsMarker ? FIRST_ID_OF_BLANK_LINES - id : id;
    lineStart = end + 1;
  }
  table[tableStart + lineCount] = text.length + 1;
  return new TextLines(lineCount, table, tableStart, true, '\n');
}

const SPACE_CHAR = 32;

function countLines(text: string, lineEnd: LineTerminator): number {
  let lineCount = 1;
  for (
    let lineEndOffset = findEndOfLine(text, 0, lineEnd);
    lineEndOffset < text.length;
    lineEndOffset = findEndOfLine(text, lineEndOffset + lineEnd.length, lineEnd)
  )
    lineCount++;
  return lineCount;
}
