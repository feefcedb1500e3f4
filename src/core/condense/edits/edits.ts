import { hashText, type Hash } from '../../hash';
import { getValueAt } from '../../messages/path';
import type { ApiMessage, ContentType, Path, ContentPlace } from '../../messages/types';
import { memoizeByObject } from '../../memoizeByObject';
import type { Slice } from '../../slice';
import type { ReferenceId } from '../../messages/markers';
import type { MessageRange } from '../../messages/messageRange';
import type { EditOperation } from './operations';

/** Offsets refer to the original string. */
export interface Cut extends Slice {
  /** The replacement, including any marker; may be empty. */
  readonly text: string;
  /** Absent if the rest of the view implies the removed text. */
  readonly reference?: ReferenceId;
  /** Set if only the reference store has the removed text. */
  readonly recoverable?: true;
}

interface FieldsOfEveryEdit {
  readonly id: EditId;
  /** The pass or operation that made the edit. */
  readonly step: string;
  readonly operation: EditOperation;
  /** Shown to the user. */
  readonly reason: string;
  /** True if the rest of the view contains or implies everything removed. */
  readonly strict: boolean;
  /** Counts only the changed text. */
  readonly tokensBefore: number;
  readonly tokensAfter: number;
}

/** Offsets refer to the original, so a view needs only a place's last edit. */
export interface CutEdit extends FieldsOfEveryEdit {
  readonly kind: 'cut';
  readonly place: ContentPlace;
  readonly contentType: ContentType;
  readonly before: Hash;
  /** Sorted, without overlaps. */
  readonly cuts: readonly Cut[];
}

/** Replaces a range of messages by one. A later summary replaces those inside its range. */
export interface SummaryEdit extends FieldsOfEveryEdit, MessageRange {
  readonly kind: 'summary';
  readonly message: ApiMessage;
  readonly reference: ReferenceId;
  /** Hash of the original messages' JSON. */
  readonly before: Hash;
}

/**
 * Removes a block that is not text. An image leaves a marker; thinking does not, because it is
 * signed.
 */
export interface BlockEdit extends FieldsOfEveryEdit {
  readonly kind: 'block';
  readonly place: ContentPlace;
  readonly before: Hash;
  /** Shown in place of the block; absent if nothing is. */
  readonly placeholder?: { readonly text: string; readonly reference: ReferenceId };
}

export type Edit = CutEdit | SummaryEdit | BlockEdit;

export type EditId = string & { readonly __edit: unique symbol };

export function renderCuts(original: string, cuts: readonly Cut[]): string {
  let editedText = '';
  let copiedEnd = 0;
  for (const cut of cuts) {
    editedText += original.slice(copiedEnd, cut.start) + cut.text;
    copiedEnd = cut.end;
  }
  return editedText + original.slice(copiedEnd);
}

const serializePath = memoizeByObject((path: Path) => JSON.stringify(path));

export const makePlaceKey = (place: ContentPlace): string => `${place.message}/${serializePath(place.path)}`;

/** Edits with equal keys replace each other. */
export const makeEditPlaceKey = (edit: Edit): string =>
  edit.kind === 'summary' ? `summary ${edit.start}-${edit.end}` : makePlaceKey(edit.place);

export function selectLastEditPerPlace(edits: readonly Edit[]): Edit[] {
  const lastEditByPlace = new Map<string, Edit>();
  for (const edit of edits) {
    if (edit.kind === 'summary') {
      for (const [key, other] of lastEditByPlace)
        if (other.kind === 'summary' && isInsideSummary(other, edit)) lastEditByPlace.delete(key);
    }
    lastEditByPlace.set(makeEditPlaceKey(edit), edit);
  }
  return [...lastEditByPlace.values()];
}

const isInsideSummary = (inner: SummaryEdit, outer: SummaryEdit): boolean =>
  inner.start >= outer.start && inner.end <= outer.end;

/** Memoized, because an image may have megabytes. */
export const hashBlock = memoizeByObject((block: object): Hash => hashText(JSON.stringify(block)));

/** True if the original still contains what the edit changed. */
export function matchesOriginal(original: readonly ApiMessage[], edit: Edit): boolean {
  if (edit.kind !== 'block') return getOriginalText(original, edit) !== undefined;
  const block = getValueAt(original[edit.place.message], edit.place.path);
  return typeof block === 'object' && block !== null && hashBlock(block) === edit.before;
}

/** Returns a block as JSON; undefined if the original has changed. */
export function getOriginalText(original: readonly ApiMessage[], edit: Edit): string | undefined {
  if (edit.kind === 'block' && !matchesOriginal(original, edit)) return undefined;
  const text = getOriginalOfEditedContent(original, edit);
  if (typeof text !== 'string') return undefined;
  if (edit.kind === 'block') return text;
  const hash = edit.kind === 'cut' ? hashTextAtPlace(original, edit.place, text) : hashText(text);
  return hash === edit.before ? text : undefined;
}

const hashesByPathInMessage = memoizeByObject<ApiMessage, Map<string, Hash>>(() => new Map());

export function hashTextAtPlace(original: readonly ApiMessage[], { message, path }: ContentPlace, text: string): Hash {
  const holdingMessage = original[message];
  if (!holdingMessage) return hashText(text);
  const hashes = hashesByPathInMessage(holdingMessage);
  const key = serializePath(path);
  const hash = hashes.get(key) ?? hashText(text);
  hashes.set(key, hash);
  return hash;
}

function getOriginalOfEditedContent(original: readonly ApiMessage[], edit: Edit): unknown {
  if (edit.kind === 'summary') {
    return edit.end <= original.length ? JSON.stringify(original.slice(edit.start, edit.end)) : undefined;
  }
  const value = getValueAt(original[edit.place.message], edit.place.path);
  return edit.kind === 'cut' ? value : JSON.stringify(value);
}

export function changesAnyMessage(edit: Edit, messages: ReadonlySet<number>): boolean {
  if (edit.kind !== 'summary') return messages.has(edit.place.message);
  for (let message = edit.start; message < edit.end; message++) if (messages.has(message)) return true;
  return false;
}
