import { applyEdits } from '../core/condense/edits/applyEdits';
import {
  matchesOriginal,
  selectLastEditPerPlace,
  renderCuts,
  changesAnyMessage,
  type CutEdit,
  type Edit,
  type SummaryEdit,
} from '../core/condense/edits/edits';
import { createUneditedView, type View } from '../core/condense/edits/view';
import {
  getActiveEdits,
  getExcludedEdits,
  type Condensation,
  type Ledger,
  type LedgerEntry,
  type MessageWithKey,
} from '../core/condense/ledger/ledger';
import { hashText } from '../core/hash';
import { findNewViolations } from '../core/messages/firewall';
import { getCallsPartOfKey, makeMessageKey, type MessageKey } from '../core/messages/messageKey';
import { getValueAt, replaceValueAt } from '../core/messages/path';
import type { ApiMessage } from '../core/messages/types';
import { alignConversations, type ConversationAlignment } from './align';

export interface ViewFromLedger extends View {
  /**
   * False if the conversation diverged after a condensation. Some copies of a text to which
   * references point may then be gone.
   */
  readonly isExact: boolean;
}

/**
 * An edited, branched or rewound conversation keeps the edits of remaining messages, and returning
 * to an earlier state restores them all.
 */
export function computeViewFromLedger(ledger: Ledger, messages: readonly ApiMessage[]): ViewFromLedger {
  if (ledger.condensations.length === 0) return { ...createUneditedView(messages), isExact: true };
  const keys = getMessageKeys(messages);
  let isExact = true;
  const edits = getActiveEdits(ledger, (condensationEdits, { messages: oldKeys, newResults }) => {
    if (newResults) {
      // A reference in a new result points to an earlier copy of the text, which may be gone: the
      // ledger doesn't record its place.
      isExact = false;
      return realignNewResults(condensationEdits, newResults, keys, messages);
    }
    if (!oldKeys) return condensationEdits;
    const alignment = alignConversations(oldKeys, keys);
    isExact &&= alignment.isExact;
    return alignment.isExact
      ? condensationEdits
      : condensationEdits.flatMap((edit) => realignEdit(edit, alignment, messages));
  });
  const editedView = applyEdits(messages, edits);
  const isValid = findNewViolations(messages, editedView.messages, { origins: editedView.origins }).length === 0;
  return isValid ? { ...editedView, isExact } : { ...createUneditedView(messages), isExact: false };
}

/**
 * Messages of several branches may have had the same position, so an edit belongs to the message
 * with its text.
 */
function realignNewResults(
  edits: readonly Edit[],
  newResults: readonly MessageWithKey[],
  keys: readonly MessageKey[],
  messages: readonly ApiMessage[],
): Edit[] {
  const newIndexesByOld = new Map<number, Set<number>>();
  let indexByKey: Map<string, number> | undefined;
  const findIndexOfKey = (key: MessageKey): number | undefined => {
    indexByKey ??= new Map(
      keys.flatMap((other, index) => [other, getCallsPartOfKey(other) ?? other].map((name) => [name, index] as const)),
    );
    return indexByKey.get(getCallsPartOfKey(key) ?? key);
  };
  for (const { message, key } of newResults) {
    const newIndex = keys[message] === key ? message : findIndexOfKey(key);
    if (newIndex !== undefined) newIndexesByOld.set(message, (newIndexesByOld.get(message) ?? new Set()).add(newIndex));
  }
  return edits.flatMap((edit) =>
    edit.kind === 'summary'
      ? []
      : [...(newIndexesByOld.get(edit.place.message) ?? [])]
          .map((message) => (message === edit.place.message ? edit : { ...edit, place: { ...edit.place, message } }))
          .filter((one) => matchesOriginal(messages, one)),
  );
}

export function getMessageKeys(messages: readonly ApiMessage[]): MessageKey[] {
  const keys: MessageKey[] = [];
  for (const message of messages) {
    keys.push(makeMessageKey(message));
  }
  return keys;
}

/** The cuts must be in messages that no summary covers. */
export function addCutsToView({ original, messages, origins, edits }: View, added: readonly CutEdit[]): View {
  const changedMessages = [...messages];
  for (const { place, cuts } of added) {
    const viewIndex = origins.lastIndexOf(place.message);
    const text = getValueAt(original[place.message], place.path);
    const message = changedMessages[viewIndex];
    if (message && typeof text === 'string')
      changedMessages[viewIndex] = replaceValueAt(message, place.path, renderCuts(text, cuts));
  }
  return { original, messages: changedMessages, origins, edits: selectLastEditPerPlace([...edits, ...added]) };
}

export const hasRemainingEdits = (condensation: Condensation, messages: readonly ApiMessage[]): boolean => {
  if (!condensation.messages && !condensation.newResults) return true;
  return realignCondensation(condensation, messages.map(makeMessageKey), messages).length > 0;
};

/**
 * Excludes all edits of a message, also those hidden by later edits, and those of undone
 * condensations, which would otherwise take effect instead.
 */
export function excludeEditsOfMessage(
  message: number,
  { condensations }: Ledger,
  messages: readonly ApiMessage[],
): LedgerEntry[] {
  const keys = messages.map(makeMessageKey);
  return condensations.flatMap((condensation) =>
    realignCondensation(condensation, keys, messages)
      .filter((edit) => edit.kind !== 'summary' && edit.place.message === message)
      .map(({ id }): LedgerEntry => ({ type: 'excluded', condensation: condensation.id, edit: id })),
  );
}

/**
 * Lists the edits that the user excluded, except those of pinned messages, which must be unpinned
 * first.
 */
export function listExcludedEdits(
  ledger: Ledger,
  messages: readonly ApiMessage[],
  shownEdits: readonly Edit[],
  pinnedMessages: ReadonlySet<number>,
): Edit[] {
  if (ledger.excluded.size === 0) return [];
  const keys = messages.map(makeMessageKey);
  const edits = getExcludedEdits(ledger, (_, condensation) => realignCondensation(condensation, keys, messages));
  // An edit that was undone and made again has the same ID in both condensations.
  const shownEditIds = new Set(shownEdits.map(({ id }) => id));
  return edits.filter(
    (edit) => !shownEditIds.has(edit.id) && !changesAnyMessage(edit, pinnedMessages) && matchesOriginal(messages, edit),
  );
}

function realignCondensation(
  { messages: oldKeys, newResults, edits }: Condensation,
  keys: readonly MessageKey[],
  messages: readonly ApiMessage[],
): readonly Edit[] {
  if (newResults) return realignNewResults(edits, newResults, keys, messages);
  if (!oldKeys) return edits;
  const alignment = alignConversations(oldKeys, keys);
  return alignment.isExact ? edits : edits.flatMap((edit) => realignEdit(edit, alignment, messages));
}

function realignEdit(edit: Edit, { places }: ConversationAlignment, messages: readonly ApiMessage[]): Edit[] {
  if (edit.kind === 'summary') return realignSummary(edit, places, messages);
  const message = places[edit.place.message];
  if (message === undefined) return [];
  return [message === edit.place.message ? edit : { ...edit, place: { ...edit.place, message } }];
}

/**
 * Keeps a summary if its first and last message still exist and nothing new is between them.
 * Messages in between may differ slightly or be gone.
 */
function realignSummary(
  edit: SummaryEdit,
  allNewIndexes: ConversationAlignment['places'],
  messages: readonly ApiMessage[],
): SummaryEdit[] {
  const newIndexes = allNewIndexes.slice(edit.start, edit.end);
  const start = newIndexes[0];
  const lastIndex = newIndexes.at(-1);
  if (start === undefined || lastIndex === undefined) return [];
  const end = lastIndex + 1;
  if (newIndexes.filter((place) => place !== undefined).length !== end - start) return [];
  return [{ ...edit, start, end, before: hashText(JSON.stringify(messages.slice(start, end))) }];
}
