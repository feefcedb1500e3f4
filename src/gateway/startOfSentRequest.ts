/**
 * Remembers the start of a sent body: between two condensations, bodies share it, so only the new
 * part is written.
 */
import { Buffer } from 'node:buffer';
import type { View } from '../core/condense/edits/view';
import type { ApiMessage } from '../core/messages/types';
import type { ParsedBody } from './bodies';
import { writeViewIntoBody, type MessageSource, type WireFormat, type WireRequest } from './wires/wire';

export interface StartOfSentRequest {
  readonly receivedHead: Buffer;
  readonly sent: Buffer;
  /** Number of list elements in the start; 0 if unknown, so that the start can't be continued. */
  readonly elementCount: number;
  readonly view: readonly ApiMessage[];
  readonly origins: readonly number[];
  readonly originalCount: number;
}

/**
 * @param lastStart start of the previous request; reused if this body begins with it and the view
 *   has not changed since
 */
export function makeStartOfSentRequest(
  wire: WireFormat,
  parsedBody: ParsedBody,
  request: WireRequest,
  view: View,
  lastStart: StartOfSentRequest | undefined,
  changeMessage: (message: ApiMessage, origin: number) => ApiMessage = (message) => message,
): StartOfSentRequest {
  const sentView = {
    ...view,
    messages: view.messages.map((message, index) => changeMessage(message, view.origins[index] ?? 0)),
  };
  if (!lastStart || !continuesStartOfSentRequest(lastStart, parsedBody, request.sources, view)) {
    const { head, end } = writeViewIntoBody(wire, parsedBody.text, parsedBody.body, request, sentView);
    const headEnd = countBytes(parsedBody.text, end, parsedBody.bytes.length);
    return makeRequestHead(parsedBody, request.sources, view, Buffer.from(head), headEnd);
  }
  const newText = parsedBody.bytes.subarray(lastStart.receivedHead.length).toString();
  // One placeholder per element of the start, so that the indexes are right.
  const placeholderHead = `{${JSON.stringify(wire.list)}:[${Array(lastStart.elementCount).fill('0').join(',')}`;
  const text = placeholderHead + newText;
  const continuedFrom = { view: lastStart.view.length, original: lastStart.originalCount };
  const { head, end } = writeViewIntoBody(wire, text, parsedBody.body, request, sentView, continuedFrom);
  if (end === 0) return lastStart;
  const headEnd =
    lastStart.receivedHead.length +
    countBytes(newText, end - placeholderHead.length, parsedBody.bytes.length - lastStart.receivedHead.length);
  return makeRequestHead(
    parsedBody,
    request.sources,
    view,
    Buffer.concat([lastStart.sent, Buffer.from(head.slice(placeholderHead.length))]),
    headEnd,
  );
}

export const joinSentStartAndNewRest = ({ receivedHead, sent }: StartOfSentRequest, { bytes }: ParsedBody): Buffer =>
  Buffer.concat([sent, bytes.subarray(receivedHead.length)]);

/** In ASCII, text and byte offsets are equal. */
const countBytes = (text: string, offset: number, bytes: number): number =>
  text.length === bytes ? offset : Buffer.byteLength(text.slice(0, offset));

function makeRequestHead(
  { bytes, ends }: ParsedBody,
  sources: readonly MessageSource[],
  { messages, origins }: View,
  sentHead: Buffer,
  headEnd: number,
): StartOfSentRequest {
  const lastElementIndex = ends.findIndex((end) => end >= headEnd);
  const elementEnd = lastElementIndex < 0 ? headEnd : (ends[lastElementIndex] ?? headEnd);
  const elementCount = lastElementIndex + 1;
  const originalCount = countWhile(sources, ({ items }) => items.every((item) => getIndex(item) < elementCount));
  const shownCount = countWhile(origins, (origin) => origin < originalCount);
  return {
    receivedHead: bytes.subarray(0, elementEnd),
    sent: Buffer.concat([sentHead, bytes.subarray(headEnd, elementEnd)]),
    elementCount,
    view: messages.slice(0, shownCount),
    origins: origins.slice(0, shownCount),
    originalCount,
  };
}

function continuesStartOfSentRequest(
  lastStart: StartOfSentRequest,
  { bytes }: ParsedBody,
  sources: readonly MessageSource[],
  currentView: View,
): boolean {
  const { receivedHead, elementCount: elements, originalCount: originals, view, origins } = lastStart;
  return (
    elements > 0 &&
    bytes.length > receivedHead.length &&
    bytes.compare(receivedHead, 0, receivedHead.length, 0, receivedHead.length) === 0 &&
    sources.slice(originals).every(({ items }) => items.every((item) => getIndex(item) >= elements)) &&
    (currentView.origins[view.length] ?? currentView.original.length) === originals &&
    view.every(
      (message, index) => message === currentView.messages[index] && origins[index] === currentView.origins[index],
    )
  );
}

const getIndex = (item: MessageSource['items'][number]): number => Number(item[1]);

function countWhile<T>(values: readonly T[], isCounted: (value: T) => boolean): number {
  const firstUncounted = values.findIndex((value) => !isCounted(value));
  return firstUncounted < 0 ? values.length : firstUncounted;
}
