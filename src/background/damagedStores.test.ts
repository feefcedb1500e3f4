/**
 * Each damaged file of an agent's store must be reported once, and all other conversations must be
 * counted.
 */
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { DatabaseSync } from 'node:sqlite';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, inject, it, vi } from 'vitest';
import { temporaryFolder } from '../../test/support/temporaryFolder';
import { writeHome, type HomeConversation } from '../../test/fixtures/conversations/home';
import { splitLocation } from '../conversations/location';
import { MAX_COUNTED_BYTES } from '../conversations/stores/details';
import type { FindConversationsProblem } from '../conversations/stores/types';
import { loadTokenCounter } from '../storage/assets';
import { ConversationIndex, type IndexedConversation } from './conversationIndex';
import { indexConversations } from './indexConversations';

let home: string;
let written: readonly HomeConversation[];

beforeEach(() => {
  home = temporaryFolder();
  written = writeHome(home);
});
afterEach(() => {
  vi.restoreAllMocks();
  syncBuiltinESMExports();
});

interface Seen {
  readonly problems: readonly FindConversationsProblem[];
  readonly conversations: readonly IndexedConversation[];
}

/** Searches twice, as a window does after a change. */
async function indexStores(): Promise<Seen> {
  const problems: FindConversationsProblem[] = [];
  const task = {
    kind: 'index',
    find: { platform: 'linux', env: {}, homedir: home },
    history: 'active',
    cache: join(home, 'details.json'),
  } as const;
  const index = new ConversationIndex({
    run: (_signal, report) => indexConversations(task, () => loadTokenCounter(inject('assets')), report),
    report: (problem) => problems.push(problem),
    fail: (error) => {
      throw error;
    },
  });
  await index.refresh();
  await index.refresh();
  const { conversations } = index;
  index.dispose();
  return { problems, conversations };
}

function expectOthersCounted({ conversations }: Seen, damaged: readonly string[]): void {
  const counted = conversations.filter(({ details }) => (details?.tokens ?? 0) > 0).map(({ path }) => path);
  const others = written.map(({ path }) => path).filter((path) => !damaged.includes(splitLocation(path).file));
  expect(counted).toEqual(expect.arrayContaining(others));
}

/**
 * One text file per kind of store. Each test damages one half of them and leaves the other intact.
 */
const HALVES = [
  [
    '.claude/projects/-home-dev-app/00000000-0000-4000-8000-000000000001.jsonl',
    '.codex/archived_sessions',
    '.gemini/tmp',
    'rooveterinaryinc.roo-cline',
    'kilocode.kilo-code',
    '.cline/data/sessions',
  ],
  [
    'subagents/agent-a1.jsonl',
    '.codex/sessions',
    '.copilot/session-state',
    'workspaceStorage',
    'zoocodeorganization.zoo-code',
    'saoudrizwan.claude-dev',
    'ses_files.json',
  ],
] as const;
const findFile = (part: string): string => written.find(({ path }) => path.includes(part))?.path ?? '';
const sortPaths = (problems: readonly FindConversationsProblem[]): string[] => problems.map(({ path }) => path).sort();

describe.each(HALVES.map((parts) => ({ parts })))(
  'the index of conversations whose files are damaged, for $parts,',
  ({ parts }) => {
    const damage = (change: (text: string) => string): string[] =>
      parts.map((part) => {
        const path = findFile(part);
        fs.writeFileSync(path, change(fs.readFileSync(path, 'utf8')));
        return path;
      });

    it.each([
      ['are of another program', () => 'a,b,c\n1,2,3\n'],
      ['are no text', () => '\u007fELF\u0000\u0000\u0001'],
      ['end in their first value', (text: string) => text.slice(0, 12)],
    ])('reports each file that %s once', async (_what, change) => {
      const paths = damage(change);
      const seen = await indexStores();
      expect(sortPaths(seen.problems)).toEqual(paths.toSorted());
      for (const { reason } of seen.problems) expect(reason).toMatch(/^(?:line \d+: )?found .+; expected .+/);
      expectOthersCounted(seen, paths);
    });

    it.each([
      ['half written', (text: string) => text.slice(0, text.length * 0.7)],
      [
        'broken in the middle',
        (text: string) => `${text.slice(0, text.length / 2)}\u0000{oops\n${text.slice(text.length / 2)}`,
      ],
    ])('reads files that are %s partially, or reports them', async (_what, change) => {
      const paths = damage(change);
      const seen = await indexStores();
      const read = seen.conversations.filter(({ path, details }) => paths.includes(path) && (details?.tokens ?? 0) > 0);
      expect([...read.map(({ path }) => path), ...sortPaths(seen.problems)].sort()).toEqual(paths.toSorted());
      expectOthersCounted(seen, paths);
    });

    it('lists huge files with their size or reports them, without reading them whole', async () => {
      const paths = parts.map(findFile);
      for (const path of paths) fs.truncateSync(path, MAX_COUNTED_BYTES + 1);
      const seen = await indexStores();
      const found = seen.conversations.filter(({ path }) => paths.includes(path));
      expect(found).toHaveLength(paths.length);
      expect(found.every(({ details }) => details?.isComplete === true && details.tokens === undefined)).toBe(true);
      const withoutSize = found.filter(({ bytes }) => bytes === undefined).map(({ path }) => path);
      expect(sortPaths(seen.problems)).toEqual(withoutSize.sort());
      expectOthersCounted(seen, paths);
    });

    it('reports each file without read permission once', async () => {
      const paths = parts.map(findFile);
      // Simulates the error, since root can read every file.
      const open = fs.openSync;
      vi.spyOn(fs, 'openSync').mockImplementation((file, ...rest) => {
        if (paths.includes(String(file))) throw Object.assign(new Error('EACCES: denied'), { code: 'EACCES' });
        return open(file, ...rest);
      });
      syncBuiltinESMExports();
      const seen = await indexStores();
      expect(sortPaths(seen.problems)).toEqual(paths.toSorted());
      for (const { reason } of seen.problems) expect(reason).toContain('no permission to read it');
      expectOthersCounted(seen, paths);
    });
  },
);

describe('the index of a database of OpenCode or Kilo', () => {
  const file = (): string => splitLocation(findFile('kilo.db')).file;

  it.each([
    ['is no database', () => 'not a database'],
    ['is cut off', (bytes: Buffer) => bytes.subarray(0, 700)],
    [
      'is broken in the middle',
      (bytes: Buffer) => Buffer.concat([bytes.subarray(0, 4_096), Buffer.alloc(bytes.length - 4_096, 7)]),
    ],
  ])('reports a database that %s', async (_what, damage) => {
    fs.writeFileSync(file(), damage(fs.readFileSync(file())));
    const seen = await indexStores();
    expect(seen.problems).toHaveLength(1);
    expect(seen.problems[0]).toMatchObject({
      path: expect.stringContaining(file()),
      reason: expect.stringContaining('a database that can’t be read'),
    });
    expectOthersCounted(seen, [file()]);
  });

  it('reports a database of another kind', async () => {
    fs.rmSync(file());
    const other = new DatabaseSync(file());
    other.exec('CREATE TABLE notes (text TEXT)');
    other.close();
    const seen = await indexStores();
    expect(seen.problems).toEqual([
      { path: file(), reason: expect.stringContaining('a SQLite database of another kind') },
    ]);
    expectOthersCounted(seen, [file()]);
  });

  it('reads or reports a database that its agent has locked', async () => {
    const agent = new DatabaseSync(file());
    agent.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; UPDATE session SET title = title');
    try {
      const seen = await indexStores();
      expect(seen.problems).toEqual([{ path: file(), reason: expect.stringContaining('locked') }]);
      expectOthersCounted(seen, [file()]);
    } finally {
      agent.close();
    }
  });
});
