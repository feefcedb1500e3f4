import { makeMessageKey } from '../../messages/messageKey';
import type { ApiMessage } from '../../messages/types';
import type { LedgerEntry, MessageWithKey } from './ledger';

/** Skips pins whose messages have been removed. */
export function getPinnedIndexes(
  pins: readonly MessageWithKey[],
  messages: readonly ApiMessage[],
): ReadonlySet<number> {
  const indexes = new Set<number>();
  for (const { message, key } of pins) {
    const candidate = messages[message];
    const index =
      candidate && makeMessageKey(candidate) === key
        ? message
        : messages.findIndex((other) => makeMessageKey(other) === key);
    if (index >= 0) indexes.add(index);
  }
  return indexes;
}

export function createPinEntries(
  pins: readonly MessageWithKey[],
  messages: readonly ApiMessage[],
  wantedIndexes: ReadonlySet<number>,
): LedgerEntry[] {
  const pinnedIndexes = getPinnedIndexes(pins, messages);
  const releaseEntries = pins
    .filter((pin) => {
      const [index] = getPinnedIndexes([pin], messages);
      return index !== undefined && !wantedIndexes.has(index);
    })
    .map((pin): LedgerEntry => ({ type: 'unpinned', ...pin }));
  const addedEntries = messages.flatMap((message, index): LedgerEntry[] =>
    wantedIndexes.has(index) && !pinnedIndexes.has(index)
      ? [{ type: 'pinned', message: index, key: makeMessageKey(message) }]
      : [],
  );
  return [...releaseEntries, ...addedEntries];
}
