import type { Hash } from '../hash';
import type { Slice } from '../slice';

/**
 * A marker: brackets that code and prose do not use, a word, what was removed, and the reference.
 */
const MARKER_OPENING_BRACKET = '⟦';
const MARKER_CLOSING_BRACKET = '⟧';
/** Start of any marker, including one that a model miswrote. */
export const MARKER_START = `${MARKER_OPENING_BRACKET}condensed:`;
const MARKER_PREFIX = `${MARKER_START} `;
export const MARKER_EXAMPLE = `${MARKER_PREFIX}…${MARKER_CLOSING_BRACKET}`;
const TEXT_BEFORE_REFERENCE = ' · ref ';
const MARKER_INSIDE_PATTERN = `[^${MARKER_OPENING_BRACKET}${MARKER_CLOSING_BRACKET}]`;
const MARKER_PATTERN = new RegExp(
  `${MARKER_PREFIX}(${MARKER_INSIDE_PATTERN}*?)${TEXT_BEFORE_REFERENCE}([0-9a-f]{6,64})${MARKER_CLOSING_BRACKET}`,
  'g',
);
const MARKER_WITH_ANY_DESCRIPTION = new RegExp(`^${MARKER_PREFIX}${MARKER_INSIDE_PATTERN}+${MARKER_CLOSING_BRACKET}$`);
const REFERENCE_AT_END = new RegExp(`${TEXT_BEFORE_REFERENCE}(?=[0-9a-f]+${MARKER_CLOSING_BRACKET}$)`);
/** Brackets, which other text inside a marker must not contain. */
export const MARKER_CHARACTERS = new RegExp(`[${MARKER_OPENING_BRACKET}${MARKER_CLOSING_BRACKET}]`, 'g');

/** Stable ID of removed content: the start of its SHA-256. */
export type ReferenceId = string & { readonly __reference: unique symbol };

/** Hex digits; more if two contents of a conversation collide. */
export const MIN_REFERENCE_DIGITS = 6;

export function makeUniqueReference(hash: Hash, takenReferences: ReadonlyMap<ReferenceId, Hash>): ReferenceId {
  for (let length = MIN_REFERENCE_DIGITS; length < hash.length; length += 2) {
    const id = hash.slice(0, length) as ReferenceId;
    const existingHash = takenReferences.get(id);
    if (existingHash === undefined || existingHash === hash) return id;
  }
  return hash as string as ReferenceId;
}

/** Each view states this once, since agents have copied markers into files (Opencode-DCP#168). */
export const MARKER_RULE = 'never write such a marker into a file';
const MARKER_RULE_SUFFIX = `; ${MARKER_RULE}`;

/** @param description briefly says what is missing */
export const makeMarker = (description: string, reference: ReferenceId): string =>
  `${MARKER_PREFIX}${cleanDescription(description)}${TEXT_BEFORE_REFERENCE}${reference}${MARKER_CLOSING_BRACKET}`;

/** Tool and file names come from the model, so this limits and cleans them. */
const MAX_DESCRIPTION_CHARS = 200;
const cleanDescription = (description: string): string =>
  description
    .replace(MARKER_CHARACTERS, '')
    .replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
    .slice(0, MAX_DESCRIPTION_CHARS)
    .toWellFormed();

export const statesMarkerRule = (text: string): boolean => text.includes(MARKER_RULE_SUFFIX);

export const addMarkerRule = (text: string): string => text.replace(REFERENCE_AT_END, `${MARKER_RULE_SUFFIX}$&`);
export const removeMarkerRule = (text: string): string => text.replace(MARKER_RULE_SUFFIX, '');

export interface FoundMarker extends Slice {
  readonly what: string;
  readonly reference: ReferenceId;
}

export const findMarkers = (text: string): FoundMarker[] =>
  mayContainMarker(text)
    ? [...text.matchAll(MARKER_PATTERN)].map((match) => ({
        start: match.index,
        end: match.index + match[0].length,
        what: match[1] ?? '',
        reference: (match[2] ?? '') as ReferenceId,
      }))
    : [];

/** A cheap test, since most texts have no marker. */
export const mayContainMarker = (text: string): boolean => text.includes(MARKER_PREFIX);

export const looksLikeMarker = (text: string): boolean => MARKER_WITH_ANY_DESCRIPTION.test(text);

export const isSingleMarker = (text: string): boolean => {
  if (!text.startsWith(MARKER_PREFIX) || !text.endsWith(MARKER_CLOSING_BRACKET)) return false;
  const [first] = text.matchAll(MARKER_PATTERN);
  return first?.index === 0 && first[0].length === text.length;
};

/** Markers with unknown references stay. */
export function expandMarkers(text: string, resolveReference: (reference: ReferenceId) => string | undefined): string {
  let expandedText = '';
  let copiedEnd = 0;
  for (const marker of findMarkers(text)) {
    expandedText +=
      text.slice(copiedEnd, marker.start) +
      (resolveReference(marker.reference) ?? text.slice(marker.start, marker.end));
    copiedEnd = marker.end;
  }
  return expandedText + text.slice(copiedEnd);
}
