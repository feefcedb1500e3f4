import { expect, it } from 'vitest';
import { parseLedgerEntry } from './ledgerEntry';

it('ledger entries with edits from before version 1.1 are read', () => {
  const base = { id: 'e', before: 'h', step: 'A pass', strict: false, tokensBefore: 9, tokensAfter: 1 };
  const place = { message: 1, path: ['content', 0] };
  const cut = { ...base, kind: 'cut', place, contentType: 'toolResults', cuts: [], reason: 'suppressed' };
  const block = { ...base, kind: 'block', place, reason: 'old' };
  const text = { text: 'image', reference: 'a1b2c3' };
  const entry = { type: 'condensed', condensation: { id: 'c', edits: [cut, { ...block, standIn: text }] } };
  expect(parseLedgerEntry(JSON.stringify(entry))).toEqual({
    type: 'condensed',
    condensation: {
      id: 'c',
      edits: [
        { ...cut, operation: 'suppress' },
        { ...block, operation: 'suppress', placeholder: text },
      ],
    },
  });
});

it.each([
  [{}, true],
  [{ messages: 7 }, true],
  [{ messages: -1 }, false],
  [{ messages: 1.5 }, false],
  [{ messages: '7' }, false],
  [{ messages: null }, false],
])('a ledger entry of an undo with the fields %j is read: %s', (fields, isRead) => {
  const entry = { type: 'undone', condensation: 'c', ...fields };
  expect(parseLedgerEntry(JSON.stringify(entry))).toEqual(isRead ? entry : undefined);
});
