import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { nodeFiles } from '../../storage/nodeFiles';
import { FOLDER_MARKER_FILE_NAME } from '../../storage/ownFolder';
import { createSystemError } from '../../storage/testing';
import { openTestWindow, stubHome } from '../../../test/support/testWindow';
import { writeTranscript } from '../../../test/support/transcript';
import { fake } from '../../../test/support/vscode';
import type { LedgerOutline } from '../../background/taskResults';
import type { CondensationId } from '../../core/condense/ledger/ledger';
import type { RunMetrics } from '../../core/condense/metrics/metrics';
import { condenseNow } from '../condenseNow';
import { openMetricsStore } from '../../window/metrics';
import type { Services } from '../../window/services';
import { hashText } from '../../core/hash';
import { getLedgerFolder, getSummaries } from '../../window/background';
import { createHistoryEntries, type HistoryEntry } from './entries';
import { renderHistory } from './historyFile';
import { undoOrRedoCondensation, clearHistory, exportHistory, readHistory, showCondensation } from './index';
import { MARKER_START } from '../../core/messages/markers';

let home: string;
let file: string;
let services: Services;
const signal = new AbortController().signal;

beforeEach(() => {
  ({ home, services } = openTestWindow());
  stubHome(home);
  file = writeTranscript(home);
});

const only = async (): Promise<HistoryEntry> => {
  const { entries } = await readHistory(services, signal);
  expect(entries).toHaveLength(1);
  return entries[0]!;
};

describe('the History view', () => {
  it('lists condensations with measurements and passes, and can undo and redo them', async () => {
    expect(await readHistory(services, signal)).toEqual({ entries: [], runs: [] });
    await condenseNow(services, file);
    const entry = await only();
    const [run] = await openMetricsStore(services).readRuns();
    expect(run).toMatchObject({ condensation: entry.condensation, provider: 'lossless', trigger: 'by-hand' });
    expect(entry).toMatchObject({ place: 'stored', path: file, provider: 'lossless', state: 'shown', change: 'undo' });
    expect(entry.timeMs).toBe(run!.timeMs);
    expect(entry.passes.length).toBeGreaterThan(0);
    expect(entry.tokensAfter).toBeLessThan(entry.tokensBefore);
    await undoOrRedoCondensation(services, entry, true);
    expect(await only()).toMatchObject({ state: 'undone', change: 'redo' });
    await undoOrRedoCondensation(services, entry, false);
    expect(await only()).toMatchObject({ state: 'shown', change: 'undo' });
  });

  it('marks condensations of conversations whose file was deleted', async () => {
    await condenseNow(services, file);
    expect((await only()).isGone).toBeUndefined();
    rmSync(file);
    expect((await only()).isGone).toBe(true);
  });

  it('does not call the file of a conversation deleted if it cannot be checked', async () => {
    await condenseNow(services, file);
    rmSync(file);
    const readStatus = nodeFiles.status;
    const status = vi
      .spyOn(nodeFiles, 'status')
      .mockImplementation((path) => (path === file ? Promise.reject(createSystemError('EACCES')) : readStatus(path)));
    onTestFinished(() => {
      status.mockRestore();
    });
    expect((await only()).isGone).toBeUndefined();
  });

  it('shows what a condensation removed, even if it was undone', async () => {
    await condenseNow(services, file);
    const entry = await only();
    await undoOrRedoCondensation(services, entry, true);
    const add = vi.spyOn(services.comparisons, 'addComparison');
    await showCondensation(services, entry);
    const { before, after, by } = add.mock.calls[0]![0];
    expect(by).toBe('Lossless');
    expect(after).toContain(MARKER_START);
    expect(before).not.toContain(MARKER_START);
    expect(fake.executed.at(-1)?.[0]).toBe('vscode.diff');
  });

  it("explains why an entry can't be changed", async () => {
    await condenseNow(services, file);
    const entry = await only();
    rmSync(file);
    await expect(showCondensation(services, entry)).rejects.toThrow(/session-1/);
    const subject = { conversation: 'gone', condensation: 'x' };
    await expect(showCondensation(services, { ...subject, place: 'stored' })).rejects.toThrow(
      'The file of this conversation is not known',
    );
    await expect(showCondensation(services, { ...subject, place: 'live' })).rejects.toThrow('no longer in memory');
    await expect(undoOrRedoCondensation(services, { ...subject, place: 'live' }, true)).rejects.toThrow(
      'no longer in memory',
    );
  });

  it('can be exported whole to a file', async () => {
    await condenseNow(services, file);
    expect(await exportHistory(services, 'json', signal)).toBe(false);
    fake.saveFile = join(home, 'history.json');
    expect(await exportHistory(services, 'json', signal)).toBe(true);
    const { entries } = JSON.parse(readFileSync(fake.saveFile, 'utf8')) as { entries: unknown[] };
    expect(entries).toEqual([await only()]);
  });

  it('is deleted only after confirmation, with measurements and ledgers separately', async () => {
    await condenseNow(services, file);
    expect(await clearHistory(services, 'ledgers')).toBe(false);
    expect((await readHistory(services, signal)).entries).toHaveLength(1);
    fake.answers = ['Remove'];
    expect(await clearHistory(services, 'metrics')).toBe(true);
    const { entries, runs } = await readHistory(services, signal);
    expect([entries.length, runs.length]).toEqual([1, 0]);
    const paid = hashText('paid');
    await getSummaries(services).set(paid, 'A summary.');
    fake.answers = ['Remove'];
    expect(await clearHistory(services, 'ledgers')).toBe(true);
    expect(await getSummaries(services).get(paid)).toBeUndefined();
    expect(await readHistory(services, signal)).toEqual({ entries: [], runs: [] });
    expect(readdirSync(getLedgerFolder(services))).toEqual([FOLDER_MARKER_FILE_NAME]);
    expect(existsSync(file)).toBe(true);
  });
});

describe('entries in the History view', () => {
  const condensation = (id: string, changes: object = {}): LedgerOutline['condensations'][number] => ({
    id: id as CondensationId,
    at: `2026-01-01T00:00:0${id}.000Z`,
    provider: 'lossless',
    tokensBefore: 10,
    tokensAfter: 5,
    isUndone: false,
    isReplaced: false,
    steps: [],
    ...changes,
  });

  it("can't be changed if their chat isn't in memory, and omit condensations that only restored references", () => {
    const ledger: LedgerOutline = {
      conversation: 'live-1',
      condensations: [
        condensation('1', { isReplaced: true, cost: 0.5 }),
        condensation('2'),
        condensation('3', { provider: 'restored-references' }),
        condensation('4', { isUndone: true }),
      ],
    };
    const run = { fallback: true, preset: 'speed', savedPerRequest: 0.1, timeMs: 7 } as RunMetrics;
    const runs = new Map([['2' as CondensationId, run]]);
    const listed = createHistoryEntries(
      [ledger],
      'live',
      runs,
      () => true,
      () => true,
    );
    expect(listed.map(({ condensation: id, state, change }) => [id, state, change])).toEqual([
      ['4', 'undone', 'redo'],
      ['2', 'shown', 'undo'],
      ['1', 'replaced', undefined],
    ]);
    expect(listed[1]).toMatchObject({ isFallback: true, preset: 'speed', savedPerRequest: 0.1, timeMs: 7 });
    const idle = createHistoryEntries(
      [ledger],
      'live',
      runs,
      () => false,
      () => true,
    );
    expect(idle.every(({ change }) => change === undefined)).toBe(true);
  });
});

describe('the history as CSV', () => {
  const entry: HistoryEntry = {
    condensation: '1' as CondensationId,
    conversation: 'c',
    title: 'A "task", long',
    place: 'stored',
    at: '2026-01-01T00:00:00.000Z',
    provider: 'smart',
    passes: [{ name: 'One', tokensBefore: 9, tokensAfter: 8 }],
    tokensBefore: 10,
    tokensAfter: 5,
    timeMs: 1,
    isInUse: false,
    isFallback: false,
    state: 'shown',
    rereads: 7,
  };

  it('quotes commas and quotes, and escapes formulas', () => {
    const [head, line] = renderHistory([entry], 'csv').split('\r\n');
    expect(head).toMatch(/^at,title,conversation,/);
    expect(line).toContain('"A ""task"", long",c,stored,,smart,,One,10,5,1,,,,7,,false,shown');
    expect(renderHistory([{ ...entry, title: '=1+2' }], 'csv')).toContain(",'=1+2,");
  });

  it('preserves any title', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (title) => {
        const line = renderHistory([{ ...entry, title }], 'csv')
          .split('\r\n')
          .slice(1)
          .join('\r\n')
          .slice(0, -2);
        const cells = [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,"]*))/gy)];
        expect(cells).toHaveLength(18);
        const [, quoted, plain = ''] = cells[1] ?? [];
        expect((quoted?.replaceAll('""', '"') ?? plain).replace(/^'(?=[=+\-@\t\r])/, '')).toBe(title);
      }),
    );
  });
});
