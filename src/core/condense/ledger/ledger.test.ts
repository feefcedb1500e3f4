import { describe, expect, it } from 'vitest';
import { readCpuMs } from '../../testing';
import { hashText, type Hash } from '../../hash';
import type { MessageKey } from '../../messages/messageKey';
import type { Edit, EditId } from '../edits/edits';
import {
  getActiveCondensations,
  getActiveEdits,
  applyEntry,
  getEditsAfterCondensation,
  EMPTY_LEDGER,
  getExcludedEdits,
  buildLedger,
  createToggleEditEntry,
  createUndoEntry,
  hashView,
  type Condensation,
  type CondensationId,
  type Ledger,
  type LedgerEntry,
} from './ledger';

const id = (name: string): CondensationId => name as CondensationId;
const editId = (name: string): EditId => name as EditId;

/** Creates an edit called `name` of the message at `message`. */
const edit = (name: string, message: number): Edit => ({
  kind: 'cut',
  id: editId(name),
  place: { message, path: ['content'] },
  contentType: 'messageText',
  operation: 'cut',
  before: 'h' as Hash,
  cuts: [],
  step: 's',
  reason: 'r',
  strict: true,
  tokensBefore: 2,
  tokensAfter: 1,
});

const condensed = (name: string, base: Condensation['base'], ...edits: Edit[]): LedgerEntry => ({
  type: 'condensed',
  condensation: {
    id: id(name),
    at: '2025-01-01T00:00:00Z',
    provider: 'lossless',
    base,
    edits,
    steps: [],
    tokensBefore: 2,
    tokensAfter: 1,
    cost: 0,
    viewHash: 'v',
  },
});

const redone = (name: string): LedgerEntry => ({ type: 'redone', condensation: id(name) });

const listActiveCondensations = (ledger: Ledger): string[] => getActiveCondensations(ledger).map((one) => one.id);
const listActiveEdits = (ledger: Ledger): string[] => getActiveEdits(ledger).map((one) => one.id);
/** Returns the ledger after adding the entry that a function makes for it. */
const addEntry = (ledger: Ledger, next: (ledger: Ledger) => LedgerEntry | undefined): Ledger => {
  const entry = next(ledger);
  if (!entry) throw new Error('no entry');
  return applyEntry(ledger, entry);
};

describe('condensations stored in a ledger', () => {
  it('apply together, and the last edit of a place takes precedence', () => {
    const ledger = buildLedger([
      condensed('c1', 'original', edit('a1', 1), edit('b1', 2)),
      condensed('c2', 'view', edit('a2', 1)),
    ]);
    expect(listActiveCondensations(ledger)).toEqual(['c1', 'c2']);
    expect(listActiveEdits(ledger)).toEqual(['a2', 'b1']);
  });

  it('replace earlier ones if they were made from the original conversation', () => {
    const ledger = buildLedger([condensed('c1', 'view', edit('a1', 1)), condensed('c2', 'original', edit('b2', 2))]);
    expect(listActiveCondensations(ledger)).toEqual(['c2']);
    expect(listActiveEdits(ledger)).toEqual(['b2']);
    expect(listActiveCondensations(addEntry(ledger, createUndoEntry))).toEqual([]);
    expect(listActiveCondensations(applyEntry(addEntry(ledger, createUndoEntry), redone('c2')))).toEqual(['c2']);
  });

  it('leave no edits and nothing to undo if there are none', () => {
    expect(listActiveCondensations(EMPTY_LEDGER)).toEqual([]);
    expect(createUndoEntry(EMPTY_LEDGER)).toBeUndefined();
    expect(createToggleEditEntry(EMPTY_LEDGER, editId('a'))).toBeUndefined();
  });

  it('ignore entries with unknown IDs', () => {
    const ledger = buildLedger([condensed('c1', 'view', edit('a1', 1))]);
    const strangers: LedgerEntry[] = [
      { type: 'undone', condensation: id('c2') },
      redone('c2'),
      { type: 'excluded', condensation: id('c2'), edit: editId('a1') },
      { type: 'excluded', condensation: id('c1'), edit: editId('zz') },
      { type: 'included', condensation: id('c1'), edit: editId('a1') },
    ];
    for (const entry of strangers) expect(applyEntry(ledger, entry)).toEqual(ledger);
    expect(listActiveCondensations(buildLedger([...strangers, condensed('c2', 'view')]))).toEqual(['c2']);
  });

  it('count once if they were recorded twice', () => {
    expect(listActiveCondensations(buildLedger([condensed('c1', 'view'), condensed('c1', 'view')]))).toEqual(['c1']);
  });
});

describe('undoing condensations in a ledger', () => {
  const three = buildLedger([condensed('c1', 'view'), condensed('c2', 'view'), condensed('c3', 'view')]);

  it('goes back one condensation at a time, and a redone condensation applies again', () => {
    const back = addEntry(addEntry(three, createUndoEntry), createUndoEntry);
    expect(listActiveCondensations(back)).toEqual(['c1']);
    expect(listActiveCondensations(applyEntry(back, redone('c2')))).toEqual(['c1', 'c2']);
    expect(listActiveCondensations(applyEntry(back, redone('c3')))).toEqual(['c1', 'c3']);
  });

  it('can go back to the original conversation', () => {
    const none = addEntry(addEntry(addEntry(three, createUndoEntry), createUndoEntry), createUndoEntry);
    expect(listActiveCondensations(none)).toEqual([]);
    expect(createUndoEntry(none)).toBeUndefined();
  });

  it('stops at the last condensation made from the original', () => {
    const none = addEntry(applyEntry(addEntry(three, createUndoEntry), condensed('c4', 'original')), createUndoEntry);
    expect(listActiveCondensations(none)).toEqual([]);
    expect(createUndoEntry(none)).toBeUndefined();
  });

  it('leaves out the undone condensations once a new one is made', () => {
    const ledger = applyEntry(addEntry(three, createUndoEntry), condensed('c4', 'view'));
    expect(listActiveCondensations(ledger)).toEqual(['c1', 'c2', 'c4']);
  });
});

describe('an excluded edit in a ledger of condensations', () => {
  const ledger = buildLedger([
    condensed('c1', 'view', edit('a1', 1)),
    condensed('c2', 'view', edit('a2', 1), edit('b2', 2)),
  ]);
  const toggle = (name: string) => (state: Ledger) => createToggleEditEntry(state, editId(name));

  it('reveals the previous edit of its place, and can be included again', () => {
    const without = addEntry(ledger, toggle('a2'));
    expect(listActiveEdits(without)).toEqual(['a1', 'b2']);
    expect(listActiveEdits(addEntry(without, toggle('a1')))).toEqual(['b2']);
    expect(listActiveEdits(addEntry(without, toggle('a2')))).toEqual(['a2', 'b2']);
  });

  it('is listed only if it would apply: it is the last edit of its place, and no later one applies', () => {
    const named = (state: Ledger): string[] => getExcludedEdits(state).map((one) => one.id);
    expect(named(ledger)).toEqual([]);
    const without = addEntry(ledger, toggle('a2'));
    expect(named(without)).toEqual(['a2']);
    expect(named(addEntry(without, toggle('a1')))).toEqual(['a2']);
    expect(named(addEntry(ledger, toggle('a1')))).toEqual([]);
    expect(named(addEntry(without, createUndoEntry))).toEqual([]);
    const again = applyEntry(without, condensed('c3', 'view', edit('a2', 1)));
    expect(named(again)).toEqual([]);
    expect(getExcludedEdits(without, () => [])).toEqual([]);
  });

  it('stays excluded after its condensation is undone and redone', () => {
    const without = addEntry(ledger, toggle('b2'));
    expect(listActiveEdits(applyEntry(addEntry(without, createUndoEntry), redone('c2')))).toEqual(['a2']);
  });

  it('belongs to the condensation that was visible if several contain the same edit', () => {
    const again = buildLedger([
      condensed('c1', 'view', edit('a', 1)),
      condensed('c2', 'view', edit('a', 1)),
      { type: 'undone', condensation: id('c2') },
    ]);
    expect(createToggleEditEntry(again, editId('a'))).toEqual({ type: 'excluded', condensation: 'c1', edit: 'a' });
    expect(createToggleEditEntry(addEntry(again, createUndoEntry), editId('a'))).toMatchObject({ condensation: 'c2' });
  });
});

it('applying 10,000 entries of a ledger of condensations is fast', () => {
  const edits = Array.from({ length: 100 }, (_, index) => edit(`e${index}`, index));
  const entries: LedgerEntry[] = [condensed('c', 'view', ...edits)];
  for (let index = 0; index < 10_000; index++) {
    entries.push({ type: index % 3 ? 'excluded' : 'included', condensation: id('c'), edit: editId(`e${index % 100}`) });
  }
  const started = readCpuMs();
  buildLedger(entries);
  expect(readCpuMs() - started).toBeLessThan(500);
});

describe('the edits that apply after a condensation', () => {
  it('are its own and those of the condensations that it was based on', () => {
    const ledger = buildLedger([
      condensed('c1', 'view', edit('a1', 1)),
      condensed('c2', 'original', edit('a2', 1)),
      condensed('c3', 'view', edit('b3', 2)),
    ]);
    const shownBy = (name: string): string[] => getEditsAfterCondensation(ledger, id(name)).map((one) => one.id);
    expect(['c1', 'c2', 'c3', 'c4'].map(shownBy)).toEqual([['a1'], ['a2'], ['a2', 'b3'], []]);
  });

  it('exclude edits that were undone or excluded when the condensation was made', () => {
    const entries = [
      condensed('c1', 'view', edit('a1', 1), edit('b1', 2)),
      condensed('c2', 'view', edit('c2', 3)),
      { type: 'excluded', condensation: id('c1'), edit: editId('a1') },
      { type: 'undone', condensation: id('c2') },
      condensed('c3', 'view', edit('d3', 4)),
      { type: 'included', condensation: id('c1'), edit: editId('a1') },
      redone('c2'),
    ] as const satisfies readonly LedgerEntry[];
    const ledger = buildLedger(entries);
    const shownBy = (name: string): string[] => getEditsAfterCondensation(ledger, id(name)).map((one) => one.id);
    expect(['c1', 'c2', 'c3'].map(shownBy)).toEqual([
      ['a1', 'b1'],
      ['a1', 'b1', 'c2'],
      ['b1', 'd3'],
    ]);
  });
});

describe('pinned messages in a ledger', () => {
  const key = (name: string): MessageKey => name as MessageKey;

  it('are kept until they are unpinned', () => {
    const pinned = buildLedger([
      { type: 'pinned', message: 3, key: key('a') },
      { type: 'pinned', message: 4, key: key('b') },
      { type: 'pinned', message: 3, key: key('a') },
    ]);
    expect(pinned.pinned).toEqual([
      { message: 4, key: 'b' },
      { message: 3, key: 'a' },
    ]);
    expect(applyEntry(pinned, { type: 'unpinned', message: 3, key: key('b') }).pinned).toHaveLength(2);
    expect(applyEntry(pinned, { type: 'unpinned', message: 3, key: key('a') }).pinned).toEqual([
      { message: 4, key: 'b' },
    ]);
  });
});

describe("a ledger's edits of a conversation whose messages moved", () => {
  it('are moved condensation by condensation, without excluded edits', () => {
    const ledger = buildLedger([
      condensed('c1', 'view', edit('a1', 1), edit('b1', 2)),
      condensed('c2', 'view', edit('c2', 3)),
      { type: 'excluded', condensation: id('c1'), edit: editId('a1') },
    ]);
    const asked: string[] = [];
    const edits = getActiveEdits(ledger, (own, condensation) => {
      asked.push(`${condensation.id}: ${own.map((one) => one.id).join(' ')}`);
      return condensation.id === id('c1') ? [] : own;
    });
    expect(asked).toEqual(['c1: b1', 'c2: c2']);
    expect(edits.map((one) => one.id)).toEqual(['c2']);
  });
});

it('the hash of a condensed conversation is the hash of its JSON, however it was created', () => {
  for (const texts of [[], ['one'], ['häß 🎉', 'a\ud800', '"two"']]) {
    const messages = texts.map((content) => ({ role: 'user', content }) as const);
    expect(hashView(messages)).toBe(hashText(JSON.stringify(messages)));
  }
});
