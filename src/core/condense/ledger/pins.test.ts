import { describe, expect, it } from 'vitest';
import type { ApiMessage } from '../../messages/types';
import { buildLedger, type LedgerEntry } from './ledger';
import { createPinEntries, getPinnedIndexes } from './pins';

const messages: ApiMessage[] = ['task', 'answer', 'more', 'end'].map((content, index) => ({
  role: index % 2 === 0 ? 'user' : 'assistant',
  content,
}));

const pinned = (entries: readonly LedgerEntry[], now: readonly ApiMessage[] = messages): number[] => [
  ...getPinnedIndexes(buildLedger(entries).pinned, now),
];

describe('matching pins to messages', () => {
  it('yields the pins of the latest request after any number of requests', () => {
    const entries: LedgerEntry[] = [];
    for (const wanted of [[1, 2], [2, 3], [], [0]]) {
      entries.push(...createPinEntries(buildLedger(entries).pinned, messages, new Set(wanted)));
      expect(pinned(entries)).toEqual(wanted);
    }
  });

  it('adds no ledger entry if the pins do not change', () => {
    const entries = createPinEntries([], messages, new Set([1]));
    expect(createPinEntries(buildLedger(entries).pinned, messages, new Set([1]))).toEqual([]);
  });

  it('follows moved messages, and skips but keeps pins of removed messages', () => {
    const entries = createPinEntries([], messages, new Set([2]));
    expect(pinned(entries, messages.slice(1))).toEqual([1]);
    expect(pinned(entries, messages.slice(0, 2))).toEqual([]);
    expect(createPinEntries(buildLedger(entries).pinned, messages.slice(0, 2), new Set())).toEqual([]);
  });
});
