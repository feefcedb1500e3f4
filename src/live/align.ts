import { getCallsPartOfKey, type MessageKey } from '../core/messages/messageKey';
import { isText, toBlocks } from '../core/messages/blocks';
import type { ApiMessage } from '../core/messages/types';
import { isEqual } from '../core/isEqual';

export interface ConversationAlignment {
  /** For each old message, its new index; undefined if the message is gone. */
  readonly places: readonly (number | undefined)[];
  /** True if the new conversation begins with all old messages, unchanged. */
  readonly isExact: boolean;
}

/**
 * Matches messages with calls or results by ID, because agents rewrite old messages slightly (a
 * long result is shortened). Matches other messages by content.
 */
export function alignConversations(
  oldKeys: readonly MessageKey[],
  newKeys: readonly MessageKey[],
): ConversationAlignment {
  const newIndexes: (number | undefined)[] = oldKeys.map(() => undefined);
  let index = 0;
  let isExact = true;
  for (; index < oldKeys.length && index < newKeys.length && isSameMessage(oldKeys[index], newKeys[index]); index++) {
    newIndexes[index] = index;
    isExact &&= oldKeys[index] === newKeys[index];
  }
  if (index === oldKeys.length) return { places: newIndexes, isExact };
  alignByCalls(oldKeys, newKeys, index, newIndexes);
  alignByTexts(oldKeys, newKeys, index, newIndexes);
  return { places: newIndexes, isExact: false };
}

const isSameMessage = (a: MessageKey | undefined, b: MessageKey | undefined): boolean => {
  if (a === undefined || b === undefined) return false;
  if (a === b) return true;
  const callsPart = getCallsPartOfKey(a);
  return callsPart !== undefined && callsPart === getCallsPartOfKey(b);
};

function alignByCalls(
  oldKeys: readonly MessageKey[],
  newKeys: readonly MessageKey[],
  start: number,
  newIndexes: (number | undefined)[],
): void {
  const indexByCalls = new Map<string, number>();
  for (let index = start; index < oldKeys.length; index++) {
    const callsPart = getCallsPartOfKey(oldKeys[index] as MessageKey);
    if (callsPart !== undefined) indexByCalls.set(callsPart, index);
  }
  let lastIndex = start - 1;
  for (let newIndex = start; newIndex < newKeys.length; newIndex++) {
    const callsPart = getCallsPartOfKey(newKeys[newIndex] as MessageKey);
    const oldIndex = callsPart === undefined ? undefined : indexByCalls.get(callsPart);
    if (oldIndex === undefined || oldIndex <= lastIndex) continue;
    newIndexes[oldIndex] = newIndex;
    lastIndex = oldIndex;
  }
}

function alignByTexts(
  oldKeys: readonly MessageKey[],
  newKeys: readonly MessageKey[],
  start: number,
  newIndexes: (number | undefined)[],
): void {
  const searchEnds = findNextMatches(newIndexes, newKeys.length);
  let nextNewIndex = start;
  for (let index = start; index < oldKeys.length; index++) {
    const matchedIndex = newIndexes[index];
    const searchEnd = searchEnds[index] ?? 0;
    let candidate = matchedIndex ?? nextNewIndex;
    while (matchedIndex === undefined && candidate < searchEnd && newKeys[candidate] !== oldKeys[index]) candidate++;
    if (matchedIndex === undefined && candidate >= searchEnd) continue;
    newIndexes[index] = candidate;
    nextNewIndex = candidate + 1;
  }
}

function findNextMatches(newIndexes: readonly (number | undefined)[], newLength: number): number[] {
  const ends: number[] = [];
  let nextMatch = newLength;
  for (let index = newIndexes.length - 1; index >= 0; index--) {
    nextMatch = newIndexes[index] ?? nextMatch;
    ends[index] = nextMatch;
  }
  return ends;
}

/**
 * Agents send new objects with each request; reusing the old ones keeps their cached tokens, keys
 * and contents.
 */
export function countCommonPrefix(knownMessages: readonly ApiMessage[], sentMessages: readonly ApiMessage[]): number {
  const shorterLength = Math.min(knownMessages.length, sentMessages.length);
  let count = 0;
  while (count < shorterLength && isEqual(knownMessages[count], sentMessages[count])) count++;
  return count;
}

/**
 * True if `newMessage` contains all text of `oldMessage` and more. The old text must not begin or
 * end inside a word.
 */
export function isExtendedVersion(oldMessage: ApiMessage, newMessage: ApiMessage): boolean {
  if (oldMessage.role !== newMessage.role) return false;
  const [oldBlocks, newBlocks] = [toBlocks(oldMessage), toBlocks(newMessage)];
  let equalBlocksAtStart = 0;
  while (equalBlocksAtStart < oldBlocks.length && isEqual(oldBlocks[equalBlocksAtStart], newBlocks[equalBlocksAtStart]))
    equalBlocksAtStart++;
  let equalBlocksAtEnd = 0;
  while (
    equalBlocksAtStart + equalBlocksAtEnd < Math.min(oldBlocks.length, newBlocks.length) &&
    isEqual(oldBlocks.at(-1 - equalBlocksAtEnd), newBlocks.at(-1 - equalBlocksAtEnd))
  )
    equalBlocksAtEnd++;
  const [changedBlock, ...otherChangedBlocks] = oldBlocks.slice(
    equalBlocksAtStart,
    oldBlocks.length - equalBlocksAtEnd,
  );
  const addedBlocks = newBlocks.slice(equalBlocksAtStart, newBlocks.length - equalBlocksAtEnd);
  if (addedBlocks.length === 0 || otherChangedBlocks.length > 0 || !addedBlocks.every(isText)) return false;
  if (!changedBlock) return oldBlocks.length > 0;
  return isText(changedBlock) && addedBlocks.some(({ text }) => beginsOrEndsWithText(changedBlock.text, text));
}

function beginsOrEndsWithText(oldText: string, text: string): boolean {
  if (oldText.trim() === '' || text.length <= oldText.length) return false;
  return (
    (text.startsWith(oldText) && !isInsideWord(text, oldText.length)) ||
    (text.endsWith(oldText) && !isInsideWord(text, text.length - oldText.length))
  );
}

const isInsideWord = (text: string, index: number): boolean =>
  /^[\p{L}\p{N}_]{2}$/u.test(text.slice(index - 1, index + 1));
