import { listFileChanges } from '../../messages/fileChanges';
import { listFileParts } from '../../messages/fileParts';
import { isSameFile } from '../../messages/filePath';
import { listToolExchanges, type ToolExchange } from '../../messages/exchanges';
import { DEFAULT_TOOLS } from '../../messages/tools';
import type { ApiMessage, ContentPlace } from '../../messages/types';
import { memoizeByObject } from '../../memoizeByObject';
import type { Slice } from '../../slice';

export interface ShownLine extends ContentPlace, Slice {}

/** `line` is trimmed, without number or sign. */
export interface NamedFileLine {
  readonly file: string;
  readonly line: string;
}

/** Shorter lines are braces and keywords. */
export const MIN_LINE_CHARS = 12;

/**
 * Matches numbers in every form of `NUMBER_FORMS`, and positions from search tools (`path:12:`,
 * `path-12-`, `12:`).
 */
const LINE_NUMBER_PREFIX = /^[ *]*(?:\d+(?:→|\t|\. ?| *[|│] ?)|L\d+[:-] ?|(?:[^\s:]+[:-])?\d+[:-] ?)/;

/** Returns the line with and without what may be a line number. */
export function listPossibleLineContents(line: string): string[] {
  const trimmedLine = line.trim();
  const lineWithoutNumber = line.replace(LINE_NUMBER_PREFIX, '').trim();
  return lineWithoutNumber === trimmedLine ? [trimmedLine] : [trimmedLine, lineWithoutNumber];
}

class ShownLineIndex {
  private readonly linesByFile = new Map<string, Map<string, ShownLine[]>>();
  private readonly spellingsByLine = new Map<string, readonly string[]>();

  constructor(messages: readonly ApiMessage[]) {
    for (const exchange of listToolExchanges(messages)) {
      for (const content of [...exchange.parameters, ...exchange.results]) {
        for (const filePart of listFileParts(DEFAULT_TOOLS, exchange, content)) {
          const { message, path, start } = content;
          const text = content.text.slice(filePart.start, filePart.end);
          const partStart = start + filePart.start;
          for (const line of splitIntoFileLines(text, filePart.linePrefix === 'diff'))
            this.addLine(filePart.path, line.text, {
              message,
              path,
              start: partStart + line.start,
              end: partStart + line.end,
            });
        }
      }
    }
  }

  findShownLine({ file, line }: NamedFileLine): readonly ShownLine[] {
    const matchingPaths =
      this.spellingsByLine.get(file) ?? [...this.linesByFile.keys()].filter((path) => isSameFile(path, file));
    this.spellingsByLine.set(file, matchingPaths);
    return matchingPaths
      .flatMap((path) => this.linesByFile.get(path)?.get(line) ?? [])
      .toSorted((a, b) => a.message - b.message);
  }

  private addLine(file: string, line: string, shownLine: ShownLine): void {
    if (line.length < MIN_LINE_CHARS) return;
    let occurrencesByLine = this.linesByFile.get(file);
    if (!occurrencesByLine) this.linesByFile.set(file, (occurrencesByLine = new Map<string, ShownLine[]>()));
    const occurrences = occurrencesByLine.get(line);
    if (occurrences) occurrences.push(shownLine);
    else occurrencesByLine.set(line, [shownLine]);
  }
}

export const getShownLines = memoizeByObject((messages: readonly ApiMessage[]) => new ShownLineIndex(messages));

export function splitIntoFileLines(text: string, isDiff: boolean): (Slice & { readonly text: string })[] {
  const fileLines: (Slice & { readonly text: string })[] = [];
  for (let lineStart = 0; lineStart <= text.length;) {
    const newline = text.indexOf('\n', lineStart);
    const end = newline < 0 ? text.length : newline;
    const line = text.slice(lineStart, end);
    for (const spelling of listPossibleLineContents(isDiff ? line.slice(1) : line)) {
      // Leaves out the prefix, which a cut may remove without the line.
      const start = lineStart + line.indexOf(spelling);
      fileLines.push({ start, end: start + spelling.length, text: spelling });
    }
    lineStart = end + 1;
  }
  return fileLines;
}

export function findFileLinesQuotedInCall(call: ToolExchange): NamedFileLine[] {
  const quotedLines = new Map<string, NamedFileLine>();
  for (const { path: file, before } of listFileChanges(DEFAULT_TOOLS, call))
    for (const line of before.map((each) => each.trim()))
      if (line.length >= MIN_LINE_CHARS) quotedLines.set(`${file}\n${line}`, { file, line });
  return [...quotedLines.values()];
}
