import { hashText, type Hash } from '../../hash';
import { valueAt } from '../../messages/path';
import type { ApiMessage, ContentType, Path, Place } from '../../messages/types';
import { memoizeByObject } from '../../memoizeByObject';
import type { Slice } from '../../slice';
import type { ReferenceId } from '../../messages/markers';
import type { MessageRange } from '../../messages/messageRange';
import type { EditOperation } from './operations';

/** A slice of an original string and what stands in its place. */
export interface Cut extends Slice {
  /** The text that stands there now, the marker included; empty if there is none. */
  readonly text: string;
  /** Names the slice where a marker stands; absent where what was taken out follows from what stands elsewhere. */
  readonly reference?: ReferenceId;
  /** Set where what was taken out stands only in the reference store, not elsewhere in the view. */
  readonly recoverable?: true;
}

/** Shared by all kinds of edits. */
interface EditBase {
  readonly id: EditId;
  /** The step (pass or operation) that made it. */
  readonly step: string;
  /** The step's operation at this place. */
  readonly operation: EditOperation;
  /** Why, in words. */
  readonly reason: string;
  /**
   * True where all that is left out stands elsewhere in the view or follows from it; else it stands in the reference
   * store.
   */
  readonly strict: boolean;
  /** Tokens of what it changed before and after this step. */
  readonly tokensBefore: number;
  readonly tokensAfter: number;
}

/**
 * The string at a place, with slices cut out. It always speaks of the original string, also when an earlier edit had
 * changed that string before; so the last edit of a place is all that a view needs, and excluding it shows the one below.
 */
export interface CutEdit extends EditBase {
  readonly kind: 'cut';
  readonly place: Place;
  readonly contentType: ContentType;
  /** Hash of the whole original string. */
  readonly before: Hash;
  /** In order, not overlapping. */
  readonly cuts: readonly Cut[];
}

/**
 * A range of the original's messages of which one summary stands in the view. A later one takes the place of all inside
 * its range.
 */
export interface SummaryEdit extends EditBase, MessageRange {
  readonly kind: 'summary';
  readonly message: ApiMessage;
  /** Names the original messages, as JSON. */
  readonly reference: ReferenceId;
  /** Hash of the original messages' JSON. */
  readonly before: Hash;
}

/**
 * A block that is not text and was taken out whole: thinking goes, for it is signed and can't be changed; of an image a
 * marker stands there.
 */
export interface BlockEdit extends EditBase {
  readonly kind: 'block';
  /** The path leads to the block. */
  readonly place: Place;
  /** Hash of the block's JSON. */
  readonly before: Hash;
  /** The text that stands there now, with the reference in it; absent if there is none. */
  readonly placeholder?: { readonly text: string; readonly reference: ReferenceId };
}

/** One change that a condensation makes. */
export type Edit = CutEdit | SummaryEdit | BlockEdit;

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

const pathKey = memoizeByObject((path: Path) => JSON.stringify(path));

/** The same text for the same place: a key for maps. */
export const placeKey = (place: Place): string => `${place.message}/${pathKey(place.path)}`;

/** The place that an edit changes, as a key: edits with one key replace each other. */
export const editKey = (edit: Edit): string =>
  edit.kind === 'summary' ? `summary ${edit.start}-${edit.end}` : placeKey(edit.place);

/** The edits that a view shows: of several for one place the last, of several summaries for one range the last. */
export function lastByPlace(edits: readonly Edit[]): Edit[] {
  const last = new Map<string, Edit>();
  for (const edit of edits) {
    if (edit.kind === 'summary') {
      for (const [key, other] of last) if (other.kind === 'summary' && isInside(other, edit)) last.delete(key);
    }
    last.set(editKey(edit), edit);
  }
  return [...last.values()];
}

const isInside = (inner: SummaryEdit, outer: SummaryEdit): boolean =>
  inner.start >= outer.start && inner.end <= outer.end;

/** Hash of a block's JSON. An image is megabytes: it is hashed once. */
export const blockHash = memoizeByObject((block: object): Hash => hashText(JSON.stringify(block)));

/** Whether the original that an edit is about still stands at its place. */
export function isStanding(original: readonly ApiMessage[], edit: Edit): boolean {
  if (edit.kind !== 'block') return originalOf(original, edit) !== undefined;
  const block = valueAt(original[edit.place.message], edit.place.path);
  return typeof block === 'object' && block !== null && blockHash(block) === edit.before;
}

/** The original text that an edit is about, of a block its JSON; undefined where another stands there. */
export function originalOf(original: readonly ApiMessage[], edit: Edit): string | undefined {
  if (edit.kind === 'block' && !isStanding(original, edit)) return undefined;
  const text = standingAt(original, edit);
  if (typeof text !== 'string') return undefined;
  // A block's hash was compared already; it is remembered, and a text's is not.
  if (edit.kind === 'block') return text;
  const hash = edit.kind === 'cut' ? hashAt(original, edit.place, text) : hashText(text);
  return hash === edit.before ? text : undefined;
}

const hashesIn = memoizeByObject<ApiMessage, Map<string, Hash>>(() => new Map());

/**
 * Hash of the string at a place of an original; computed once, for messages never change and the same edits are applied
 * again and again.
 */
export function hashAt(original: readonly ApiMessage[], { message, path }: Place, text: string): Hash {
  const holder = original[message];
  if (!holder) return hashText(text);
  const known = hashesIn(holder);
  const key = pathKey(path);
  const found = known.get(key) ?? hashText(text);
  known.set(key, found);
  return found;
}

/** The original's value at an edit's place: a string, or other things as JSON. */
function standingAt(original: readonly ApiMessage[], edit: Edit): unknown {
  if (edit.kind === 'summary') {
    return edit.end <= original.length ? JSON.stringify(original.slice(edit.start, edit.end)) : undefined;
  }
  const value = valueAt(original[edit.place.message], edit.place.path);
  return edit.kind === 'cut' ? value : JSON.stringify(value);
}

/** Whether an edit changes one of these messages. */
export function touches(edit: Edit, messages: ReadonlySet<number>): boolean {
  if (edit.kind !== 'summary') return messages.has(edit.place.message);
  for (let message = edit.start; message < edit.end; message++) if (messages.has(message)) return true;
  return false;
}
