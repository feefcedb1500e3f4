import { describe, expect, it } from 'vitest';
import type { ApiMessage } from '../../messages/types';
import { foldEntries, type LedgerEntry } from './ledger';
import { pinEntries, pinnedIndexes } from './pins';

const messages: ApiMessage[] = ['task', 'answer', 'more', 'end'].map((content, index) => ({
  role: index % 2 === 0 ? 'user' : 'assistant',
  content,
}));

const pinned = (entries: readonly LedgerEntry[], now: readonly ApiMessage[] = messages): number[] => [
  ...pinnedIndexes(foldEntries(entries).pinned, now),
];

describe('pins', () => {
  it('are as they were wished for, after any number of wishes', () => {
    const entries: LedgerEntry[] = [];
    for (const wanted of [[1, 2], [2, 3], [], [0]]) {
      entries.push(...pinEntries(foldEntries(entries).pinned, messages, new Set(wanted)));
      expect(pinned(entries)).toEqual(wanted);
    }
  });

  it('need no entry where nothing changes', () => {
    const entries = pinEntries([], messages, new Set([1]));
    expect(pinEntries(foldEntries(entries).pinned, messages, new Set([1]))).toEqual([]);
  });

  it('follow their message, and one that is gone stands nowhere and stays', () => {
    const entries = pinEntries([], messages, new Set([2]));
    expect(pinned(entries, messages.slice(1))).toEqual([1]);
    expect(pinned(entries, messages.slice(0, 2))).toEqual([]);
    expect(pinEntries(foldEntries(entries).pinned, messages.slice(0, 2), new Set())).toEqual([]);
  });
});
