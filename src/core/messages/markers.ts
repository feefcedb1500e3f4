import type { Hash } from '../hash';
import type { Slice } from '../slice';

/**
 * The form of a marker: brackets that no code or prose has by chance, a word, what is missing, and the reference. Nothing
 * else in the product spells it out.
 */
const OPEN = '⟦';
const CLOSE = '⟧';
/** How any marker begins, also one that a model wrote down wrongly. */
export const MARKER_START = `${OPEN}condensed:`;
const OPENING = `${MARKER_START} `;
/** A marker as a message to an agent names it. */
export const MARKER_EXAMPLE = `${OPENING}…${CLOSE}`;
const BEFORE_REFERENCE = ' · ref ';
const INSIDE = `[^${OPEN}${CLOSE}]`;
const MARKER = new RegExp(`${OPENING}(${INSIDE}*?)${BEFORE_REFERENCE}([0-9a-f]{6,64})${CLOSE}`, 'g');
const WITH_ANY_WORDS = new RegExp(`^${OPENING}${INSIDE}+${CLOSE}$`);
const REFERENCE_AT_END = new RegExp(`${BEFORE_REFERENCE}(?=[0-9a-f]+${CLOSE}$)`);
/** Characters of markers alone: other text must not bring them into one. */
export const MARKER_CHARACTERS = new RegExp(`[${OPEN}${CLOSE}]`, 'g');

/** A short stable id of original content that a view leaves out: the beginning of the content's sha256. */
export type ReferenceId = string & { readonly __reference: unique symbol };

/** Six hexadecimal digits; longer only where two contents of one conversation share them. */
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

/** Told once in a view: agents have copied such texts into files (Opencode-DCP#168). */
export const MARKER_RULE = 'never write such a marker into a file';
const RULE = `; ${MARKER_RULE}`;

/**
 * The text that stands where content was taken out. It can be found again, expanded, and kept out of files.
 * @param what says in a few words what is missing.
 */
export const marker = (what: string, reference: ReferenceId): string =>
  `${OPENING}${plain(what)}${BEFORE_REFERENCE}${reference}${CLOSE}`;

/** Names of tools and files come from the model: none may break a marker's form, or blow it up. */
const MAX_WHAT = 200;
const plain = (what: string): string =>
  what
    .replace(MARKER_CHARACTERS, '')
    .replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
    .slice(0, MAX_WHAT)
    .toWellFormed();

/** Whether a marker tells the rule. */
export const statesRule = (text: string): boolean => text.includes(RULE);

/** A marker as the one that tells the rule, and as any other. */
export const withRule = (text: string): string => text.replace(REFERENCE_AT_END, `${RULE}$&`);
/** The marker that {@link withRule} was given. */
export const withoutRule = (text: string): string => text.replace(RULE, '');

export interface FoundMarker extends Slice {
  readonly what: string;
  readonly reference: ReferenceId;
}

/** The markers in a text, in order. */
export const findMarkers = (text: string): FoundMarker[] =>
  mayHoldMarker(text)
    ? [...text.matchAll(MARKER)].map((match) => ({
        start: match.index,
        end: match.index + match[0].length,
        what: match[1] ?? '',
        reference: (match[2] ?? '') as ReferenceId,
      }))
    : [];

/** Whether a text holds the beginning of a marker; quick, for texts of which most hold none. */
export const mayHoldMarker = (text: string): boolean => text.includes(OPENING);

/** True for a text that has a marker's brackets and word and nothing around them, with a reference or without. */
export const looksLikeMarker = (text: string): boolean => WITH_ANY_WORDS.test(text);

/** True for a text that is a marker and nothing else. */
export const isOneMarker = (text: string): boolean => {
  if (!text.startsWith(OPENING) || !text.endsWith(CLOSE)) return false;
  const [first] = text.matchAll(MARKER);
  return first?.index === 0 && first[0].length === text.length;
};

/** Puts the originals back where markers stand; a marker whose reference is unknown stays. */
export function expandMarkers(text: string, resolve: (reference: ReferenceId) => string | undefined): string {
  let out = '';
  let at = 0;
  for (const found of findMarkers(text)) {
    out += text.slice(at, found.start) + (resolve(found.reference) ?? text.slice(found.start, found.end));
    at = found.end;
  }
  return out + text.slice(at);
}
