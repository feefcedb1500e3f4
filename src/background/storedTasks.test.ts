/** Tests all user actions on a stored conversation, as the worker performs them. */
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, inject, it } from 'vitest';
import type { CondensationId } from '../core/condense/ledger/ledger';
import { temporaryFolder } from '../../test/support/temporaryFolder';
import { boundary, jsonl, summary, user } from '../../test/fixtures/conversations/claudeCodeLines';
import { makeTranscript, writeTranscript } from '../../test/support/transcript';
import { JUDGED_CHOICES } from '../core/condense/futureNeed/judgedChoices';
import { makeFileOld, writeClaudeSession, writeZooTask } from '../giveBack/testing';
import { loadTokenCounter } from '../storage/assets';
import { performTask } from './perform';
import type { Task, TaskProgress, TaskResult } from './tasks';

const ID = 'claude-code:session-1';
let folder: string;
let path: string;
let store: string;
let replacements: string;
let reported: TaskProgress[];

beforeEach(() => {
  folder = temporaryFolder();
  path = writeTranscript(folder);
  store = join(folder, 'store');
  replacements = join(folder, 'replacements');
  reported = [];
});

/** The worker's contract defines the result type of each task. */
const performStoredTask = async <T extends Task>(task: T): Promise<TaskResult<T>> =>
  (await performTask(task, {
    tokens: () => loadTokenCounter(inject('assets')),
    onProgress: (progress) => reported.push(progress),
    signal: new AbortController().signal,
  })) as TaskResult<T>;

const stored = () => ({ path, history: 'active', store }) as const;
const condense = () =>
  performStoredTask({ kind: 'condense', ...stored(), provider: 'lossless', config: undefined, targetPercent: 50 });
const outlines = async (since = 0) => performStoredTask({ kind: 'ledgers', store, replacements, since });

describe('a stored conversation that was condensed', () => {
  it('is listed with its condensations, and in later listings only if it was used since the last one', async () => {
    expect(await outlines()).toEqual({ known: [], ledgers: [], lastUsed: 0, givenBack: [] });
    await condense();
    const { ledgers, lastUsed } = await outlines();
    expect(ledgers).toMatchObject([
      {
        conversation: ID,
        title: 'Rename value7 in src/values.ts',
        path,
        condensations: [{ provider: 'lossless', isUndone: false, isReplaced: false, cost: 0 }],
      },
    ]);
    const [condensation] = ledgers[0]!.condensations;
    expect(condensation!.tokensAfter).toBeLessThan(condensation!.tokensBefore);
    expect(await outlines(lastUsed)).toMatchObject({ known: [ID], ledgers: [], lastUsed });
  });

  it('is shown before and after condensing, without condensations that were undone, unless they were redone', async () => {
    const original = await performStoredTask({ kind: 'show', ...stored() });
    expect(original.after).toBe(original.before);
    await condense();
    const shown = await performStoredTask({ kind: 'show', ...stored() });
    expect(original.firstChange).toBeUndefined();
    expect(shown.firstChange).toBeGreaterThan(0);
    expect(shown.after.length).toBeLessThan(shown.before.length);
    const condensation = (await outlines()).ledgers[0]!.condensations[0]!.id;
    const change = { kind: 'set-undone', conversation: ID, condensation, store } as const;
    await performStoredTask({ ...change, isUndone: true });
    expect((await outlines()).ledgers[0]!.condensations[0]!.isUndone).toBe(true);
    expect((await performStoredTask({ kind: 'show', ...stored() })).after).toBe(original.before);
    // The condensation's earlier view remains available.
    expect((await performStoredTask({ kind: 'show', ...stored(), condensation })).after).toBe(shown.after);
    await expect(
      performStoredTask({ ...change, condensation: 'gone' as CondensationId, isUndone: false }),
    ).rejects.toThrow('no longer in the history');
    await performStoredTask({ ...change, isUndone: false });
    expect((await performStoredTask({ kind: 'show', ...stored() })).after).toBe(shown.after);
  });

  it('reports its damaged line in the opened text, the result and the report', async () => {
    const lines = readFileSync(path, 'utf8').trimEnd().split('\n');
    const last = lines.length - 1;
    writeFileSync(path, [...lines.slice(0, last), '{"type":"user","mess', ...lines.slice(last), ''].join('\n'));
    const [damage = '', ...others] = (await performStoredTask({ kind: 'text', ...stored() })).notes;
    expect(damage).toMatch(/^Line \d+ is damaged; skipped \d+ bytes/);
    expect(others).toEqual([]);
    expect(await condense()).toMatchObject({ notes: [damage] });
    const report = { kind: 'report', ...stored(), withoutContent: true, version: '1.2.3' } as const;
    expect((await performStoredTask(report)).page).toContain(`Line ${lines.length} is damaged`);
  });

  it('says above the opened text what its agent compacted away', async () => {
    const compacted = [user('u1', null, 'the task'), boundary('b1', 'u1'), summary('s1', 'b1')];
    writeFileSync(path, jsonl(...compacted));
    expect((await performStoredTask({ kind: 'text', ...stored() })).notes).toEqual([
      expect.stringMatching(/^Left out, before the last compaction: 1 message \(/),
    ]);
  });

  it('can be exported as it was or condensed', async () => {
    await condense();
    const task = { kind: 'export', ...stored(), target: 'markdown' } as const;
    const whole = await performStoredTask({ ...task, isCondensed: false });
    const condensed = await performStoredTask({ ...task, isCondensed: true });
    expect(whole.extension).toBe('md');
    // The conversation reads the file twice.
    expect(whole.text.split("compute(7, 'name-1')")).toHaveLength(3);
    expect(condensed.text.split("compute(7, 'name-1')")).toHaveLength(2);
  });

  it('can be shown as a readable page, and as a report after it was condensed', async () => {
    const report = { kind: 'report', ...stored(), withoutContent: true, version: '1.2.3' } as const;
    expect(await performStoredTask(report)).toMatchObject({ page: undefined });
    await condense();
    const { page } = await performStoredTask(report);
    expect(page).toContain('Lossless');
    expect(page).not.toContain('name-17');
    expect((await performStoredTask({ ...report, withoutContent: false })).page).toContain('name-17');
    // For a copy, the report shows the fill level that the list of conversations estimated.
    const fill = { tokens: 508, window: 1_000, isRecorded: false, fromOriginal: { renewed: 4 } };
    expect((await performStoredTask({ ...report, fill })).page).toContain(
      'was ≈ 51% full: ≈ 508 of 1,000 tokens, estimated from',
    );
    const read = await performStoredTask({ kind: 'read', ...stored(), nonce: 'n0nce' });
    expect(read.conversation.title).toBe('Rename value7 in src/values.ts');
    expect(read.page).toContain('n0nce');
  });

  it('returns its originals by reference', async () => {
    const list = { kind: 'references', conversation: ID, store } as const;
    expect(await performStoredTask(list)).toEqual([]);
    await condense();
    const listed = await performStoredTask(list);
    expect(listed.length).toBeGreaterThan(0);
    const { reference, length, words } = listed[0]!;
    const stores = [join(folder, 'none'), store];
    const { text } = await performStoredTask({ kind: 'original', reference, stores });
    expect(text).toHaveLength(length);
    expect(words).toContain('export const value');
    expect(await performStoredTask({ kind: 'original', reference: 'ffffff', stores })).toEqual({ text: undefined });
  });
});

it('messages of a stored conversation are listed on one line each, and exactly the chosen ones are pinned', async () => {
  const list = { kind: 'messages', ...stored() } as const;
  const pinned = async (): Promise<number[]> =>
    (await performStoredTask(list)).flatMap(({ isPinned }, index) => (isPinned ? [index] : []));
  const messages = await performStoredTask(list);
  expect(messages[0]).toEqual({ role: 'user', words: 'Rename value7 in src/values.ts', isPinned: false });
  expect(messages).toHaveLength(8);
  for (const { words } of messages) expect(words).toMatch(/^.{1,120}$/);
  await performStoredTask({ kind: 'pin', ...stored(), pinned: [0, 3] });
  expect(await pinned()).toEqual([0, 3]);
  await performStoredTask({ kind: 'pin', ...stored(), pinned: [3, 4] });
  expect(await pinned()).toEqual([3, 4]);
});

it('a stored conversation must have been condensed to be given back, undone or recovered', async () => {
  const before = readFileSync(path, 'utf8');
  await expect(performStoredTask({ kind: 'give-back', ...stored(), replacements })).rejects.toThrow(
    'The conversation is not condensed.',
  );
  expect(readFileSync(path, 'utf8')).toBe(before);
  expect(await performStoredTask({ kind: 'undo-give-back', name: { conversation: ID }, replacements })).toBeUndefined();
  expect(await performStoredTask({ kind: 'recover', replacements })).toEqual({ recovered: 0, problems: [] });
});

it('judging stored conversations counts only those that are long enough, and reports how many were read', async () => {
  const { kind, locations, choices } = { kind: 'judge', locations: [path], choices: JUDGED_CHOICES } as const;
  expect(await performStoredTask({ kind, locations, choices })).toMatchObject({
    read: 1,
    sessions: 0,
    verdict: { kind: 'too-little' },
  });
  expect(reported.map(({ judge }) => judge)).toContainEqual({ done: 1, all: 1 });
});

describe('all conversations that agents keep on this machine', () => {
  /** Writes a Claude Code session with one request's usage. */
  function writeSession(name: string, day: string, tokens: number, cwd = '/p'): void {
    const projects = join(folder, '.claude', 'projects', 'p');
    mkdirSync(projects, { recursive: true });
    const records = [
      {
        type: 'user',
        uuid: '1',
        cwd,
        timestamp: `${day}T12:00:00Z`,
        message: { role: 'user', content: 'Hello' },
      },
      {
        type: 'assistant',
        uuid: '2',
        parentUuid: '1',
        timestamp: `${day}T12:00:01Z`,
        message: {
          id: 'msg_1',
          role: 'assistant',
          model: 'claude-opus-4-6',
          content: [{ type: 'text', text: 'Hello.' }],
          usage: {
            input_tokens: tokens,
            output_tokens: 10,
            cache_read_input_tokens: 0,
            cache_creation_input_tokens: 0,
          },
        },
      },
    ];
    const lines = records.map((record) => `${JSON.stringify({ ...record, sessionId: name })}\n`);
    writeFileSync(join(projects, `${name}.jsonl`), lines.join(''));
  }
  const OLD = '00000000-0000-4000-8000-000000000001';
  const NEW = '00000000-0000-4000-8000-000000000002';
  const find = () => ({ platform: 'linux', env: {}, homedir: folder }) as const;
  const account = () => ({ kind: 'account', find: find(), cache: join(folder, 'account.json') }) as const;

  beforeEach(() => {
    writeSession(OLD, '2026-02-01', 1_000);
    writeSession(NEW, '2026-03-01', 2_000);
  });

  it('are listed at once, and their details as soon as they are read', async () => {
    await performStoredTask({ kind: 'index', find: find(), history: 'active', cache: join(folder, 'index.json') });
    const [first] = reported;
    expect(first?.index).toHaveProperty('found');
    expect(reported.some(({ index }) => index !== undefined && 'details' in index)).toBe(true);
  });

  it('have their costs added up from a given day on, with what another provider would have saved', async () => {
    const { overview, leftOut, problems } = await performStoredTask(account());
    expect(overview.total.sessions).toBe(2);
    expect([leftOut, problems]).toEqual([0, []]);
    expect(reported.at(-1)?.account).toEqual({ done: 2, all: 2 });
    const [choice] = JUDGED_CHOICES;
    const { name, provider, config } = choice!;
    const other = {
      name,
      provider,
      config,
      threshold: { percent: 75 },
      cache: join(folder, 'whatIf.json'),
      version: '1',
    };
    const since = await performStoredTask({ ...account(), sinceDay: '2026-02-15', with: other });
    expect(since.overview.total.sessions).toBe(1);
    expect(since.whatIf?.choice).toBe('Lossless');
  });

  it('can be written as a page, a table or data', async () => {
    const written = async (form: 'html' | 'csv' | 'json'): Promise<string> => {
      const file = { path: join(folder, `out.${form}`), form, by: 'session', version: '1.2.3' } as const;
      await performStoredTask({ ...account(), file });
      return readFileSync(file.path, 'utf8');
    };
    expect(await written('html')).toMatch(/^<!doctype html>/i);
    // The CSV and the JSON each list both sessions.
    const csv = await written('csv');
    const json = JSON.stringify(JSON.parse(await written('json')));
    for (const name of [OLD, NEW]) expect([csv, json]).toEqual(Array(2).fill(expect.stringContaining(name)));
  });

  it('are exported without keys, to a file that only the user can read', async () => {
    const key = 'ghp_abcdefghijklmnopqrstuvwxyz0123456789';
    writeSession(NEW, '2026-03-01', 2_000, `/p/${key}`);
    for (const form of ['html', 'csv', 'json'] as const) {
      const out = join(folder, `out.${form}`);
      await performStoredTask({ ...account(), file: { path: out, form, by: 'project', version: '1.2.3' } });
      expect(readFileSync(out, 'utf8')).not.toContain(key);
      if (process.platform !== 'win32') expect(statSync(out).mode & 0o077).toBe(0);
    }
  });
});

it('a stored conversation whose file ends in the middle of a line is read up to that line', async () => {
  writeFileSync(path, makeTranscript().slice(0, -20));
  expect(await performStoredTask({ kind: 'messages', ...stored() })).toHaveLength(7);
});

it('checking a file before giving it back first finishes a restoration that a killed process left half done', async () => {
  const task = { path: writeZooTask(folder), history: 'active', store } as const;
  await performStoredTask({ kind: 'condense', ...task, provider: 'lossless', config: undefined, targetPercent: 50 });
  const before = readFileSync(task.path, 'utf8');
  await performStoredTask({ kind: 'give-back', ...task, replacements });
  const [folderName = ''] = readdirSync(replacements).filter((name) => name !== 'lock');
  writeFileSync(join(replacements, folderName, 'undoing'), '');
  makeFileOld(task.path);
  // The restored file looks as if its agent had just written it.
  await expect(performStoredTask({ kind: 'check-give-back', ...task, replacements })).rejects.toMatchObject({
    kind: 'running',
  });
  expect(readFileSync(task.path, 'utf8')).toBe(before);
  makeFileOld(task.path);
  expect(await performStoredTask({ kind: 'check-give-back', ...task, replacements })).toEqual({ damage: [] });
});

it('the check before a conversation is given back reports a damaged line in its file', async () => {
  const task = { path: writeClaudeSession(folder), history: 'active', store } as const;
  await performStoredTask({ kind: 'condense', ...task, provider: 'lossless', config: undefined, targetPercent: 50 });
  writeFileSync(task.path, `${readFileSync(task.path, 'utf8').trimEnd()}\n{"type":"us\n{"type":"summary"}\n`);
  makeFileOld(task.path);
  const { damage } = await performStoredTask({ kind: 'check-give-back', ...task, replacements });
  expect(damage).toEqual([expect.stringMatching(/^Line \d+ is damaged; skipped \d+ bytes/)]);
});
