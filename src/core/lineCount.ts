import type { Slice } from './slice';

/** The lines of a text. */
export function lineCount(text: string): number {
  let count = 1;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) count++;
  return count;
}

/** The lines of a slice of a text, whole and broken ones. */
export const countLinesIn = (text: string, { start, end }: Slice): number => lineCount(text.slice(start, end));
