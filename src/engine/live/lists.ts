/** Messages that both sides have, as indexes; and lists as the change of what the other side holds. */
import type { ListUpdate } from '../../background/forecast/messages';
import type { ApiMessage } from '../../core/messages/types';
import type { SentMessage } from './messages';

/**
 * Messages as the other side takes them.
 * @param origins for each message its likely index in `known`; another number where there is none.
 */
export const sentMessages = (
  messages: readonly ApiMessage[],
  origins: readonly number[],
  known: readonly ApiMessage[],
): readonly SentMessage[] =>
  messages.map((message, at) => {
    const origin = origins[at] ?? -1;
    return known[origin] === message ? origin : message;
  });

/** @throws RangeError if one is not among those known: the two sides are out of step. */
export const receivedMessages = (sent: readonly SentMessage[], known: readonly ApiMessage[]): ApiMessage[] =>
  sent.map((message) => {
    const found = typeof message === 'number' ? known[message] : message;
    if (!found) throw new RangeError('The two threads have other messages of the conversation.');
    return found;
  });

/** How many elements two lists begin with in common. */
export function commonElements<T>(before: readonly T[], after: readonly T[]): number {
  const most = Math.min(before.length, after.length);
  let kept = 0;
  while (kept < most && before[kept] === after[kept]) kept++;
  return kept;
}

/** The list as an update makes it. @throws RangeError if it keeps more than there is */
export function receivedList<T>(before: readonly T[], { kept, added }: ListUpdate<T>): readonly T[] {
  if (kept > before.length) throw new RangeError('The two threads have other messages of the conversation.');
  return [...before.slice(0, kept), ...added];
}
