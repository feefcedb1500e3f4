import { getCallsPartOfKey, type MessageKey } from '../core/messages/messageKey';
import { isText, toBlocks } from '../core/messages/blocks';
import type { ApiMessage } from '../core/messages/types';
import { isEqual } from '../core/isEqual';

export interface ConversationAlignment {
  /** New index of each message; undefined if it is gone. */
  readonly places: readonly (number | undefined)[];
  /** True if the other conversation begins with all these messages unchanged. */
  readonly isExact: boolean;
}

/**
 * Finds where each earlier message is now. Agents rewrite old messages slightly (an image in a
 * result becomes text, a long result is shortened), so messages with calls or results are matched
 * by IDs, others by content.
 */
export function alignConversations(
  oldKeys: readonly MessageKey[],
  newKeys: readonly MessageKey[],
): ConversationAlignment {
  const places: (number | undefined)[] = oldKeys.map(() => undefined);
  let at = 0;
  let isExact = true;
  for (; at < oldKeys.length && at < newKeys.length && isSameMessage(oldKeys[at], newKeys[at]); at++) {
    places[at] = at;
    isExact &&= oldKeys[at] === newKeys[at];
  }
  if (at === oldKeys.length) return { places, isExact };
  alignByCalls(oldKeys, newKeys, at, places);
  alignByTexts(oldKeys, newKeys, at, places);
  return { places, isExact: false };
}

const isSameMessage = (a: MessageKey | undefined, b: MessageKey | undefined): boolean => {
  if (a === undefined || b === undefined) return false;
  if (a === b) return true;
  const calls = getCallsPartOfKey(a);
  return calls !== undefined && calls === getCallsPartOfKey(b);
};

function alignByCalls(
  oldKeys: readonly MessageKey[],
  newKeys: readonly MessageKey[],
  from: number,
  places: (number | undefined)[],
): void {
  const byCalls = new Map<string, number>();
  for (let index = from; index < oldKeys.length; index++) {
    const calls = getCallsPartOfKey(oldKeys[index] as MessageKey);
    if (calls !== undefined) byCalls.set(calls, index);
  }
  let last = from - 1;
  for (let place = from; place < newKeys.length; place++) {
    const calls = getCallsPartOfKey(newKeys[place] as MessageKey);
    const index = calls === undefined ? undefined : byCalls.get(calls);
    if (index === undefined || index <= last) continue;
    places[index] = place;
    last = index;
  }
}

function alignByTexts(
  oldKeys: readonly MessageKey[],
  newKeys: readonly MessageKey[],
  from: number,
  places: (number | undefined)[],
): void {
  const ends = findNextMatches(places, newKeys.length);
  let place = from;
  for (let index = from; index < oldKeys.length; index++) {
    const anchor = places[index];
    const end = ends[index] ?? 0;
    let found = anchor ?? place;
    while (anchor === undefined && found < end && newKeys[found] !== oldKeys[index]) found++;
    if (anchor === undefined && found >= end) continue;
    places[index] = found;
    place = found + 1;
  }
}

function findNextMatches(places: readonly (number | undefined)[], end: number): number[] {
  const ends: number[] = [];
  let next = end;
  for (let index = places.length - 1; index >= 0; index--) {
    next = places[index] ?? next;
    ends[index] = next;
  }
  return ends;
}

/**
 * Counts the messages in common at the beginning. Agents send new objects with each request;
 * reusing the old ones keeps their cached tokens, keys and contents.
 */
export function countCommonPrefix(knownMessages: readonly ApiMessage[], sent: readonly ApiMessage[]): number {
  const shorter = Math.min(knownMessages.length, sent.length);
  let at = 0;
  while (at < shorter && isEqual(knownMessages[at], sent[at])) at++;
  return at;
}

/** True if `newMessage` contains all text of `oldMessage` and more. A continued word is a different word. */
export function isExtendedVersion(oldMessage: ApiMessage, newMessage: ApiMessage): boolean {
  if (oldMessage.role !== newMessage.role) return false;
  const [before, now] = [toBlocks(oldMessage), toBlocks(newMessage)];
  let first = 0;
  while (first < before.length && isEqual(before[first], now[first])) first++;
  let last = 0;
  while (first + last < Math.min(before.length, now.length) && isEqual(before.at(-1 - last), now.at(-1 - last))) last++;
  const [changed, ...others] = before.slice(first, before.length - last);
  const added = now.slice(first, now.length - last);
  if (added.length === 0 || others.length > 0 || !added.every(isText)) return false;
  if (!changed) return before.length > 0;
  return isText(changed) && added.some(({ text }) => beginsOrEndsWithText(changed.text, text));
}

function beginsOrEndsWithText(part: string, text: string): boolean {
  if (part.trim() === '' || text.length <= part.length) return false;
  return (
    (text.startsWith(part) && !isInsideWord(text, part.length)) ||
    (text.endsWith(part) && !isInsideWord(text, text.length - part.length))
  );
}

const isInsideWord = (text: string, at: number): boolean => /^[\p{L}\p{N}_]{2}$/u.test(text.slice(at - 1, at + 1));
