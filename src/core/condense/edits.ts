import { hashText, type Hash } from '../hash';
import { valueAt, withValueAt } from '../messages/path';
import type { ApiMessage, ContentType, Place } from '../messages/types';
import type { ReferenceId } from './markers';

/** One slice of an original string and what stands in its place. */
export interface Cut {
  /** Slice of the original string, in UTF-16 units. */
  readonly start: number;
  readonly end: number;
  /** What stands there now, the marker included; empty where nothing does. */
  readonly text: string;
  /** Names the slice where a marker stands; absent where what was taken out follows from what stands elsewhere. */
  readonly reference?: ReferenceId;
  /** Set where what was taken out stands only in the reference store, not elsewhere in the view. */
  readonly recoverable?: true;
}

/**
 * One change that a condensation makes: the string at a place, with slices cut out. It always speaks of the original
 * string, also when an earlier edit had changed that string before; so the last edit of a place is all that a view needs,
 * and excluding it shows the one below.
 */
export interface Edit {
  readonly id: EditId;
  readonly place: Place;
  readonly contentType: ContentType;
  /** Hash of the whole original string. */
  readonly before: Hash;
  /** In order, not overlapping. */
  readonly cuts: readonly Cut[];
  /** The step (pass or operation) that made it. */
  readonly step: string;
  /** Why, in words. */
  readonly reason: string;
  /** True where all that is left out stands elsewhere in the view or follows from it; else it stands in the reference store. */
  readonly strict: boolean;
  /** Tokens of the string before and after this step. */
  readonly tokensBefore: number;
  readonly tokensAfter: number;
}

export type EditId = string & { readonly __edit: unique symbol };

/** The original string with the cuts made. */
export function renderCuts(original: string, cuts: readonly Cut[]): string {
  let out = '';
  let at = 0;
  for (const cut of cuts) {
    out += original.slice(at, cut.start) + cut.text;
    at = cut.end;
  }
  return out + original.slice(at);
}

export const placeKey = (place: Place): string => `${place.message}/${JSON.stringify(place.path)}`;

/** Of several edits of one place the last counts. */
export function lastByPlace(edits: readonly Edit[]): Edit[] {
  const last = new Map<string, Edit>();
  for (const edit of edits) last.set(placeKey(edit.place), edit);
  return [...last.values()];
}

export interface AppliedEdits {
  readonly messages: readonly ApiMessage[];
  /** Edits whose original no longer stands at their place: the conversation went another way. They were not applied. */
  readonly stale: readonly Edit[];
}

/** The view: the original messages with the edits applied. Messages without edits are the very same objects. */
export function applyEdits(original: readonly ApiMessage[], edits: readonly Edit[]): AppliedEdits {
  const messages = [...original];
  const stale: Edit[] = [];
  for (const edit of lastByPlace(edits)) {
    const message = messages[edit.place.message];
    const text = valueAt(original[edit.place.message], edit.place.path);
    if (!message || typeof text !== 'string' || hashText(text) !== edit.before) {
      stale.push(edit);
      continue;
    }
    messages[edit.place.message] = withValueAt(message, edit.place.path, renderCuts(text, edit.cuts));
  }
  return { messages, stale };
}

/**
 * The original messages, from a view, its edits and the originals of what they changed.
 * @throws Error where an original is missing or is not the one that its edit names.
 */
export function restoreOriginal(
  view: readonly ApiMessage[],
  edits: readonly Edit[],
  originals: (hash: Hash) => string | undefined,
): ApiMessage[] {
  const messages = [...view];
  for (const edit of lastByPlace(edits)) {
    const text = originals(edit.before);
    const message = messages[edit.place.message];
    if (!message || text === undefined || hashText(text) !== edit.before) {
      throw new Error(`the original of message ${edit.place.message} is missing or damaged (sha256 ${edit.before})`);
    }
    messages[edit.place.message] = withValueAt(message, edit.place.path, text);
  }
  return messages;
}

/** What a reference stands for. */
export interface ReferencedContent {
  readonly reference: ReferenceId;
  readonly place: Place;
  /** The whole original string that it is a slice of. */
  readonly before: Hash;
  readonly start: number;
  readonly end: number;
}

/** The references of a list of edits; where an id occurs again it names the same content. */
export function referencesOf(edits: readonly Edit[]): Map<ReferenceId, ReferencedContent> {
  const references = new Map<ReferenceId, ReferencedContent>();
  for (const edit of edits) {
    for (const { reference, start, end } of edit.cuts) {
      if (reference !== undefined)
        references.set(reference, { reference, place: edit.place, before: edit.before, start, end });
    }
  }
  return references;
}

/**
 * The original bytes of a reference.
 * @throws Error where the stored original is missing or damaged.
 */
export function expandReference(content: ReferencedContent, originals: (hash: Hash) => string | undefined): string {
  const text = originals(content.before);
  const slice = text?.slice(content.start, content.end);
  if (slice === undefined || !hashText(slice).startsWith(content.reference)) {
    throw new Error(`the original of ref ${content.reference} is missing or damaged`);
  }
  return slice;
}
