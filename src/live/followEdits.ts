import { applyEdits } from '../core/condense/edits/applyEdits';
import {
  editKey,
  isStanding,
  lastByPlace,
  renderCuts,
  touches,
  type CutEdit,
  type Edit,
  type SummaryEdit,
} from '../core/condense/edits/edits';
import {
  activeEdits,
  excludedEdits,
  type Condensation,
  type Ledger,
  type LedgerEntry,
  type PlacedMessage,
} from '../core/condense/ledger/ledger';
import { hashText } from '../core/hash';
import { newViolations } from '../core/messages/firewall';
import { getCallsPart, messageKey, type MessageKey } from '../core/messages/messageKey';
import { valueAt, withValueAt } from '../core/messages/path';
import type { ApiMessage } from '../core/messages/types';
import { align, type Alignment } from './align';

/** The messages that the model sees, and the edits that make them. */
export interface Shown {
  readonly edits: readonly Edit[];
  readonly messages: readonly ApiMessage[];
  /** For each message its index in the original; SUMMARY_ORIGIN for a summary. */
  readonly origins: readonly number[];
}

export interface Followed extends Shown {
  /**
   * False where the conversation went another way since one of the condensations: then a copy that a reference points at
   * may be gone.
   */
  readonly isExact: boolean;
}

/** The messages as they are. */
export const unedited = (messages: readonly ApiMessage[]): Shown => ({
  edits: [],
  messages,
  origins: messages.map((_, index) => index),
});

/**
 * The view of a conversation by its ledger. A pure function of both: a conversation that was edited, branched or rolled
 * back keeps the edits of the messages that it still has, and one that comes back to what it was has them all again.
 */
export function followEdits(ledger: Ledger, messages: readonly ApiMessage[]): Followed {
  if (ledger.condensations.length === 0) return { ...unedited(messages), isExact: true };
  const keys = keysOf(messages);
  let isExact = true;
  const edits = activeEdits(ledger, (own, { messages: was, newResults }) => {
    if (newResults) {
      // Nobody noted where the copies stood that these refer to.
      isExact = false;
      return movedNewResults(own, newResults, keys, messages);
    }
    if (!was) return own;
    const alignment = align(was, keys);
    isExact &&= alignment.isExact;
    return alignment.isExact ? own : own.flatMap((edit) => moved(edit, alignment, messages));
  });
  const shown = showFitting(messages, edits);
  const isValid = newViolations(messages, shown.messages, { origins: shown.origins }).length === 0;
  return isValid ? { ...shown, isExact } : { ...unedited(messages), isExact: false };
}

/**
 * The edits of messages that were condensed as new results, where these now stand: like {@link align}, for some of the messages only. Where
 * the conversation went several ways, messages of each have stood at one place: an edit is of the one that has its text.
 */
function movedNewResults(
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

/** The keys of messages, which take their time where they are asked for the first time. */
export function keysOf(messages: readonly ApiMessage[]): MessageKey[] {
  const keys: MessageKey[] = [];
  for (const message of messages) {
    keys.push(messageKey(message));
  }
  return keys;
}

/** The view that edits make, all of which fit. */
export function show(messages: readonly ApiMessage[], edits: readonly Edit[]): Shown {
  if (edits.length === 0) return unedited(messages);
  const { messages: view, origins } = applyEdits(messages, edits);
  return { edits, messages: view, origins };
}

/** The view with more cuts, all of them in messages that no summary covers. */
export function withCuts(
  { edits, messages, origins }: Shown,
  added: readonly CutEdit[],
  original: readonly ApiMessage[],
): Shown {
  const changed = [...messages];
  for (const { place, cuts } of added) {
    const at = origins.lastIndexOf(place.message);
    const text = valueAt(original[place.message], place.path);
    const message = changed[at];
    if (message && typeof text === 'string') changed[at] = withValueAt(message, place.path, renderCuts(text, cuts));
  }
  return { edits: lastByPlace([...edits, ...added]), messages: changed, origins };
}

/** The view of a conversation that has grown: what was there stays as it is. */
export function grown({ edits, messages, origins }: Shown, added: readonly ApiMessage[], from: number): Shown {
  return {
    edits,
    messages: [...messages, ...added],
    origins: [...origins, ...added.map((_, index) => from + index)],
  };
}

function showFitting(messages: readonly ApiMessage[], edits: readonly Edit[]): Shown {
  const { messages: view, origins, stale } = applyEdits(messages, edits);
  if (stale.length === 0) return { edits, messages: view, origins };
  const gone = new Set(stale.map(editKey));
  return { edits: edits.filter((edit) => !gone.has(editKey(edit))), messages: view, origins };
}

/** Whether any of a condensation's edits still has its message. */
export const isFollowed = (condensation: Condensation, messages: readonly ApiMessage[]): boolean => {
  if (!condensation.messages && !condensation.newResults) return true;
  return followed(condensation, messages.map(messageKey), messages).length > 0;
};

/**
 * The entries that leave out of the view all edits of one message: those that others stand above and those of condensations that were
 * undone, too, which would come in their place.
 */
export function excludeAllOf(
  message: number,
  { condensations }: Ledger,
  messages: readonly ApiMessage[],
): LedgerEntry[] {
  const keys = messages.map(messageKey);
  return condensations.flatMap((condensation) =>
    followed(condensation, keys, messages)
      .filter((edit) => edit.kind !== 'summary' && edit.place.message === message)
      .map(({ id }): LedgerEntry => ({ type: 'excluded', condensation: condensation.id, edit: id })),
  );
}

/**
 * The edits that a person took out of the view and may put back, where their messages now stand. What is pinned stays as it is: it is
 * unpinned first.
 */
export function takenOut(
  ledger: Ledger,
  messages: readonly ApiMessage[],
  shown: readonly Edit[],
  pinned: ReadonlySet<number>,
): Edit[] {
  if (ledger.excluded.size === 0) return [];
  const keys = messages.map(messageKey);
  const edits = excludedEdits(ledger, (_, condensation) => followed(condensation, keys, messages));
  // One that was undone and made again has one id in both.
  const ids = new Set(shown.map(({ id }) => id));
  return edits.filter((edit) => !ids.has(edit.id) && !touches(edit, pinned) && isStanding(messages, edit));
}

/** A condensation's edits where their messages now stand. */
function followed(
  { messages: was, newResults, edits }: Condensation,
  keys: readonly MessageKey[],
  messages: readonly ApiMessage[],
): readonly Edit[] {
  if (newResults) return movedNewResults(edits, newResults, keys, messages);
  if (!was) return edits;
  const alignment = align(was, keys);
  // As the view has them.
  return alignment.isExact ? edits : edits.flatMap((edit) => moved(edit, alignment, messages));
}

/** An edit where its messages now stand; none where they are gone. */
function moved(edit: Edit, { places }: Alignment, messages: readonly ApiMessage[]): Edit[] {
  if (edit.kind === 'summary') return movedSummary(edit, places, messages);
  const message = places[edit.place.message];
  if (message === undefined) return [];
  return [message === edit.place.message ? edit : { ...edit, place: { ...edit.place, message } }];
}

/**
 * A summary stays as long as its first and its last message are there and nothing new has come between: that one of them
 * changed a little or was lost doesn't make it wrong. It is then one of the messages as they now are.
 */
function movedSummary(edit: SummaryEdit, places: Alignment['places'], messages: readonly ApiMessage[]): SummaryEdit[] {
  const inside = places.slice(edit.start, edit.end);
  const start = inside[0];
  const last = inside.at(-1);
  if (start === undefined || last === undefined) return [];
  const end = last + 1;
  if (inside.filter((place) => place !== undefined).length !== end - start) return [];
  return [{ ...edit, start, end, before: hashText(JSON.stringify(messages.slice(start, end))) }];
}
