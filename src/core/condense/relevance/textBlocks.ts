import { copyWithoutSpareCapacity } from '../../keptList';
import type { PlacedContent } from '../../messages/exchanges';
import type { FilePart } from '../../messages/fileParts';
import type { Slice } from '../../slice';
import { findDeclarations } from '../outline/declarations';
import { isMarkdown, splitReadIntoLines, type OutlinedFileLine } from '../outline/fileLines';

/** Consecutive lines that belong together, such as a function, without surrounding blank lines. */
export interface TextBlock extends Slice {
  /** Only blank lines separate blocks with consecutive indexes. */
  readonly index: number;
  readonly text: string;
  readonly count: number;
  /** The lines of the block that declare something. */
  readonly head: string;
  readonly declared: readonly OutlinedFileLine[];
  /** Approximate number of tokens. */
  readonly tokens: number;
  readonly part: FilePart | undefined;
  /** First and last line number, if the text numbers all lines. */
  readonly numbers: readonly [number, number] | undefined;
}

export interface BlockWithLines {
  readonly block: TextBlock;
  /** Trimmed and without prefixes. */
  readonly lines: readonly string[];
}

/**
 * After `MIN_BLOCK_LINES`, a block ends before a declaration; after `MAX_BLOCK_LINES`, at a blank
 * line; after twice `MAX_BLOCK_LINES`, anywhere.
 */
const MIN_BLOCK_LINES = 6;
const MAX_BLOCK_LINES = 16;

export interface BlockOptions {
  /** In o200k tokens. */
  readonly tokens: number;
  readonly path: string | undefined;
  readonly parts: readonly FilePart[];
  /** Text before this offset must stay. */
  readonly from: number;
}

export function splitIntoBlocks(
  { text }: PlacedContent,
  { tokens, path, parts, from: blockStart }: BlockOptions,
): BlockWithLines[] {
  const lines = splitReadIntoLines(text);
  const isDeclarationByLine = findDeclarations(lines, isMarkdown(path));
  const findPart = createFilePartFinder(parts);
  const blocks: BlockWithLines[] = [];
  const addBlock = (blockLines: readonly OutlinedFileLine[], firstLine: number): void => {
    const [top, bottom] = [blockLines[0], blockLines.at(-1)];
    const start = Math.max(blockStart, top?.start ?? 0);
    const end = bottom?.end ?? 0;
    if (!top || !bottom || start >= end) return;
    const part = findPart(top.start);
    const declaredLines = copyWithoutSpareCapacity(blockLines.filter((_, at) => isDeclarationByLine[firstLine + at]));
    const block = {
      index: blocks.length,
      start,
      end,
      text: text.slice(start, end),
      count: blockLines.length,
      head: declaredLines.map((line) => line.text).join('\n'),
      declared: declaredLines,
      tokens: (tokens * (end - start)) / Math.max(1, text.length),
      part,
      numbers: getLineNumberRange(top, bottom, blockLines.length),
    };
    blocks.push({ block, lines: blockLines.map((line) => stripLinePrefix(line.text, part?.linePrefix)) });
  };
  let firstLine = 0;
  const closeBlock = (end: number): void => {
    let lastLine = end - 1;
    while (firstLine <= lastLine && isBlankLine(lines[firstLine])) firstLine++;
    while (lastLine >= firstLine && isBlankLine(lines[lastLine])) lastLine--;
    addBlock(lines.slice(firstLine, lastLine + 1), firstLine);
    firstLine = end;
  };
  let currentPart = findPart(0);
  for (const [index, line] of lines.entries()) {
    const lineCount = index - firstLine;
    const isLong = lineCount >= MAX_BLOCK_LINES && (isBlankLine(line) || lineCount >= 2 * MAX_BLOCK_LINES);
    const linePart = findPart(line.start);
    if (isLong || linePart !== currentPart || (isDeclarationByLine[index] && lineCount >= MIN_BLOCK_LINES))
      closeBlock(index);
    currentPart = linePart;
  }
  closeBlock(lines.length);
  return blocks;
}

/** Takes linear time if lines are requested in order. */
function createFilePartFinder(parts: readonly FilePart[]): (offset: number) => FilePart | undefined {
  let partIndex = 0;
  return (offset) => {
    while (partIndex > 0 && (parts[partIndex - 1]?.end ?? 0) > offset) partIndex--;
    while (partIndex < parts.length && (parts[partIndex]?.end ?? 0) <= offset) partIndex++;
    const part = parts[partIndex];
    return part && part.start <= offset ? part : undefined;
  };
}

const SEARCH_PLACE_PREFIX = /^(?:[^\s:]+[:-])?\d+[:-]/;

function stripLinePrefix(line: string, head: FilePart['linePrefix']): string {
  if (head === 'diff') return line.slice(1).trim();
  return (head === 'search' ? line.replace(SEARCH_PLACE_PREFIX, '') : line).trim();
}

const isBlankLine = (line: OutlinedFileLine | undefined): boolean => line?.text.trim() === '';

const getLineNumberRange = (top: OutlinedFileLine, bottom: OutlinedFileLine, lines: number): TextBlock['numbers'] =>
  top.number !== undefined && bottom.number === top.number + lines - 1 ? [top.number, bottom.number] : undefined;
