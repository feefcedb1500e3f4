import { expandMarkers, findMarkers, MARKER_EXAMPLE, MARKER_START, type ReferenceId } from '../core/messages/markers';
import { errorMessage } from '../core/errors';
import { isRecord } from '../core/messages/blocks';
import type { LiveConversation } from './liveConversation';
import { originalsBehind } from './references';
import type { ExpandedInput } from './types';

/**
 * Puts the originals in the place of markers in a tool call's parameters, so that no marker becomes file content.
 * @returns the very same parameters where they hold none; else new ones, or for the agent why it can't be done.
 */
export async function expandInput(conversation: LiveConversation, input: unknown): Promise<ExpandedInput> {
  const strings = stringsIn(input).filter((text) => text.includes(MARKER_START));
  if (strings.length === 0) return { input };
  const references = [...new Set(strings.flatMap((text) => findMarkers(text).map(({ reference }) => reference)))];
  const originals = new Map<ReferenceId, string>();
  try {
    for (const { reference, isSummary, text } of await originalsBehind(conversation, references)) {
      if (!isSummary) originals.set(reference, text);
    }
  } catch (error) {
    return { error: refusal(errorMessage(error)) };
  }
  const missing = references.find((reference) => !originals.has(reference));
  if (missing !== undefined) return { error: refusal(`Nothing is known under ref ${missing}.`) };
  if (strings.some((text) => countOf(text, MARKER_START) !== findMarkers(text).length)) {
    return { error: refusal('One of them is not written as it stands in the conversation.') };
  }
  return { input: mapStrings(input, (text) => expandMarkers(text, (reference) => originals.get(reference))) };
}

const refusal = (why: string): string =>
  `The parameters hold a marker (${MARKER_EXAMPLE}) that stands for content which was taken out of the conversation, and it could not be put back. ${why} The tool was not called. Write the content itself, or recall it first, and call the tool again.`;

const countOf = (text: string, part: string): number => text.split(part).length - 1;

function stringsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (Array.isArray(value)) return value.flatMap(stringsIn);
  return isRecord(value) ? Object.values(value).flatMap(stringsIn) : [];
}

function mapStrings(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.map((item) => mapStrings(item, change));
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, mapStrings(item, change)]));
}
