import { expect, it } from 'vitest';
import { upgradeStoredEdit } from './storedEdits';

const old = { kind: 'cut', step: 'A pass', strict: false };

it.each([
  [{ ...old, reason: 'suppressed' }, 'suppress'],
  [{ ...old, reason: 'suppressed as old' }, 'suppress'],
  [{ ...old, reason: 'truncated, summarized' }, 'summarize'],
  [{ ...old, reason: 'left out' }, 'thin'],
  [{ ...old, reason: 'the file was neither read nor edited for 12 turns' }, 'outline'],
  [{ ...old, reason: 'keeps what another pass suppressed' }, 'cut'],
  [{ ...old, reason: 'the same text stands in another result', strict: true }, 'reference'],
  [{ ...old, reason: 'the copy was taken out', step: 'Restored references' }, 'restore'],
  [{ ...old, kind: 'block', reason: 'old' }, 'suppress'],
  [{ ...old, kind: 'summary', reason: 'anything' }, 'summarize'],
])('an edit stored before version 1.1 gets an operation derived from its kind and reason: %j', (edit, operation) => {
  expect(upgradeStoredEdit(edit)).toEqual({ ...edit, operation });
});

it('the block text of an edit stored by an old version is renamed to the current field', () => {
  const text = { text: 'a marker', reference: 'a1b2c3' };
  const edit = { ...old, kind: 'block', reason: 'old' };
  expect(upgradeStoredEdit({ ...edit, standIn: text })).toEqual({ ...edit, operation: 'suppress', placeholder: text });
});

it('a stored edit of the current version stays unchanged', () => {
  const edit = { ...old, reason: 'suppressed', operation: 'truncate', placeholder: { text: 'a', reference: 'b' } };
  expect(upgradeStoredEdit(edit)).toEqual(edit);
});

it.each([undefined, null, 7, 'text'])('a stored value that is not an edit is passed through: %j', (value) => {
  expect(upgradeStoredEdit(value)).toBe(value);
});
