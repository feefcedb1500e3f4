/** Words for the notes of a conversation. */
import { plural } from '../core/plural';
import { ConversationReadError } from './readError';

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

/** A note as long as this is shown whole where there is room for one line. */
const ONE_LINE = 120;

/**
 * The notes of a reading as one line for people: the first, which is the most important one, and how many there are beside it. A long
 * list of kinds is left to where all are shown.
 * @param where in words, where all of them are listed
 * @returns nothing where there is no note
 */
export function noteLine([first, ...others]: readonly string[], where: string): string | undefined {
  if (first === undefined) return undefined;
  if (others.length === 0 && first.length <= ONE_LINE) return first;
  const list = first.indexOf(': ');
  const words = first.length <= ONE_LINE || list === -1 ? first : `${first.slice(0, list)}.`;
  return `${words} (${others.length === 0 ? 'More' : plural(others.length, 'more note')}: ${where})`;
}

/**
 * Of records that a reader passed over: those that a table says are not sent, and those that no table has.
 * @param notSent the table
 */
export function passedOverNotes(
  passedOver: ReadonlyMap<string, number>,
  notSent: { readonly has: (kind: string) => boolean },
): readonly string[] {
  const silent = new Map([...passedOver].filter(([kind]) => notSent.has(kind)));
  const unknown = new Map([...passedOver].filter(([kind]) => !notSent.has(kind)));
  return [
    ...unknownNote(unknown),
    ...(silent.size > 0 ? [`Left out because it is not sent to the model: ${countedKinds(silent)}.`] : []),
  ];
}

/** Kinds of records that are in no table: nothing is said of them but that. */
export const unknownNote = (kinds: ReadonlyMap<string, number>): readonly string[] =>
  kinds.size === 0
    ? []
    : [
        `Left out, though it may be sent to the model (kinds that this version of Context Condenser does not know): ${countedKinds(kinds)}.`,
      ];

/**
 * The error for a file in which no message could be found.
 * @param kinds what it contains instead, and how often
 * @param notes what was odd about its lines: they may be the ones with the messages
 */
export const noMessagesError = (
  source: string,
  expected: string,
  kinds: ReadonlyMap<string, number>,
  notes: readonly string[] = [],
): ConversationReadError =>
  new ConversationReadError({
    problem: 'wrong-shape',
    source,
    found: kinds.size === 0 ? 'no messages' : `no messages, only ${countedKinds(kinds)}`,
    expected,
    ...(notes.length > 0 && { advice: notes.join(' ') }),
  });
