import type { PlacedContent } from '../../messages/exchanges';
import type { Slice } from '../../slice';
import { declarationsIn } from '../outline/declarations';
import { isMarkdown, readLines, type FileLine } from '../outline/fileLines';

/** A stretch of a text's lines that belong together, such as a function; blank lines around it are no part of it. */
export interface TextBlock extends Slice {
  /** Its place among the content's blocks: between neighbours there is nothing but blank lines. */
  readonly index: number;
  readonly text: string;
  /** The lines of it that declare something. */
  readonly head: string;
  /** About how many tokens it has. */
  readonly tokens: number;
  /** Share of its lines that edits of the file quoted or put in, 0 to 1. */
  readonly quoted: number;
  /** The numbers of its first and last line, where the text numbers all of them. */
  readonly numbers: readonly [number, number] | undefined;
}

/**
 * A block ends before a declaration once it has the one, at a blank line once it has the other, at twice that anywhere.
 */
const SHORT_BLOCK = 8;
const LONG_BLOCK = 40;

export interface BlockOptions {
  /** o200k tokens of the content. */
  readonly tokens: number;
  /** The file that the content is of. */
  readonly path: string | undefined;
  /** Tells of a line without the blanks around it whether an edit of the file quoted it. */
  readonly isQuoted: (line: string) => boolean;
  /** Offset in the text from which on it may go. */
  readonly from: number;
}

/** Splits a text into blocks. Takes time in proportion to the text. */
export function textBlocks({ text }: PlacedContent, { tokens, path, isQuoted, from }: BlockOptions): TextBlock[] {
  const lines = readLines(text);
  const declares = declarationsIn(lines, isMarkdown(path));
  const blocks: TextBlock[] = [];
  const add = (own: readonly FileLine[], first: number): void => {
    const [top, bottom] = [own[0], own.at(-1)];
    const start = Math.max(from, top?.start ?? 0);
    const end = bottom?.end ?? 0;
    if (!top || !bottom || start >= end) return;
    blocks.push({
      index: blocks.length,
      start,
      end,
      text: text.slice(start, end),
      head: own
        .filter((_, at) => declares[first + at])
        .map((line) => line.text)
        .join('\n'),
      tokens: (tokens * (end - start)) / Math.max(1, text.length),
      quoted: own.filter((line) => isQuoted(line.text.trim())).length / own.length,
      numbers: numbersOf(top, bottom, own.length),
    });
  };
  let first = 0;
  const endBefore = (end: number): void => {
    let last = end - 1;
    while (first <= last && isBlank(lines[first])) first++;
    while (last >= first && isBlank(lines[last])) last--;
    add(lines.slice(first, last + 1), first);
    first = end;
  };
  for (const [index, line] of lines.entries()) {
    const length = index - first;
    const isLong = length >= LONG_BLOCK && (isBlank(line) || length >= 2 * LONG_BLOCK);
    if (isLong || (declares[index] && length >= SHORT_BLOCK)) endBefore(index);
  }
  endBefore(lines.length);
  return blocks;
}

const isBlank = (line: FileLine | undefined): boolean => line?.text.trim() === '';

const numbersOf = (top: FileLine, bottom: FileLine, lines: number): TextBlock['numbers'] =>
  top.number !== undefined && bottom.number === top.number + lines - 1 ? [top.number, bottom.number] : undefined;
