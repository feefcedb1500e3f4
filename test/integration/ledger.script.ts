import type { LedgerEntry } from '../../src/core/condense/ledger/ledger';
import { makeCondensedEntry, makeExcludedEntry, makeUndoneEntry } from '../../src/storage/testing';

export const CONVERSATION = 'conversation of two processes';

export interface ScriptStep {
  readonly entry: LedgerEntry;
  readonly texts: readonly string[];
}

const condense = (id: string, texts: readonly string[]): ScriptStep => ({
  entry: makeCondensedEntry(id, texts),
  texts,
});

/** Entries that the process appends before it is killed. */
export const SCRIPT: readonly ScriptStep[] = [
  condense('c1', ['an original', '\ud83d a lone surrogate', 'long '.repeat(2000)]),
  condense('c2', ['an original', 'another one\n€']),
  { entry: makeUndoneEntry('c2'), texts: [] },
  { entry: makeExcludedEntry('c1', 0), texts: [] },
];

export const MANY = 200;

/** Entries that each of two processes appends at the same time. */
export const makeNumberedSteps = (name: string): ScriptStep[] =>
  Array.from({ length: MANY }, (_, index) =>
    condense(`${name}${index}`, [`original ${index}`, `only of ${name}${index} ${'x'.repeat(index * 20)}`]),
  );
