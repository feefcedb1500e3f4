/** The bytes that the index reads of each file: each at most once, in listing, titles and counting together. */
import * as fs from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, inject, it, vi } from 'vitest';
import { temporaryFolder } from '../../test/support/temporaryFolder';
import { writeDatabase, writeHome } from '../../test/fixtures/conversations/home';
import { LARGEST_BEGINNING } from '../conversations/stores/beginnings';
import { KeptHeads } from '../conversations/stores/keptHeads';
import { loadTokenCounter } from '../storage/assets';
import { indexConversations } from './indexConversations';
import type { IndexTask } from './tasks';

/** Bytes of a file that were read, from `from` up to `to`. */
interface ReadRange {
  readonly path: string;
  readonly from: number;
  readonly to: number;
}

const reads = vi.hoisted(() => ({ ranges: [] as ReadRange[], open: new Map<number, string>() }));

vi.mock('node:fs', async (importOriginal) => {
  const real = await importOriginal<typeof fs>();
  const note = (file: fs.PathOrFileDescriptor, from: number, length: number): void => {
    const path = typeof file === 'number' ? (reads.open.get(file) ?? 'unknown') : String(file);
    reads.ranges.push({ path, from, to: from + length });
  };
  return {
    ...real,
    openSync(path: string, flags: string) {
      const file = real.openSync(path, flags);
      reads.open.set(file, path);
      return file;
    },
    readSync(file: number, buffer: Uint8Array, offset: number, length: number, position: number) {
      const read = real.readSync(file, buffer, offset, length, position);
      note(file, position, read);
      return read;
    },
    readFileSync(file: fs.PathOrFileDescriptor, encoding?: BufferEncoding) {
      const content = real.readFileSync(file);
      note(file, 0, content.length);
      return encoding === undefined ? content : content.toString(encoding);
    },
  };
});

let home: string;

beforeEach(() => {
  home = temporaryFolder();
  reads.ranges = [];
});
afterEach(() => {
  vi.restoreAllMocks();
});

/** One run of the index over the home. */
async function index(): Promise<void> {
  const task: IndexTask = {
    kind: 'index',
    find: { platform: 'linux', env: {}, homedir: home },
    history: 'active',
    cache: join(home, 'details.json'),
  };
  const ignore = (): void => undefined;
  await indexConversations(task, () => loadTokenCounter(inject('bundles')), ignore);
}

/** Of each file: how many bytes were read, and how many of them more than once. */
function readBytes(): Map<string, { once: number; again: number }> {
  const files = new Map<string, { once: number; again: number }>();
  for (const [path, ranges] of Map.groupBy(reads.ranges, (range) => range.path)) {
    const file = { once: 0, again: 0 };
    let end = 0;
    for (const { from, to } of ranges.toSorted((a, b) => a.from - b.from)) {
      file.again += Math.max(0, Math.min(end, to) - from);
      file.once += Math.max(0, to - Math.max(from, end));
      end = Math.max(end, to);
    }
    files.set(path, file);
  }
  return files;
}

function expectReadOnce(paths: readonly string[]): void {
  const files = readBytes();
  for (const path of paths) expect([path, files.get(path)]).toEqual([path, { once: fs.statSync(path).size, again: 0 }]);
  expect([...files].filter(([, { again }]) => again > 0)).toEqual([]);
}

const isFile = (path: string): boolean => !path.includes('#');

it('of every kind of store, small', async () => {
  const files = writeHome(home).flatMap(({ path }) => (isFile(path) ? [path] : []));
  await index();
  expectReadOnce(files);
});

it('of every kind of store, longer than what is read for a title', async () => {
  const files = writeHome(home).flatMap(({ path }) => (isFile(path) ? [path] : []));
  // White space behind a record or a document changes nothing of it.
  for (const path of files) fs.appendFileSync(path, ' '.repeat(300_000));
  await index();
  expectReadOnce(files);
});

it('where there are more beginnings than can be kept', async () => {
  const project = join(home, '.claude/projects/-home-dev-app');
  fs.mkdirSync(project, { recursive: true });
  const heads = new KeptHeads();
  const files: string[] = [];
  while (heads.hasRoom) {
    const path = join(project, `${files.length}.jsonl`);
    heads.keep(path, { bytes: new Uint8Array(LARGEST_BEGINNING), modified: 1, size: 1 });
    files.push(path);
  }
  files.push(join(project, 'more.jsonl'), join(project, 'still-more.jsonl'));
  for (const path of files) {
    fs.writeFileSync(path, '{"type":');
    // Sparse: it takes no room.
    fs.truncateSync(path, LARGEST_BEGINNING + 1);
  }
  const keep = vi.spyOn(KeptHeads.prototype, 'keep');
  await index();
  expectReadOnce(files);
  expect(keep).toHaveBeenCalledTimes(files.length - 2);
});

it('a database is opened once for all its sessions', async () => {
  const database = join(home, '.local/share/opencode/opencode.db');
  writeDatabase(database, 'ses_one');
  const more = new DatabaseSync(database);
  more.exec("INSERT INTO session SELECT 'ses_two', project_id, parent_id, directory, title, revert, 1, 2 FROM session");
  more.close();
  // The reader asks for SQLite each time that it opens a database.
  const opened = vi.spyOn(process, 'getBuiltinModule');
  await index();
  expect(opened.mock.calls.filter(([name]) => name === 'node:sqlite')).toHaveLength(1);
  expect(readBytes().get(database)).toBeUndefined();
});
