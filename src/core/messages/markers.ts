import type { Hash } from '../hash';
import type { Slice } from '../slice';

/**
 * The form of a marker: brackets that code and prose do not use, a word, what was removed, and the
 * reference. Defined only here.
 */
const OPEN = '⟦';
const CLOSE = '⟧';
/** Start of any marker, including one miswritten by a model. */
export const MARKER_START = `${OPEN}condensed:`;
const OPENING = `${MARKER_START} `;
/** A marker as shown to agents in instructions. */
export const MARKER_EXAMPLE = `${OPENING}…${CLOSE}`;
const BEFORE_REFERENCE = ' · ref ';
const INSIDE = `[^${OPEN}${CLOSE}]`;
const MARKER = new RegExp(`${OPENING}(${INSIDE}*?)${BEFORE_REFERENCE}([0-9a-f]{6,64})${CLOSE}`, 'g');
const WITH_ANY_WORDS = new RegExp(`^${OPENING}${INSIDE}+${CLOSE}$`);
const REFERENCE_AT_END = new RegExp(`${BEFORE_REFERENCE}(?=[0-9a-f]+${CLOSE}$)`);
/** Bracket characters, which other text inside a marker must not contain. */
export const MARKER_CHARACTERS = new RegExp(`[${OPEN}${CLOSE}]`, 'g');

/** Stable ID of removed content: the start of its sha256. */
export type ReferenceId = string & { readonly __reference: unique symbol };

/** Hex digits; longer if two contents of a conversation collide. */
export const SHORTEST_REFERENCE = 6;

/**
 * The reference of a content.
 * @param taken the references given so far in this conversation, by id.
 */
export function referenceFor(hash: Hash, taken: ReadonlyMap<ReferenceId, Hash>): ReferenceId {
  for (let length = SHORTEST_REFERENCE; length < hash.length; length += 2) {
    const id = hash.slice(0, length) as ReferenceId;
    const other = taken.get(id);
    if (other === undefined || other === hash) return id;
  }
  return hash as string as ReferenceId;
}

/** Stated once per view, since agents have copied markers into files (Opencode-DCP#168). */
export const MARKER_RULE = 'never write such a marker into a file';
const RULE = `; ${MARKER_RULE}`;

/**
 * The text that stands where content was taken out. It can be found again, expanded, and kept out of files.
 * @param what says in a few words what is missing.
 */
export const marker = (what: string, reference: ReferenceId): string =>
  `${OPENING}${plain(what)}${BEFORE_REFERENCE}${reference}${CLOSE}`;

/** Tool and file names come from the model, so they are sanitized and limited. */
const MAX_WHAT = 200;
const plain = (what: string): string =>
  what
    .replace(MARKER_CHARACTERS, '')
    .replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
    .slice(0, MAX_WHAT)
    .toWellFormed();

export const statesRule = (text: string): boolean => text.includes(RULE);

export const withRule = (text: string): string => text.replace(REFERENCE_AT_END, `${RULE}$&`);
export const withoutRule = (text: string): string => text.replace(RULE, '');

export interface FoundMarker extends Slice {
  readonly what: string;
  readonly reference: ReferenceId;
}

export const findMarkers = (text: string): FoundMarker[] =>
  mayHoldMarker(text)
    ? [...text.matchAll(MARKER)].map((match) => ({
        start: match.index,
        end: match.index + match[0].length,
        what: match[1] ?? '',
        reference: (match[2] ?? '') as ReferenceId,
      }))
    : [];

/** A cheap test, since most texts have no marker. */
export const mayHoldMarker = (text: string): boolean => text.includes(OPENING);

/** True if the text has the form of a marker, with or without a reference. */
export const looksLikeMarker = (text: string): boolean => WITH_ANY_WORDS.test(text);

export const isOneMarker = (text: string): boolean => {
  if (!text.startsWith(OPENING) || !text.endsWith(CLOSE)) return false;
  const [first] = text.matchAll(MARKER);
  return first?.index === 0 && first[0].length === text.length;
};

/** Replaces markers by their originals; markers with unknown references stay. */
export function expandMarkers(text: string, resolve: (reference: ReferenceId) => string | undefined): string {
  let out = '';
  let at = 0;
  for (const found of findMarkers(text)) {
    out += text.slice(at, found.start) + (resolve(found.reference) ?? text.slice(found.start, found.end));
    at = found.end;
  }
  return out + text.slice(at);
}
