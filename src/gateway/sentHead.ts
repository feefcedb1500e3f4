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
  /** Number of list elements in the head; 0 if unknown, which prevents continuing. */
  readonly elements: number;
  readonly view: readonly ApiMessage[];
  readonly origins: readonly number[];
  readonly originals: number;
}

/**
 * @param last what was sent before; reused if the body starts with it and the view still agrees
 * @param shown changes a message of the view for sending
 */
export function makeStartOfSentRequest(
  wire: WireFormat,
  read: ParsedBody,
  request: WireRequest,
  view: View,
  last: StartOfSentRequest | undefined,
  shown: (message: ApiMessage, origin: number) => ApiMessage = (message) => message,
): StartOfSentRequest {
  const sent = {
    ...view,
    messages: view.messages.map((message, at) => shown(message, view.origins[at] ?? 0)),
  };
  if (!last || !continuesStartOfSentRequest(last, read, request.sources, view)) {
    const { head, end } = writeViewIntoBody(wire, read.text, read.body, request, sent);
    const at = countBytes(read.text, end, read.bytes.length);
    return makeRequestHead(read, request.sources, view, Buffer.from(head), at);
  }
  const tail = read.bytes.subarray(last.receivedHead.length).toString();
  // One placeholder per element of the head preserves the indexes.
  const opening = `{${JSON.stringify(wire.list)}:[${Array(last.elements).fill('0').join(',')}`;
  const text = opening + tail;
  const from = { view: last.view.length, original: last.originals };
  const { head, end } = writeViewIntoBody(wire, text, read.body, request, sent, from);
  if (end === 0) return last;
  const at =
    last.receivedHead.length + countBytes(tail, end - opening.length, read.bytes.length - last.receivedHead.length);
  return makeRequestHead(
    read,
    request.sources,
    view,
    Buffer.concat([last.sent, Buffer.from(head.slice(opening.length))]),
    at,
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
  sent: Buffer,
  at: number,
): StartOfSentRequest {
  const element = ends.findIndex((end) => end >= at);
  const end = element < 0 ? at : (ends[element] ?? at);
  const elements = element + 1;
  const originals = countWhile(sources, ({ items }) => items.every((item) => getIndex(item) < elements));
  const shown = countWhile(origins, (origin) => origin < originals);
  return {
    receivedHead: bytes.subarray(0, end),
    sent: Buffer.concat([sent, bytes.subarray(at, end)]),
    elements,
    view: messages.slice(0, shown),
    origins: origins.slice(0, shown),
    originals,
  };
}

function continuesStartOfSentRequest(
  last: StartOfSentRequest,
  { bytes }: ParsedBody,
  sources: readonly MessageSource[],
  now: View,
): boolean {
  const { receivedHead, elements, originals, view, origins } = last;
  return (
    elements > 0 &&
    bytes.length > receivedHead.length &&
    bytes.compare(receivedHead, 0, receivedHead.length, 0, receivedHead.length) === 0 &&
    sources.slice(originals).every(({ items }) => items.every((item) => getIndex(item) >= elements)) &&
    (now.origins[view.length] ?? now.original.length) === originals &&
    view.every((message, at) => message === now.messages[at] && origins[at] === now.origins[at])
  );
}

const getIndex = (item: MessageSource['items'][number]): number => Number(item[1]);

function countWhile<T>(values: readonly T[], holds: (value: T) => boolean): number {
  const first = values.findIndex((value) => !holds(value));
  return first < 0 ? values.length : first;
}
