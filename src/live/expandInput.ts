import { expandMarkers, findMarkers, MARKER_EXAMPLE, MARKER_START, type ReferenceId } from '../core/messages/markers';
import { getErrorMessage } from '../core/errors';
import { isRecord } from '../core/messages/blocks';
import type { LiveConversation } from './liveConversation';
import { readReferencedOriginals, mapReferencesToContent } from './references';
import type { ExpandedInput } from './types';

/** Replaces this conversation's markers by their originals, so that no marker ends up in a file. */
export async function expandMarkersInInput(conversation: LiveConversation, input: unknown): Promise<ExpandedInput> {
  const strings = collectNestedStrings(input).filter((text) => text.includes(MARKER_START));
  if (strings.length === 0) return { input };
  const knownReferences = mapReferencesToContent(conversation);
  if (strings.some((text) => containsBrokenMarker(text, conversation, [...knownReferences.keys()]))) {
    return { error: createBrokenMarkerError('One of them is not written as it stands in the conversation.') };
  }
  const markedReferences = strings.flatMap((text) => findMarkers(text).map(({ reference }) => reference));
  const references = [...new Set(markedReferences)].filter((reference) => knownReferences.has(reference));
  if (references.length === 0) return { input };
  const originals = new Map<ReferenceId, string>();
  try {
    for (const { reference, content, text } of await readReferencedOriginals(conversation, references)) {
      if (content.kind === 'cut') originals.set(reference, text);
    }
  } catch (error) {
    return { error: createBrokenMarkerError(getErrorMessage(error)) };
  }
  const missingReference = references.find((reference) => !originals.has(reference));
  if (missingReference !== undefined)
    return { error: createBrokenMarkerError(`Ref ${missingReference} stands for whole messages, or for an image.`) };
  return { input: mapNestedStrings(input, (text) => expandMarkers(text, (reference) => originals.get(reference))) };
}

const MAX_MARKER_CHARS = 300;

/**
 * True if the agent copied one of this conversation's markers incorrectly: the marker is broken,
 * but its reference or its words are there.
 */
function containsBrokenMarker(
  text: string,
  { ledger }: LiveConversation,
  knownReferences: readonly ReferenceId[],
): boolean {
  const wholeMarkers = findMarkers(text);
  if (countOccurrences(text, MARKER_START) === wholeMarkers.length) return false;
  const markerWords = new Set(
    ledger.condensations.flatMap(({ edits }) =>
      edits.flatMap((edit) =>
        edit.kind === 'cut' ? edit.cuts.flatMap((cut) => findMarkers(cut.text).map(({ what }) => what)) : [],
      ),
    ),
  );
  for (
    let markerStart = text.indexOf(MARKER_START);
    markerStart >= 0;
    markerStart = text.indexOf(MARKER_START, markerStart + 1)
  ) {
    if (wholeMarkers.some(({ start }) => start === markerStart)) continue;
    const nextMarker = text.indexOf(MARKER_START, markerStart + 1);
    const textAfterStart = text
      .slice(
        markerStart + MARKER_START.length,
        Math.min(nextMarker < 0 ? Infinity : nextMarker, markerStart + MAX_MARKER_CHARS),
      )
      .trimStart();
    if (
      knownReferences.some((reference) => textAfterStart.includes(reference)) ||
      [...markerWords].some((what) => textAfterStart.startsWith(what))
    ) {
      return true;
    }
  }
  return false;
}

const createBrokenMarkerError = (why: string): string =>
  `The parameters hold a marker (${MARKER_EXAMPLE}) that stands for content which was taken out of the conversation, and it could not be put back. ${why} The tool was not called. Write the content itself, or recall it first, and call the tool again.`;

const countOccurrences = (text: string, part: string): number => text.split(part).length - 1;

function collectNestedStrings(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (Array.isArray(value)) return value.flatMap(collectNestedStrings);
  return isRecord(value) ? Object.values(value).flatMap(collectNestedStrings) : [];
}

function mapNestedStrings(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.map((item) => mapNestedStrings(item, change));
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, mapNestedStrings(item, change)]));
}
