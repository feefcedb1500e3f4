import { existsSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, inject, it, vi } from 'vitest';
import { temporaryFolder } from '../../test/support/temporaryFolder';
import { nothingToGain, makeTranscript, writeTranscript } from '../../test/support/transcript';
import { makeToolExchange, user } from '../core/testing';
import * as savings from '../account/savedPerRequest';
import { loadTokenCounter } from '../storage/assets';
import { listLedgers, openLedger } from '../storage/ledgerStore';
import { nodeFiles } from '../storage/nodeFiles';
import { performTask } from './perform';
import type { CondenseTask, ExportTask, TaskProgress, TaskResult, UndoTask } from './tasks';
import type { CondensedResult } from './taskResults';

let folder: string;
let path: string;
let store: string;
let reported: TaskProgress[];

beforeEach(() => {
  folder = temporaryFolder();
  path = writeTranscript(folder);
  store = join(folder, 'store');
  reported = [];
});

afterEach(() => {
  vi.restoreAllMocks();
});

const task = (changes: Partial<CondenseTask> = {}): CondenseTask => ({
  kind: 'condense',
  path,
  history: 'active',
  provider: 'lossless',
  config: undefined,
  targetPercent: 50,
  store,
  ...changes,
});

/** Exports the condensed conversation and returns its messages. */
async function exportMessages(): Promise<readonly unknown[]> {
  const task = { kind: 'export', path, history: 'active', store, target: 'anthropic', isCondensed: true } as const;
  const { text } = (await performStoredTask(task)) as TaskResult<ExportTask>;
  return (JSON.parse(text) as { readonly messages: readonly unknown[] }).messages;
}

const performStoredTask = (what: CondenseTask | ExportTask | UndoTask): Promise<unknown> =>
  performTask(what, {
    tokens: () => loadTokenCounter(inject('assets')),
    onProgress: (progress) => reported.push(progress),
    signal: new AbortController().signal,
  });

describe('condensing a stored conversation', () => {
  it('keeps the result if computing its saving fails', async () => {
    vi.spyOn(savings, 'computeSavingPerRequest').mockRejectedValueOnce(new Error('The table of prices is not there.'));
    const result = (await performStoredTask(task())) as CondensedResult;
    expect(result).toMatchObject({ kind: 'condensed' });
    expect(result.savedPerRequest).toBeUndefined();
    const { ledger } = await openLedger(store, { id: 'claude-code:session-1' });
    expect(ledger.condensations).toHaveLength(1);
  });

  it('leaves excluded messages unchanged', async () => {
    const all = (await performStoredTask(task())) as CondensedResult;
    const ledger = await openLedger(store, { id: 'claude-code:session-1' });
    const places = ledger.ledger.condensations[0]!.edits.flatMap((edit) =>
      'place' in edit ? [edit.place.message] : [],
    );
    const [first = 0] = places;
    const condensed = await exportMessages();
    const excluded = [first];
    const some = (await performStoredTask(task({ excluded }))) as CondensedResult;
    expect(some.tokensAfter).toBeGreaterThan(all.tokensAfter);
    expect((await exportMessages())[first]).not.toEqual(condensed[first]);
    expect(some.edits).toBe(all.edits - places.filter((message) => message === first).length);
  });

  it('condenses down to the target, keeps the originals, and returns the texts and the report to show', async () => {
    const result = (await performStoredTask(task())) as CondensedResult;
    expect(result.kind).toBe('condensed');
    expect(result.targetTokens).toBe(Math.ceil(result.tokensBefore / 2));
    expect(result.report).toContain('Context condensed using Lossless');
    expect(result.before.split('━━━ ').length).toBe(result.after.split('━━━ ').length);
    expect(await exportMessages()).toMatchObject([{ role: 'user' }, {}, {}, {}, {}, {}, {}, {}]);
    const ledger = await openLedger(store, { id: 'claude-code:session-1' });
    expect(ledger.ledger.condensations).toHaveLength(1);
    expect(reported.map(({ step }) => step)).toEqual(
      expect.arrayContaining(['Reading the conversation', 'Keeping the originals']),
    );
  });

  it('gives a tool result the same heading in the texts before and after, even if its command was removed', async () => {
    const steps = Array.from({ length: 9 }, (_, step) =>
      makeToolExchange(`t${step}`, 'Bash', { command: `run step ${step} # ${'why '.repeat(200)}` }, 'ok'),
    );
    writeFileSync(path, JSON.stringify({ messages: [user('Run the steps.'), ...steps.flat()] }));
    const config = { preserveRecentCount: 0, toolParameters: { mode: 'suppress' } };
    const { before, after } = (await performStoredTask(task({ provider: 'truncation', config }))) as CondensedResult;
    expect(after.split('run step 0 #')).toHaveLength(2);
    expect(after.match(/^◀ .*$/gm)).toEqual(before.match(/^◀ .*$/gm));
  });

  it('can undo the last condensation once', async () => {
    await performStoredTask(task());
    const undo = { kind: 'undo', conversation: 'claude-code:session-1', store } as const;
    expect(await performStoredTask(undo)).toEqual({ undone: { provider: 'lossless', edits: expect.any(Number) } });
    expect(await performStoredTask(undo)).toEqual({ undone: undefined });
  });

  it('sets aside ledgers that were unused for a month, and reports if it cannot', async () => {
    await performStoredTask(task());
    const [old] = await listLedgers(store);
    const long = Date.now() / 1000 - 31 * 24 * 3_600;
    for (const name of readdirSync(old!.folder)) {
      // A ledger that a running process has opened is in use regardless of age.
      if (name.startsWith('held-')) rmSync(join(old!.folder, name));
      else utimesSync(join(old!.folder, name), long, long);
    }
    const other = join(folder, 'session-2.jsonl');
    writeFileSync(other, makeTranscript().replaceAll('session-1', 'session-2'));
    // The first start after a long pause removes nothing, since the clock may be wrong.
    expect(await performStoredTask(task({ path: other }))).toMatchObject({ kind: 'condensed', notes: [] });
    // Another window has used the ledgers since and was closed.
    for (const { folder: used } of await listLedgers(store))
      for (const name of readdirSync(used)) if (name.startsWith('held-')) rmSync(join(used, name));
    const third = join(folder, 'session-3.jsonl');
    writeFileSync(third, makeTranscript().replaceAll('session-1', 'session-3'));
    expect(await performStoredTask(task({ path: third }))).toMatchObject({
      kind: 'condensed',
      notes: [expect.stringContaining('1 ledger not used lately was set aside')],
    });
    expect(existsSync(old!.folder)).toBe(false);
    vi.spyOn(nodeFiles, 'list').mockRejectedValue(Object.assign(new Error('EIO'), { code: 'EIO' }));
    const { notes } = (await performStoredTask(task({ path: other }))) as CondensedResult;
    expect(notes).toEqual([expect.stringContaining('Old ledgers were not removed.')]);
  });

  it('says why nothing was condensed', async () => {
    writeFileSync(path, makeTranscript(nothingToGain()));
    expect(await performStoredTask(task())).toMatchObject({ kind: 'not-condensed', reason: 'nothing-to-gain' });
    expect(await performStoredTask(task({ targetPercent: 100 }))).toMatchObject({ reason: 'target-met' });
  });

  it('rejects an unknown provider, naming it', async () => {
    await expect(performStoredTask(task({ provider: 'magic' }))).rejects.toThrow('There is no provider "magic"');
  });
});

it('a missing token table is reported with a remedy', async () => {
  await expect(loadTokenCounter(folder)).rejects.toThrow(/o200k\.bin can’t be read\. Build or install/);
});
