/** Encodes messages as indexes into lists that host and engine both have. */
import type { ListUpdate } from '../../background/preview/messages';
import type { ApiMessage } from '../../core/messages/types';
import type { EncodedMessage } from './messages';

/**
 * @param origins for each message, its likely index in `knownMessages`; an index out of range if
 *   there is none
 */
export const encodeMessages = (
  messages: readonly ApiMessage[],
  origins: readonly number[],
  knownMessages: readonly ApiMessage[],
): readonly EncodedMessage[] =>
  messages.map((message, at) => {
    const origin = origins[at] ?? -1;
    return knownMessages[origin] === message ? origin : message;
  });

/** @throws RangeError if an index is unknown, because host and engine are out of sync */
export const decodeMessages = (sent: readonly EncodedMessage[], knownMessages: readonly ApiMessage[]): ApiMessage[] =>
  sent.map((message) => {
    const decodedMessage = typeof message === 'number' ? knownMessages[message] : message;
    if (!decodedMessage) throw new RangeError('The two threads have other messages of the conversation.');
    return decodedMessage;
  });

export function countCommonElements<T>(oldList: readonly T[], newList: readonly T[]): number {
  const minLength = Math.min(oldList.length, newList.length);
  let keptCount = 0;
  while (keptCount < minLength && oldList[keptCount] === newList[keptCount]) keptCount++;
  return keptCount;
}

/** @throws RangeError if the update keeps more elements than the list has */
export function decodeList<T>(before: readonly T[], { kept, added }: ListUpdate<T>): readonly T[] {
  if (kept > before.length) throw new RangeError('The two threads have other messages of the conversation.');
  return [...before.slice(0, kept), ...added];
}
