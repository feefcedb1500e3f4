import { keptList } from '../../keptList';
import type { PlacedContent } from '../../messages/exchanges';
import type { FilePart } from '../../messages/fileParts';
import type { Slice } from '../../slice';
import { declarationsIn } from '../outline/declarations';
import { isMarkdown, readLines, type FileLine } from '../outline/fileLines';

/** A stretch of a text's lines that belong together, such as a function; blank lines around it are no part of it. */
export interface TextBlock extends Slice {
  /** Its place among the content's blocks: between neighbours there is nothing but blank lines. */
  readonly index: number;
  readonly text: string;
  /** How many lines it has. */
  readonly count: number;
  /** The lines of it that declare something. */
  readonly head: string;
  /** The same lines with their places. */
  readonly declared: readonly FileLine[];
  /** About how many tokens it has. */
  readonly tokens: number;
  /** The part of a file that it lies in. */
  readonly part: FilePart | undefined;
  /** The numbers of its first and last line, where the text numbers all of them. */
  readonly numbers: readonly [number, number] | undefined;
}

/** A block with its lines, which are looked at once. */
export interface ReadBlock {
  readonly block: TextBlock;
  /** Without what tools put in front of them, and without blanks around. */
  readonly lines: readonly string[];
}

/**
 * A block ends before a declaration once it has the one, at a blank line once it has the other, at twice that anywhere.
 */
const SHORT_BLOCK = 6;
const LONG_BLOCK = 16;

export interface BlockOptions {
  /** o200k tokens of the content. */
  readonly tokens: number;
  /** The file that the content is of. */
  readonly path: string | undefined;
  /** The files that it shows, in its order. */
  readonly parts: readonly FilePart[];
  /** Offset in the text from which on it may go. */
  readonly from: number;
}

/** Splits a text into blocks. Takes time in proportion to the text. */
export function textBlocks({ text }: PlacedContent, { tokens, path, parts, from }: BlockOptions): ReadBlock[] {
  const lines = readLines(text);
  const declares = declarationsIn(lines, isMarkdown(path));
  const partOf = partFinder(parts);
  const blocks: ReadBlock[] = [];
  const add = (own: readonly FileLine[], first: number): void => {
    const [top, bottom] = [own[0], own.at(-1)];
    const start = Math.max(from, top?.start ?? 0);
    const end = bottom?.end ?? 0;
    if (!top || !bottom || start >= end) return;
    const part = partOf(top.start);
    const declared = keptList(own.filter((_, at) => declares[first + at]));
    const block = {
      index: blocks.length,
      start,
      end,
      text: text.slice(start, end),
      count: own.length,
      head: declared.map((line) => line.text).join('\n'),
      declared,
      tokens: (tokens * (end - start)) / Math.max(1, text.length),
      part,
      numbers: numbersOf(top, bottom, own.length),
    };
    blocks.push({ block, lines: own.map((line) => plainLine(line.text, part?.head)) });
  };
  let first = 0;
  const endBefore = (end: number): void => {
    let last = end - 1;
    while (first <= last && isBlank(lines[first])) first++;
    while (last >= first && isBlank(lines[last])) last--;
    add(lines.slice(first, last + 1), first);
    first = end;
  };
  let part = partOf(0);
  for (const [index, line] of lines.entries()) {
    const length = index - first;
    const isLong = length >= LONG_BLOCK && (isBlank(line) || length >= 2 * LONG_BLOCK);
    const own = partOf(line.start);
    if (isLong || own !== part || (declares[index] && length >= SHORT_BLOCK)) endBefore(index);
    part = own;
  }
  endBefore(lines.length);
  return blocks;
}

/** Gives the part that a line lies in; lines are asked for in their order, but for those of one block. */
function partFinder(parts: readonly FilePart[]): (offset: number) => FilePart | undefined {
  let at = 0;
  return (offset) => {
    while (at > 0 && (parts[at - 1]?.end ?? 0) > offset) at--;
    while (at < parts.length && (parts[at]?.end ?? 0) <= offset) at++;
    const part = parts[at];
    return part && part.start <= offset ? part : undefined;
  };
}

/** The prefix that a search puts in front of a line. */
const PLACE = /^(?:[^\s:]+[:-])?\d+[:-]/;

function plainLine(line: string, head: FilePart['head']): string {
  if (head === 'diff') return line.slice(1).trim();
  return (head === 'search' ? line.replace(PLACE, '') : line).trim();
}

const isBlank = (line: FileLine | undefined): boolean => line?.text.trim() === '';

const numbersOf = (top: FileLine, bottom: FileLine, lines: number): TextBlock['numbers'] =>
  top.number !== undefined && bottom.number === top.number + lines - 1 ? [top.number, bottom.number] : undefined;
