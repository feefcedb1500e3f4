/**
 * Computes an upper bound for Lossless by brute force: how much tool text could be removed if each
 * line had to occur only once. Only the attribution of lines to files is shared with Lossless.
 * Lines are compared as strings, any copy may stay, and a run of lines costs the shortest marker.
 * Lossless stays below, because it also keeps what readers need to follow references.
 */
import { listContents } from '../../src/core/messages/content';
import { listToolExchanges, type PlacedContent } from '../../src/core/messages/exchanges';
import { listFileParts, getFilePath, type FilePart } from '../../src/core/messages/fileParts';
import { isSameFile } from '../../src/core/messages/filePath';
import { makeMarker, type ReferenceId } from '../../src/core/messages/markers';
import { findTaskMessage } from '../../src/core/messages/task';
import { DEFAULT_TOOLS, isFileNameParameter, getToolRule } from '../../src/core/messages/tools';
import type { ApiMessage } from '../../src/core/messages/types';

/**
 * A line: its text without the prefix, the number of its file, and its full length in characters.
 */
interface ToolLine {
  readonly text: string;
  readonly file: number;
  readonly chars: number;
  /** Length of the prefix (path or line number) if it follows from the previous line, else 0. */
  readonly prefix: number;
}

/** Number of the file for lines that belong to none; their copies may be anywhere. */
const NO_FILE = 0;

export interface RepeatBound {
  /** Characters of all messages and tool texts. */
  readonly chars: number;
  /** Removable characters if a file's lines must stay in a text that shows the file. */
  readonly sameFile: number;
  /** Removable characters if lines may stay anywhere. */
  readonly anywhere: number;
}

export function repeatBound(messages: readonly ApiMessage[]): RepeatBound {
  const texts = listToolTexts(messages).map(({ lines }) => lines);
  const most = (isSameFile: boolean): number =>
    Math.max(countRemovable(texts, isSameFile), countRemovable(texts.toReversed(), isSameFile));
  const chars = messages.reduce((sum, message) => sum + countChars(message), 0);
  return { chars, sameFile: most(true), anywhere: most(false) };
}

/** The upper bound for new results: each result is compared with all earlier results and calls. */
export interface BoundByMessage {
  /**
   * For each message, the removable characters if an earlier text that shows the same file must
   * contain the lines.
   */
  readonly sameFile: ReadonlyMap<number, number>;
  /** For each message, the removable characters if any earlier text may contain the lines. */
  readonly anywhere: ReadonlyMap<number, number>;
}

export function boundByMessage(messages: readonly ApiMessage[]): BoundByMessage {
  const texts = listToolTexts(messages);
  const lines = texts.map((text) => text.lines);
  const messageByLines = new Map(texts.flatMap((text) => (text.isResult ? [[text.lines, text.message] as const] : [])));
  const most = (isSameFile: boolean): Map<number, number> => {
    const removedChars = new Map<number, number>();
    const addRemovedChars = (message: number, chars: number): unknown =>
      removedChars.set(message, (removedChars.get(message) ?? 0) + chars);
    const removedLines = new Set<ToolLine>();
    for (const tile of findTiles(lines, isSameFile)) {
      const message = messageByLines.get(tile.lines);
      if (message === undefined) continue;
      addRemovedChars(message, tile.gain);
      for (const line of tile.lines.slice(tile.first, tile.first + tile.count)) removedLines.add(line);
    }
    for (const [own, message] of messageByLines)
      for (const line of own) if (!removedLines.has(line)) addRemovedChars(message, line.prefix);
    return removedChars;
  };
  return { sameFile: most(true), anywhere: most(false) };
}

/** Counts the characters of a message's text, calls and results. */
export const countChars = (message: ApiMessage): number =>
  listContents(message).reduce((sum, { text }) => sum + text.length, 0);

interface ToolText {
  readonly lines: readonly ToolLine[];
  readonly message: number;
  readonly isResult: boolean;
}

/** Lists the tool texts from which Lossless may remove lines. */
function listToolTexts(messages: readonly ApiMessage[]): ToolText[] {
  const files = new FileNumbers();
  const task = findTaskMessage(messages);
  return listToolExchanges(messages)
    .flatMap((exchange) => {
      const kind = getToolRule(DEFAULT_TOOLS, exchange)?.kind;
      const isQuery = kind === 'read' || kind === 'list' || kind === 'search' || kind === 'plan';
      const ownPath = kind === 'command' ? undefined : getFilePath(DEFAULT_TOOLS, exchange);
      const contents = [
        ...(isQuery ? [] : exchange.parameters.filter((content) => !isFileNameParameter(content))),
        ...(exchange.isError ? [] : exchange.results),
      ];
      return contents
        .filter(({ message }) => message > task)
        .map((content) => ({
          lines: splitIntoToolLines(content, listFileParts(DEFAULT_TOOLS, exchange, content), ownPath, files),
          message: content.message,
          isResult: exchange.results.includes(content),
        }));
    })
    .filter(({ lines }) => lines.length > 0);
}

/** Numbers files; paths that may be the same file have the same number. */
class FileNumbers {
  private readonly known = new Map<string, number>();
  private readonly paths: string[] = [];

  of(path: string | undefined): number {
    if (path === undefined) return NO_FILE;
    const knownNumber = this.known.get(path);
    if (knownNumber !== undefined) return knownNumber;
    const sameFileIndex = this.paths.findIndex((other) => isSameFile(other, path));
    const fileNumber = sameFileIndex >= 0 ? sameFileIndex + 1 : this.paths.push(path);
    this.known.set(path, fileNumber);
    return fileNumber;
  }
}

const LINE_NUMBER_PATTERN = /^\s*(?:L|\[)?(\d{1,7})(?:→|\t|\s?\||:\s?|-|\]\s?)/;
const SEARCH_MATCH_PATTERN = /^([^\n:]{1,300}?)[:-](\d{1,7})[:-]/;

function splitIntoToolLines(
  content: PlacedContent,
  parts: readonly FilePart[],
  own: string | undefined,
  files: FileNumbers,
): ToolLine[] {
  const lineEnd = isJsonOfLines(content.text) ? '\\n' : '\n';
  const lines: ToolLine[] = [];
  let position = 0;
  let numberBefore: number | undefined;
  let pathBefore = '';
  for (const fullLine of content.text.split(lineEnd)) {
    const filePart = parts.find((one) => position >= one.start && position < one.end);
    const isDiff = filePart?.linePrefix === 'diff';
    const searchMatch = filePart?.linePrefix === 'search' ? SEARCH_MATCH_PATTERN.exec(fullLine) : null;
    const numberMatch = isDiff ? null : (LINE_NUMBER_PATTERN.exec(fullLine) ?? searchMatch);
    const prefixLength = isDiff ? 1 : ((searchMatch ?? numberMatch)?.[0].length ?? 0);
    const statedNumber = Number(numberMatch?.[1] ?? Number.NaN);
    const followsPrevious = numberMatch !== null && statedNumber - 1 === numberBefore && statedNumber % 50 !== 0;
    const samePath = searchMatch !== null && searchMatch[1] === pathBefore;
    lines.push({
      text: fullLine.slice(prefixLength),
      file: files.of(filePart?.path ?? (parts.length === 0 ? own : undefined)),
      chars: fullLine.length + lineEnd.length,
      prefix: samePath ? (searchMatch[1]?.length ?? 0) + 1 : followsPrevious ? prefixLength : 0,
    });
    numberBefore = Number.isNaN(statedNumber) ? undefined : statedNumber;
    pathBefore = searchMatch?.[1] ?? '';
    position += fullLine.length + lineEnd.length;
  }
  return lines;
}

function isJsonOfLines(text: string): boolean {
  if (!/^\s*[[{]/.test(text) || text.split('\\n').length <= text.split('\n').length) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/**
 * Minimum characters of a marker for a run of lines, and characters of a second place in the same
 * marker.
 */
const MARKER_CHARS = makeMarker('lines 10-19, shown later', 'a1b2c3' as ReferenceId).length;
const PLACE_CHARS = ' and later as 20-29'.length;
/** Minimum letters and digits of a line, below which a repetition means nothing. */
const MIN_TELLING_CHARS = 4;

interface PlaceOfLine {
  readonly lines: readonly ToolLine[];
  readonly at: number;
}

/** A run of lines contained in another text. */
export interface Tile {
  readonly lines: readonly ToolLine[];
  readonly first: number;
  readonly count: number;
  readonly gain: number;
  readonly keeper: PlaceOfLine;
}

/** Counts the removable characters if each text may refer to earlier ones. */
function countRemovable(texts: readonly (readonly ToolLine[])[], isSameFile: boolean): number {
  let removedChars = 0;
  const gone = new Set<ToolLine>();
  for (const { lines, first, count, gain } of findTiles(texts, isSameFile)) {
    removedChars += gain;
    for (const line of lines.slice(first, first + count)) gone.add(line);
  }
  for (const lines of texts) for (const line of lines) if (!gone.has(line)) removedChars += line.prefix;
  return removedChars;
}

/** Finds, greedily, the longest runs of each text that an earlier text contains. */
export function findTiles(texts: readonly (readonly ToolLine[])[], isSameFile: boolean): Tile[] {
  const placesByText = new Map<string, PlaceOfLine[]>();
  const tiles: Tile[] = [];
  for (const lines of texts) {
    let endOfLastTile = -1;
    for (let firstIndex = 0; firstIndex < lines.length;) {
      const keeperPlaces = isTelling(lines[firstIndex]) ? (placesByText.get(lines[firstIndex]?.text ?? '') ?? []) : [];
      let longest: { count: number; keeper: PlaceOfLine; start: number } | undefined;
      for (const keeper of keeperPlaces) {
        const { back, count } = measureCommonRun(lines, firstIndex, keeper, isSameFile, endOfLastTile + 1);
        if (count > (longest?.count ?? 0)) longest = { count, keeper, start: firstIndex - back };
      }
      if (!longest) {
        firstIndex++;
        continue;
      }
      const { start, count, keeper } = longest;
      const chars = lines.slice(start, start + count).reduce((sum, line) => sum + line.chars, 0);
      const gain = chars - (start === endOfLastTile + 1 && endOfLastTile >= 0 ? PLACE_CHARS : MARKER_CHARS);
      if (gain > 0) {
        tiles.push({ lines, first: start, count, gain, keeper });
        endOfLastTile = start + count - 1;
      }
      firstIndex = Math.max(firstIndex + 1, start + count);
    }
    lines.forEach((line, at) => {
      if (!isTelling(line)) return;
      const places = placesByText.get(line.text) ?? [];
      if (places.length < MAX_PLACES) places.push({ lines, at });
      placesByText.set(line.text, places);
    });
  }
  return tiles;
}

/** Maximum number of places that are remembered for a line. */
const MAX_PLACES = 200;

const isTelling = (line: ToolLine | undefined): boolean =>
  line !== undefined && (line.text.match(/[\p{L}\p{N}]/gu)?.length ?? 0) >= MIN_TELLING_CHARS;

function measureCommonRun(
  lines: readonly ToolLine[],
  first: number,
  { lines: other, at }: PlaceOfLine,
  isSameFile: boolean,
  from: number,
): { back: number; count: number } {
  const isSame = (offset: number): boolean => {
    const ownLine = lines[first + offset];
    const otherLine = other[at + offset];
    return (
      ownLine !== undefined &&
      otherLine !== undefined &&
      ownLine.text === otherLine.text &&
      (!isSameFile || ownLine.file === NO_FILE || ownLine.file === otherLine.file)
    );
  };
  let end = 0;
  while (isSame(end)) end++;
  let extraBefore = 0;
  while (end > 0 && first - extraBefore > from && isSame(-extraBefore - 1)) extraBefore++;
  return { back: extraBefore, count: end + extraBefore };
}
