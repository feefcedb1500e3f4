import { existsSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, inject, it, vi } from 'vitest';
import { temporaryFolder } from '../../test/support/temporaryFolder';
import { writeHome } from '../../test/fixtures/conversations/home';
import type { ConversationDetails } from '../conversations/stores/details';
import type { FindConversationsProblem } from '../conversations/stores/types';
import { loadTokenCounter } from '../storage/assets';
import { ConversationIndex, isUpToDate } from './conversationIndex';
import { indexConversations } from './indexConversations';
import type { IndexProgress, IndexTask } from './tasks';

let home: string;
let reports: FindConversationsProblem[];
let failures: unknown[];
let index: ConversationIndex | undefined;

beforeEach(() => {
  home = temporaryFolder();
  reports = [];
  failures = [];
});
afterEach(() => {
  index?.dispose();
  index = undefined;
  vi.useRealTimers();
});

const task = (more: Partial<IndexTask> = {}): IndexTask => ({
  kind: 'index',
  find: { platform: 'linux', env: {}, homedir: home },
  history: 'active',
  cache: join(home, 'store', 'details.json'),
  ...more,
});
type Run = ConstructorParameters<typeof ConversationIndex>[0]['run'];
const inProcess: Run = (_signal, report) =>
  indexConversations(task(), () => loadTokenCounter(inject('assets')), report);
const make = (run: Run = inProcess): ConversationIndex =>
  (index = new ConversationIndex({
    run,
    report: (problem) => reports.push(problem),
    fail: (error) => failures.push(error),
  }));
/** Runs the index and returns its progress without the conversations found. */
async function runIndex(more: Partial<IndexTask> = {}): Promise<{ known: string[]; read: string[] }> {
  const batches: string[][] = [];
  const counter = loadTokenCounter(inject('assets'));
  let counted = 0;
  const tokens = () => {
    counted += 1;
    return counter;
  };
  const report = (progress: IndexProgress): void => {
    if ('details' in progress) batches.push(progress.details.map(({ path }) => path));
  };
  await indexConversations(task(more), tokens, report);
  return counted === 0 ? { known: batches.flat(), read: [] } : { known: [], read: batches.flat() };
}

describe('the index of stored conversations', () => {
  it('estimates the fill level of a given-back copy from the original’s request until the copy has its own request', async () => {
    const file = (path: string, more: Partial<ConversationDetails>): ConversationDetails => ({
      path,
      modified: 0,
      isComplete: true,
      id: path,
      ...more,
    });
    const original = file('a', {
      tokens: 269,
      renewed: 4,
      fill: { tokens: 607, window: 1_000, isRecorded: true, tokenFactor: 1.5 },
    });
    const fillOf = async (
      copy: Partial<ConversationDetails>,
      conversation = 'a',
      source = original,
    ): Promise<unknown> => {
      const conversations = make((_signal, report) => {
        const found = ['a', 'b', 'c'].map((path) => ({ agent: 'Claude Code', path, modified: 0, bytes: 1 }) as const);
        report({
          found: { conversations: found, problems: [] },
          givenBack: ['b', 'c'].map((path) => ({ conversation, path })),
        });
        report({ details: [source, ...['b', 'c'].map((path) => file(path, { tokens: 199, ...copy }))] });
        return Promise.resolve();
      });
      await conversations.refresh();
      const [fill, ofOtherCopy] = ['b', 'c'].map(
        (copyPath) => conversations.conversations.find(({ path }) => path === copyPath)?.details?.fill,
      );
      if (conversation === 'a') expect(ofOtherCopy).toEqual(fill);
      return fill;
    };
    const own = { tokens: 298, window: 1_000, isRecorded: false, tokenFactor: 1.5 };
    expect(await fillOf({ fill: own })).toEqual({ ...own, tokens: 508, fromOriginal: { renewed: 4 } });
    expect(await fillOf({ fill: { ...own, isRecorded: true } })).toEqual({ ...own, isRecorded: true });
    expect(await fillOf({ fill: own }, 'gone')).toEqual(own);
    expect(await fillOf({ fill: own }, 'b')).toEqual(own);
    // Without a recorded request the original's figure is an estimate too.
    const unrecorded = { ...original, fill: { tokens: 404, window: 1_000, isRecorded: false, tokenFactor: 1.5 } };
    expect(await fillOf({ fill: own }, 'a', unrecorded)).toEqual(own);
  });

  it.each([
    ['stays', ['a', 'b', 'c']],
    // The copy was undone or deleted.
    ['is gone', ['a', 'c']],
  ])(
    'estimates the fill level of a copy’s copy from the first original with a request if the copy between them %s',
    async (_, paths) => {
      const conversations = make((_signal, report) => {
        const found = paths.map((path) => ({ agent: 'Claude Code', path, modified: 0, bytes: 1 }) as const);
        const givenBack = [
          { conversation: 'a', source: 'a', path: 'b' },
          { conversation: 'b', source: 'b', path: 'c' },
        ];
        report({ found: { conversations: found, problems: [] }, givenBack });
        const fillOf = (tokens: number, isRecorded: boolean) => ({
          tokens,
          window: 1_000,
          isRecorded,
          tokenFactor: 1.5,
        });
        report({
          details: [
            { path: 'a', id: 'a', modified: 0, isComplete: true, tokens: 269, renewed: 4, fill: fillOf(607, true) },
            { path: 'b', id: 'b', modified: 0, isComplete: true, tokens: 199, fill: fillOf(298, false) },
            { path: 'c', id: 'c', modified: 0, isComplete: true, tokens: 105, fill: fillOf(157, false) },
          ].filter(({ path }) => paths.includes(path)),
        });
        return Promise.resolve();
      });
      await conversations.refresh();
      const fills = conversations.conversations.map(({ path, details }) => [path, details?.fill?.tokens]);
      // Each copy's estimate is the original's 607 tokens minus 1.5 times the o200k tokens that the
      // copy lacks.
      const expected = { a: 607, b: 508, c: 367 };
      expect(fills).toEqual(Object.entries(expected).filter(([path]) => paths.includes(path)));
    },
  );

  it("estimates the fill levels of two copies from their own tokens if each is recorded as the other's original", async () => {
    const conversations = make((_signal, report) => {
      const found = ['a', 'b'].map((path) => ({ agent: 'Claude Code', path, modified: 0, bytes: 1 }) as const);
      const givenBack = [
        { conversation: 'a', path: 'b' },
        { conversation: 'b', path: 'a' },
      ];
      report({ found: { conversations: found, problems: [] }, givenBack });
      const fill = { tokens: 30, isRecorded: false };
      report({
        details: ['a', 'b'].map((path) => ({ path, id: path, modified: 0, isComplete: true, tokens: 20, fill })),
      });
      return Promise.resolve();
    });
    await conversations.refresh();
    expect(conversations.conversations.map(({ details }) => details?.fill?.tokens)).toEqual([30, 30]);
  });

  it('lists every conversation at once, and its details as they are read', async () => {
    const written = writeHome(home);
    const conversations = make();
    const sizes: number[] = [];
    conversations.onDidChange(() => sizes.push(conversations.conversations.filter(isUpToDate).length));
    const refreshed = conversations.refresh();
    expect(conversations.isBusy).toBe(true);
    await refreshed;
    expect(conversations.isBusy).toBe(false);
    expect(conversations.conversations).toHaveLength(written.length);
    expect(conversations.conversations.every(isUpToDate)).toBe(true);
    expect(sizes[0]).toBe(0);
    expect(sizes.at(-1)).toBe(written.length);
    expect(conversations.conversations.every(({ details }) => (details?.tokens ?? 0) > 0)).toBe(true);
    expect([reports, failures]).toEqual([[], []]);
  });

  it('does not read an unchanged file again', async () => {
    const written = writeHome(home);
    expect((await runIndex()).read).toHaveLength(written.length);
    const again = await runIndex();
    expect(again.read).toEqual([]);
    expect(again.known.sort()).toEqual(written.map(({ path }) => path).sort());

    const [changed] = written;
    utimesSync(changed!.path, new Date(), new Date(Date.now() + 5_000));
    const third = await runIndex();
    expect(third.read.filter((path) => path === changed!.path)).toHaveLength(1);
    expect((await runIndex()).read).toEqual([]);
    expect((await runIndex({ history: 'all' })).read).toHaveLength(written.length);
  });

  it('stores details readable only by the user, and replaces a broken file of details', async () => {
    const written = writeHome(home);
    await runIndex();
    const { cache } = task();
    expect(statSync(cache).mode & 0o777).toBe(0o600);
    const { version } = JSON.parse(readFileSync(cache, 'utf8')) as { readonly version: number };
    writeFileSync(cache, '{"contextCondenser":"conversations","version":3,"details":[{"path":7}]}');
    expect((await runIndex()).read).toHaveLength(written.length);
    expect(JSON.parse(readFileSync(cache, 'utf8'))).toMatchObject({ version, history: 'active' });
  });

  it('works even if the details cannot be stored', async () => {
    writeHome(home);
    writeFileSync(join(home, 'blocked'), '');
    const cache = join(home, 'blocked', 'details.json');
    expect((await runIndex({ cache })).read.length).toBeGreaterThan(0);
    expect(existsSync(cache)).toBe(false);
  });

  it('reports broken, half-written, empty and foreign files once each, and continues', async () => {
    const written = writeHome(home);
    const project = join(home, '.claude/projects/-home-dev-app');
    writeFileSync(join(project, 'broken.jsonl'), '{"type":"user"}\n{oops\n{"type":"user"}\n');
    writeFileSync(
      join(project, 'half.jsonl'),
      '{"type":"user","uuid":"u","message":{"role":"user","content":"Half"}}\n{"type":"assi',
    );
    writeFileSync(join(project, 'foreign.jsonl'), 'a,b,c\n1,2,3\n');
    writeFileSync(join(project, 'binary.jsonl'), new Uint8Array([0x7f, 0x45, 0x4c, 0x46, 0, 0, 0, 0]));
    writeFileSync(join(project, 'empty.jsonl'), '');
    const conversations = make();
    await conversations.refresh();
    await conversations.refresh();
    expect(reports.map(({ path }) => path.slice(project.length + 1)).sort()).toEqual([
      'binary.jsonl',
      'broken.jsonl',
      'foreign.jsonl',
    ]);
    expect(conversations.conversations).toHaveLength(written.length + 4);
    const half = conversations.conversations.find(({ path }) => path.endsWith('half.jsonl'));
    expect(half?.details).toMatchObject({ title: 'Half' });
    expect(failures).toEqual([]);
  });
});

describe('refreshing the index', () => {
  /** Creates runs that end on command. */
  function createManualRuns() {
    const runs: { signal: AbortSignal; report: (progress: IndexProgress) => void; end: (error?: Error) => void }[] = [];
    const run: Run = (signal, report) =>
      new Promise((resolve, reject) => {
        const end = (error?: Error): void => {
          if (error) reject(error);
          else resolve(null);
        };
        signal.addEventListener('abort', () => end(new Error('aborted')));
        runs.push({ signal, report, end });
      });
    return { runs, conversations: make(run) };
  }
  const found = (...paths: string[]): IndexProgress => ({
    found: { conversations: paths.map((path) => ({ agent: 'Codex', path, modified: 1, bytes: 1 })), problems: [] },
  });

  it("finds a subagent's parent also by the ID in the subagent's file", async () => {
    const { runs, conversations } = createManualRuns();
    const refreshed = conversations.refresh();
    runs[0]!.report(found('/session', '/agent', '/stray', '/own'));
    const details = (path: string, id: string, parent?: string): ConversationDetails => ({
      ...{ path, id, modified: 1, bytes: 1, isComplete: true },
      ...(parent !== undefined && { parent }),
    });
    runs[0]!.report({
      details: [
        details('/session', 'codex:1'),
        details('/agent', 'codex:2', 'codex:1'),
        details('/stray', 'codex:3', 'codex:gone'),
        details('/own', 'codex:4', 'codex:4'),
      ],
    });
    runs[0]!.end();
    await refreshed;
    expect(conversations.conversations.map(({ path, parent }) => [path, parent])).toEqual([
      ['/session', undefined],
      ['/agent', '/session'],
      ['/stray', undefined],
      ['/own', undefined],
    ]);
  });

  it('replaces a refresh in progress, which reports nothing more and ends together with the new one', async () => {
    const { runs, conversations } = createManualRuns();
    let isFirstOver = false;
    const first = conversations.refresh().then(() => (isFirstOver = true));
    runs[0]!.report(found('/a'));
    const second = conversations.refresh();
    await vi.waitFor(() => {
      expect(runs[1]).toBeDefined();
    });
    await new Promise(setImmediate);
    expect(isFirstOver).toBe(false);
    expect(runs[0]!.signal.aborted).toBe(true);
    expect(conversations.isBusy).toBe(true);
    runs[0]!.report(found());
    expect(conversations.conversations).toHaveLength(1);
    runs[1]!.end();
    await second;
    await first;
    expect(conversations.isBusy).toBe(false);
    expect(failures).toEqual([]);
  });

  it('reports a failure, keeps known details and drops missing files', async () => {
    const { runs, conversations } = createManualRuns();
    const first = conversations.refresh();
    runs[0]!.report(found('/a', '/b'));
    runs[0]!.report({ details: [{ path: '/a', modified: 1, bytes: 1, title: 'A', isComplete: true }] });
    runs[0]!.end(new Error('the worker ended'));
    await first;
    expect(failures).toEqual([new Error('the worker ended')]);
    expect(conversations.conversations.map(({ details }) => details?.title)).toEqual(['A', undefined]);
    const second = conversations.refresh();
    runs[1]!.report(found('/b'));
    runs[1]!.report(found('/a', '/b'));
    runs[1]!.end();
    await second;
    expect(conversations.conversations.map(({ details }) => details?.title)).toEqual([undefined, undefined]);
  });

  it('starts soon after files change, but not too often', () => {
    vi.useFakeTimers();
    const { runs, conversations } = createManualRuns();
    const changed: (() => void)[] = [];
    let watched = 0;
    conversations.watchFolders(['/x', '/y'], (_folder, change) => {
      watched += 1;
      changed.push(change);
      return { dispose: () => (watched -= 1) };
    });
    changed[0]!();
    changed[1]!();
    vi.advanceTimersByTime(1_999);
    expect(runs).toHaveLength(0);
    vi.advanceTimersByTime(1);
    expect(runs).toHaveLength(1);
    changed[0]!();
    vi.advanceTimersByTime(14_999);
    expect(runs).toHaveLength(1);
    vi.advanceTimersByTime(1);
    expect(runs).toHaveLength(2);
    changed[0]!();
    conversations.dispose();
    changed[0]!();
    vi.advanceTimersByTime(60_000);
    expect(runs).toHaveLength(2);
    expect(runs[1]!.signal.aborted).toBe(true);
    expect(watched).toBe(0);
  });

  it('does not notify a listener that was removed', async () => {
    const { runs, conversations } = createManualRuns();
    const listener = vi.fn();
    conversations.onDidChange(listener).dispose();
    const run = conversations.refresh();
    runs[0]!.end();
    await run;
    expect(listener).not.toHaveBeenCalled();
    conversations.dispose();
    await conversations.refresh();
    expect(runs).toHaveLength(1);
  });
});
