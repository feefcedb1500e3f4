import type { Slice } from './slice';

export function countLines(text: string): number {
  let count = 1;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) count++;
  return count;
}

export const countLinesIn = (text: string, { start, end }: Slice): number => countLines(text.slice(start, end));
