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

/** A line without its prefix, its file, and its full length in characters. */
interface Line {
  readonly text: string;
  readonly file: number;
  readonly chars: number;
  /** Number of prefix characters that follow from the previous line. */
  readonly prefix: number;
}

/** Number for lines of no file, whose copies may be anywhere. */
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
    Math.max(removable(texts, isSameFile), removable(texts.toReversed(), isSameFile));
  const chars = messages.reduce((sum, message) => sum + countChars(message), 0);
  return { chars, sameFile: most(true), anywhere: most(false) };
}

/** The bound for new results: each result is compared with everything above it, including calls. */
export interface BoundByMessage {
  /**
   * For each message, the removable characters if a file's lines must be above in a text that shows
   * the file.
   */
  readonly sameFile: ReadonlyMap<number, number>;
  /** For each message, the removable characters if lines may be above in any text. */
  readonly anywhere: ReadonlyMap<number, number>;
}

export function boundByMessage(messages: readonly ApiMessage[]): BoundByMessage {
  const texts = listToolTexts(messages);
  const lines = texts.map((text) => text.lines);
  const messageByLines = new Map(texts.flatMap((text) => (text.isResult ? [[text.lines, text.message] as const] : [])));
  const most = (isSameFile: boolean): Map<number, number> => {
    const removed = new Map<number, number>();
    const add = (message: number, chars: number): unknown => removed.set(message, (removed.get(message) ?? 0) + chars);
    const gone = new Set<Line>();
    for (const tile of findTiles(lines, isSameFile)) {
      const message = messageByLines.get(tile.lines);
      if (message === undefined) continue;
      add(message, tile.gain);
      for (const line of tile.lines.slice(tile.first, tile.first + tile.count)) gone.add(line);
    }
    for (const [own, message] of messageByLines) for (const line of own) if (!gone.has(line)) add(message, line.prefix);
    return removed;
  };
  return { sameFile: most(true), anywhere: most(false) };
}

/** Counts the characters of a message's text, calls and results. */
export const countChars = (message: ApiMessage): number =>
  listContents(message).reduce((sum, { text }) => sum + text.length, 0);

interface ToolText {
  readonly lines: readonly Line[];
  readonly message: number;
  readonly isResult: boolean;
}

/** Lists the tool texts from which Lossless may remove lines. */
function listToolTexts(messages: readonly ApiMessage[]): ToolText[] {
  const files = new Files();
  const task = findTaskMessage(messages);
  return listToolExchanges(messages)
    .flatMap((exchange) => {
      const kind = getToolRule(DEFAULT_TOOLS, exchange)?.kind;
      const asks = kind === 'read' || kind === 'list' || kind === 'search' || kind === 'plan';
      const own = kind === 'command' ? undefined : getFilePath(DEFAULT_TOOLS, exchange);
      const contents = [
        ...(asks ? [] : exchange.parameters.filter((content) => !isFileNameParameter(content))),
        ...(exchange.isError ? [] : exchange.results),
      ];
      return contents
        .filter(({ message }) => message > task)
        .map((content) => ({
          lines: toLines(content, listFileParts(DEFAULT_TOOLS, exchange, content), own, files),
          message: content.message,
          isResult: exchange.results.includes(content),
        }));
    })
    .filter(({ lines }) => lines.length > 0);
}

/** Numbers files; paths that may be the same file have the same number. */
class Files {
  private readonly known = new Map<string, number>();
  private readonly paths: string[] = [];

  of(path: string | undefined): number {
    if (path === undefined) return NO_FILE;
    const known = this.known.get(path);
    if (known !== undefined) return known;
    const same = this.paths.findIndex((other) => isSameFile(other, path));
    const file = same >= 0 ? same + 1 : this.paths.push(path);
    this.known.set(path, file);
    return file;
  }
}

const NUMBER = /^\s*(?:L|\[)?(\d{1,7})(?:→|\t|\s?\||:\s?|-|\]\s?)/;
const MATCH = /^([^\n:]{1,300}?)[:-](\d{1,7})[:-]/;

function toLines(content: PlacedContent, parts: readonly FilePart[], own: string | undefined, files: Files): Line[] {
  const end = isJsonOfLines(content.text) ? '\\n' : '\n';
  const lines: Line[] = [];
  let at = 0;
  let numberBefore: number | undefined;
  let pathBefore = '';
  for (const whole of content.text.split(end)) {
    const part = parts.find((one) => at >= one.start && at < one.end);
    const isDiff = part?.linePrefix === 'diff';
    const match = part?.linePrefix === 'search' ? MATCH.exec(whole) : null;
    const number = isDiff ? null : (NUMBER.exec(whole) ?? match);
    const front = isDiff ? 1 : ((match ?? number)?.[0].length ?? 0);
    const stated = Number(number?.[1] ?? Number.NaN);
    const follows = number !== null && stated - 1 === numberBefore && stated % 50 !== 0;
    const samePath = match !== null && match[1] === pathBefore;
    lines.push({
      text: whole.slice(front),
      file: files.of(part?.path ?? (parts.length === 0 ? own : undefined)),
      chars: whole.length + end.length,
      prefix: samePath ? (match[1]?.length ?? 0) + 1 : follows ? front : 0,
    });
    numberBefore = Number.isNaN(stated) ? undefined : stated;
    pathBefore = match?.[1] ?? '';
    at += whole.length + end.length;
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

/** Characters that a run of lines costs at least, and a second place in the same marker. */
const MARKER_CHARS = makeMarker('lines 10-19, shown later', 'a1b2c3' as ReferenceId).length;
const PLACE_CHARS = ' and later as 20-29'.length;
/** Minimum letters and digits of a line, below which a repetition means nothing. */
const TELLING = 4;

interface PlaceOfLine {
  readonly lines: readonly Line[];
  readonly at: number;
}

/** A run of lines contained in another text. */
export interface Tile {
  readonly lines: readonly Line[];
  readonly first: number;
  readonly count: number;
  readonly gain: number;
  readonly keeper: PlaceOfLine;
}

/** Counts the removable characters if each text may refer to earlier ones. */
function removable(texts: readonly (readonly Line[])[], isSameFile: boolean): number {
  let removed = 0;
  const gone = new Set<Line>();
  for (const { lines, first, count, gain } of findTiles(texts, isSameFile)) {
    removed += gain;
    for (const line of lines.slice(first, first + count)) gone.add(line);
  }
  for (const lines of texts) for (const line of lines) if (!gone.has(line)) removed += line.prefix;
  return removed;
}

/** Finds, greedily, the longest runs of each text that an earlier text contains. */
export function findTiles(texts: readonly (readonly Line[])[], isSameFile: boolean): Tile[] {
  const standing = new Map<string, PlaceOfLine[]>();
  const tiles: Tile[] = [];
  for (const lines of texts) {
    let endOfLast = -1;
    for (let first = 0; first < lines.length;) {
      const keepers = isTelling(lines[first]) ? (standing.get(lines[first]?.text ?? '') ?? []) : [];
      let best: { count: number; keeper: PlaceOfLine; start: number } | undefined;
      for (const keeper of keepers) {
        const { back, count } = extent(lines, first, keeper, isSameFile, endOfLast + 1);
        if (count > (best?.count ?? 0)) best = { count, keeper, start: first - back };
      }
      if (!best) {
        first++;
        continue;
      }
      const { start, count, keeper } = best;
      const chars = lines.slice(start, start + count).reduce((sum, line) => sum + line.chars, 0);
      const gain = chars - (start === endOfLast + 1 && endOfLast >= 0 ? PLACE_CHARS : MARKER_CHARS);
      if (gain > 0) {
        tiles.push({ lines, first: start, count, gain, keeper });
        endOfLast = start + count - 1;
      }
      first = Math.max(first + 1, start + count);
    }
    lines.forEach((line, at) => {
      if (!isTelling(line)) return;
      const places = standing.get(line.text) ?? [];
      if (places.length < MAX_PLACES) places.push({ lines, at });
      standing.set(line.text, places);
    });
  }
  return tiles;
}

/** Maximum number of places that are remembered for a line. */
const MAX_PLACES = 200;

const isTelling = (line: Line | undefined): boolean =>
  line !== undefined && (line.text.match(/[\p{L}\p{N}]/gu)?.length ?? 0) >= TELLING;

function extent(
  lines: readonly Line[],
  first: number,
  { lines: other, at }: PlaceOfLine,
  isSameFile: boolean,
  from: number,
): { back: number; count: number } {
  const isSame = (offset: number): boolean => {
    const a = lines[first + offset];
    const b = other[at + offset];
    return (
      a !== undefined &&
      b !== undefined &&
      a.text === b.text &&
      (!isSameFile || a.file === NO_FILE || a.file === b.file)
    );
  };
  let end = 0;
  while (isSame(end)) end++;
  let back = 0;
  while (end > 0 && first - back > from && isSame(-back - 1)) back++;
  return { back, count: end + back };
}
