import { formatPlural } from '../core/plural';
import { ConversationReadError } from './readError';
import type { ConversationNote, OmissionNote } from './types';

export function getNoteText(note: ConversationNote): string {
  if (typeof note === 'string') return note;
  return 'damage' in note ? note.damage : note.omission;
}

export const listDamage = (notes: readonly ConversationNote[]): string[] =>
  notes.flatMap((note) => (typeof note === 'object' && 'damage' in note ? [note.damage] : []));

/** Returns the notes on messages that the agent itself compacted away. */
export const listOmissions = (notes: readonly ConversationNote[]): string[] =>
  notes.flatMap((note) => (typeof note === 'object' && 'omission' in note ? [note.omission] : []));

/** Returns for example "3 progress, 1 summary", most frequent first. */
export function formatCountsByKind(kinds: ReadonlyMap<string, number>): string {
  return [...kinds]
    .sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1))
    .map(([kind, count]) => `${count} ${kind}`)
    .join(', ');
}

/** @param place for example "before the last compaction" */
export const describeOmittedMessages = (count: number, place: string): OmissionNote => ({
  omission: `Left out, ${place}: ${formatPlural(count, 'message')} (“Part to condense: Everything” or --history all has them).`,
});

const MAX_LINE_CHARS = 120;

/** @param sourceName a phrase that says where all notes are listed */
export function formatNoteLine([firstNote, ...otherNotes]: readonly string[], sourceName: string): string | undefined {
  if (firstNote === undefined) return undefined;
  if (otherNotes.length === 0 && firstNote.length <= MAX_LINE_CHARS) return firstNote;
  const listStart = firstNote.indexOf(': ');
  const shortNote =
    firstNote.length <= MAX_LINE_CHARS || listStart === -1 ? firstNote : `${firstNote.slice(0, listStart)}.`;
  return `${shortNote} (${otherNotes.length === 0 ? 'More' : formatPlural(otherNotes.length, 'more note')}: ${sourceName})`;
}

export function describeSkippedRecords(
  skippedByKind: ReadonlyMap<string, number>,
  notSent: { readonly has: (kind: string) => boolean },
): readonly string[] {
  const notSentByKind = new Map([...skippedByKind].filter(([kind]) => notSent.has(kind)));
  const unknownByKind = new Map([...skippedByKind].filter(([kind]) => !notSent.has(kind)));
  return [
    ...describeUnknownKinds(unknownByKind),
    ...(notSentByKind.size > 0
      ? [`Left out because it is not sent to the model: ${formatCountsByKind(notSentByKind)}.`]
      : []),
  ];
}

export const describeUnknownKinds = (kinds: ReadonlyMap<string, number>): readonly string[] =>
  kinds.size === 0
    ? []
    : [
        `Left out, though it may be sent to the model (kinds that this version of Context Condenser does not know): ${formatCountsByKind(kinds)}.`,
      ];

/**
 * @param kinds what the file contains instead, with counts
 * @param notes problems of skipped lines
 */
export const createNoMessagesError = (
  source: string,
  expected: string,
  kinds: ReadonlyMap<string, number>,
  notes: readonly ConversationNote[] = [],
): ConversationReadError =>
  new ConversationReadError({
    problem: 'wrong-shape',
    source,
    found: kinds.size === 0 ? 'no messages' : `no messages, only ${formatCountsByKind(kinds)}`,
    expected,
    ...(notes.length > 0 && { advice: notes.map(getNoteText).join(' ') }),
  });
