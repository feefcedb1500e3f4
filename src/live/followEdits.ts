import { applyEdits } from '../core/condense/edits/applyEdits';
import {
  isStanding,
  selectLastByPlace,
  renderCuts,
  changesAny,
  type CutEdit,
  type Edit,
  type SummaryEdit,
} from '../core/condense/edits/edits';
import { createView, type View } from '../core/condense/edits/view';
import {
  getActiveEdits,
  getExcludedEdits,
  type Condensation,
  type Ledger,
  type LedgerEntry,
  type PlacedMessage,
} from '../core/condense/ledger/ledger';
import { hashText } from '../core/hash';
import { findNewViolations } from '../core/messages/firewall';
import { getCallsPart, makeMessageKey, type MessageKey } from '../core/messages/messageKey';
import { getValueAt, withValueAt } from '../core/messages/path';
import type { ApiMessage } from '../core/messages/types';
import { alignConversations, type Alignment } from './align';

export interface FollowedView extends View {
  /**
   * False if the conversation diverged after a condensation, so that copies to which references
   * point may be gone.
   */
  readonly isExact: boolean;
}

/**
 * An edited, branched or rewound conversation keeps the edits of remaining messages, and returning
 * to an earlier state restores them all.
 */
export function followEdits(ledger: Ledger, messages: readonly ApiMessage[]): FollowedView {
  if (ledger.condensations.length === 0) return { ...createView(messages), isExact: true };
  const keys = getKeys(messages);
  let isExact = true;
  const edits = getActiveEdits(ledger, (own, { messages: was, newResults }) => {
    if (newResults) {
      // A reference in a new result points to an earlier copy of the text. The ledger doesn't
      // record where that copy was, so it may be gone.
      isExact = false;
      return moveNewResults(own, newResults, keys, messages);
    }
    if (!was) return own;
    const alignment = alignConversations(was, keys);
    isExact &&= alignment.isExact;
    return alignment.isExact ? own : own.flatMap((edit) => moveEdit(edit, alignment, messages));
  });
  const shown = applyEdits(messages, edits);
  const isValid = findNewViolations(messages, shown.messages, { origins: shown.origins }).length === 0;
  return isValid ? { ...shown, isExact } : { ...createView(messages), isExact: false };
}

/**
 * If the conversation branched, messages of several branches had the same position. An edit belongs
 * to the message with the edit's text.
 */
function moveNewResults(
  edits: readonly Edit[],
  newResults: readonly PlacedMessage[],
  keys: readonly MessageKey[],
  messages: readonly ApiMessage[],
): Edit[] {
  const places = new Map<number, Set<number>>();
  let byKey: Map<string, number> | undefined;
  const found = (key: MessageKey): number | undefined => {
    byKey ??= new Map(
      keys.flatMap((other, at) => [other, getCallsPart(other) ?? other].map((name) => [name, at] as const)),
    );
    return byKey.get(getCallsPart(key) ?? key);
  };
  for (const { message, key } of newResults) {
    const place = keys[message] === key ? message : found(key);
    if (place !== undefined) places.set(message, (places.get(message) ?? new Set()).add(place));
  }
  return edits.flatMap((edit) =>
    edit.kind === 'summary'
      ? []
      : [...(places.get(edit.place.message) ?? [])]
          .map((message) => (message === edit.place.message ? edit : { ...edit, place: { ...edit.place, message } }))
          .filter((one) => isStanding(messages, one)),
  );
}

export function getKeys(messages: readonly ApiMessage[]): MessageKey[] {
  const keys: MessageKey[] = [];
  for (const message of messages) {
    keys.push(makeMessageKey(message));
  }
  return keys;
}

/** The cuts must be in messages that no summary covers. */
export function addCuts({ original, messages, origins, edits }: View, added: readonly CutEdit[]): View {
  const changed = [...messages];
  for (const { place, cuts } of added) {
    const at = origins.lastIndexOf(place.message);
    const text = getValueAt(original[place.message], place.path);
    const message = changed[at];
    if (message && typeof text === 'string') changed[at] = withValueAt(message, place.path, renderCuts(text, cuts));
  }
  return { original, messages: changed, origins, edits: selectLastByPlace([...edits, ...added]) };
}

export const hasRemainingEdits = (condensation: Condensation, messages: readonly ApiMessage[]): boolean => {
  if (!condensation.messages && !condensation.newResults) return true;
  return followCondensation(condensation, messages.map(makeMessageKey), messages).length > 0;
};

/**
 * Also excludes edits that later ones hide, and edits of undone condensations that would replace
 * them.
 */
export function excludeEditsOfMessage(
  message: number,
  { condensations }: Ledger,
  messages: readonly ApiMessage[],
): LedgerEntry[] {
  const keys = messages.map(makeMessageKey);
  return condensations.flatMap((condensation) =>
    followCondensation(condensation, keys, messages)
      .filter((edit) => edit.kind !== 'summary' && edit.place.message === message)
      .map(({ id }): LedgerEntry => ({ type: 'excluded', condensation: condensation.id, edit: id })),
  );
}

/** Omits edits of pinned messages, which must be unpinned first. */
export function listExcludedEdits(
  ledger: Ledger,
  messages: readonly ApiMessage[],
  shown: readonly Edit[],
  pinned: ReadonlySet<number>,
): Edit[] {
  if (ledger.excluded.size === 0) return [];
  const keys = messages.map(makeMessageKey);
  const edits = getExcludedEdits(ledger, (_, condensation) => followCondensation(condensation, keys, messages));
  // An edit that was undone and redone has the same ID in both condensations.
  const ids = new Set(shown.map(({ id }) => id));
  return edits.filter((edit) => !ids.has(edit.id) && !changesAny(edit, pinned) && isStanding(messages, edit));
}

function followCondensation(
  { messages: was, newResults, edits }: Condensation,
  keys: readonly MessageKey[],
  messages: readonly ApiMessage[],
): readonly Edit[] {
  if (newResults) return moveNewResults(edits, newResults, keys, messages);
  if (!was) return edits;
  const alignment = alignConversations(was, keys);
  return alignment.isExact ? edits : edits.flatMap((edit) => moveEdit(edit, alignment, messages));
}

function moveEdit(edit: Edit, { places }: Alignment, messages: readonly ApiMessage[]): Edit[] {
  if (edit.kind === 'summary') return moveSummary(edit, places, messages);
  const message = places[edit.place.message];
  if (message === undefined) return [];
  return [message === edit.place.message ? edit : { ...edit, place: { ...edit.place, message } }];
}

/**
 * Keeps a summary while its first and last message exist and nothing new is between them. A message
 * in between may have changed slightly or be gone.
 */
function moveSummary(edit: SummaryEdit, places: Alignment['places'], messages: readonly ApiMessage[]): SummaryEdit[] {
  const inside = places.slice(edit.start, edit.end);
  const start = inside[0];
  const last = inside.at(-1);
  if (start === undefined || last === undefined) return [];
  const end = last + 1;
  if (inside.filter((place) => place !== undefined).length !== end - start) return [];
  return [{ ...edit, start, end, before: hashText(JSON.stringify(messages.slice(start, end))) }];
}
