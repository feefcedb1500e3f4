import type { Slice } from './slice';

export function countLines(text: string): number {
  let count = 1;
  for (let newlineIndex = text.indexOf('\n'); newlineIndex >= 0; newlineIndex = text.indexOf('\n', newlineIndex + 1))
    count++;
  return count;
}

export const countLinesIn = (text: string, { start, end }: Slice): number => countLines(text.slice(start, end));
