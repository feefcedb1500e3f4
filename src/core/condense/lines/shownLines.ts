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
  const trimmed = line.trim();
  const lineWithoutNumber = line.replace(LINE_NUMBER_PREFIX, '').trim();
  return lineWithoutNumber === trimmed ? [trimmed] : [trimmed, lineWithoutNumber];
}

class ShownLineIndex {
  private readonly linesByFile = new Map<string, Map<string, ShownLine[]>>();
  private readonly spellingsByLine = new Map<string, readonly string[]>();

  constructor(messages: readonly ApiMessage[]) {
    for (const exchange of listToolExchanges(messages)) {
      for (const content of [...exchange.parameters, ...exchange.results]) {
        for (const part of listFileParts(DEFAULT_TOOLS, exchange, content)) {
          const { message, path, start } = content;
          const text = content.text.slice(part.start, part.end);
          const partStart = start + part.start;
          for (const line of splitIntoFileLines(text, part.linePrefix === 'diff'))
            this.addLine(part.path, line.text, {
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
    const paths =
      this.spellingsByLine.get(file) ?? [...this.linesByFile.keys()].filter((path) => isSameFile(path, file));
    this.spellingsByLine.set(file, paths);
    return paths
      .flatMap((path) => this.linesByFile.get(path)?.get(line) ?? [])
      .toSorted((a, b) => a.message - b.message);
  }

  private addLine(file: string, line: string, shownLine: ShownLine): void {
    if (line.length < MIN_LINE_CHARS) return;
    let lines = this.linesByFile.get(file);
    if (!lines) this.linesByFile.set(file, (lines = new Map<string, ShownLine[]>()));
    const occurrences = lines.get(line);
    if (occurrences) occurrences.push(shownLine);
    else lines.set(line, [shownLine]);
  }
}

export const getShownLines = memoizeByObject((messages: readonly ApiMessage[]) => new ShownLineIndex(messages));

export function splitIntoFileLines(text: string, isDiff: boolean): (Slice & { readonly text: string })[] {
  const lines: (Slice & { readonly text: string })[] = [];
  for (let lineStart = 0; lineStart <= text.length;) {
    const newline = text.indexOf('\n', lineStart);
    const end = newline < 0 ? text.length : newline;
    const line = text.slice(lineStart, end);
    for (const spelling of listPossibleLineContents(isDiff ? line.slice(1) : line)) {
      // Leaves out the prefix, which a cut may remove without the line.
      const start = lineStart + line.indexOf(spelling);
      lines.push({ start, end: start + spelling.length, text: spelling });
    }
    lineStart = end + 1;
  }
  return lines;
}

export function findFileLinesQuotedInCall(call: ToolExchange): NamedFileLine[] {
  const quotedLines = new Map<string, NamedFileLine>();
  for (const { path: file, before } of listFileChanges(DEFAULT_TOOLS, call))
    for (const line of before.map((each) => each.trim()))
      if (line.length >= MIN_LINE_CHARS) quotedLines.set(`${file}\n${line}`, { file, line });
  return [...quotedLines.values()];
}
