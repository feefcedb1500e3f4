/** Words for the notes of a conversation. */
import { plural } from '../core/plural';

/** `3 progress, 1 summary`, the most frequent first. */
export function countedKinds(kinds: ReadonlyMap<string, number>): string {
  return [...kinds]
    .sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1))
    .map(([kind, count]) => `${count} ${kind}`)
    .join(', ');
}

/** @param where in words, such as "in abandoned branches" */
export const leftOutNote = (count: number, where: string): string =>
  `Left out, ${where}: ${plural(count, 'message')} (read them with history "all").`;
