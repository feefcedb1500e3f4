/**
 * The index reads each byte of a file at most once, although it lists files, reads titles and
 * counts tokens in separate steps.
 */
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, inject, it, vi } from 'vitest';
import { temporaryFolder } from '../../test/support/temporaryFolder';
import { writeDatabase, writeHome } from '../../test/fixtures/conversations/home';
import { MAX_BEGINNING_BYTES } from '../conversations/stores/beginnings';
import { FileHeadCache } from '../conversations/stores/fileHeadCache';
import { loadTokenCounter } from '../storage/assets';
import { indexConversations } from './indexConversations';
import type { IndexTask } from './tasks';

/** A range of bytes that was read. */
interface ReadRange {
  readonly path: string;
  readonly from: number;
  readonly to: number;
}

let ranges: ReadRange[];

/** Records reads through node:fs until the test ends. */
function noteReads(): void {
  const { openSync, readSync, readFileSync } = fs;
  const open = new Map<number, string>();
  const note = (file: fs.PathOrFileDescriptor, from: number, length: number): void => {
    const path = typeof file === 'number' ? (open.get(file) ?? 'unknown') : String(file);
    ranges.push({ path, from, to: from + length });
  };
  vi.spyOn(fs, 'openSync').mockImplementation((path, flags, mode) => {
    const file = openSync(path, flags, mode);
    open.set(file, String(path));
    return file;
  });
  // The product uses only this overload.
  const read = (file: number, buffer: Uint8Array, offset: number, length: number, position: number): number => {
    const count = readSync(file, buffer, offset, length, position);
    note(file, position, count);
    return count;
  };
  vi.spyOn(fs, 'readSync').mockImplementation(read as typeof readSync);
  const readFile = (file: fs.PathOrFileDescriptor, encoding?: BufferEncoding): string | Buffer => {
    const content = readFileSync(file);
    note(file, 0, content.length);
    return encoding === undefined ? content : content.toString(encoding);
  };
  vi.spyOn(fs, 'readFileSync').mockImplementation(readFile as typeof readFileSync);
  // Makes named imports use the spies, too.
  syncBuiltinESMExports();
}

let home: string;

beforeEach(() => {
  home = temporaryFolder();
  ranges = [];
});
afterEach(() => {
  vi.restoreAllMocks();
  syncBuiltinESMExports();
});

/** Runs the index over the home folder. */
async function index(): Promise<void> {
  const task: IndexTask = {
    kind: 'index',
    find: { platform: 'linux', env: {}, homedir: home },
    history: 'active',
    cache: join(home, 'details.json'),
  };
  const ignore = (): void => undefined;
  noteReads();
  await indexConversations(task, () => loadTokenCounter(inject('assets')), ignore);
}

/** Returns for each file the bytes read, and the bytes read more than once. */
function readBytes(): Map<string, { once: number; again: number }> {
  const files = new Map<string, { once: number; again: number }>();
  for (const [path, read] of Map.groupBy(ranges, (range) => range.path)) {
    const file = { once: 0, again: 0 };
    let end = 0;
    for (const { from, to } of read.toSorted((a, b) => a.from - b.from)) {
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

it('the index reads small files of every kind of store at most once', async () => {
  const files = writeHome(home).flatMap(({ path }) => (isFile(path) ? [path] : []));
  await index();
  expectReadOnce(files);
});

it('the index reads long files of every kind of store at most once', async () => {
  const files = writeHome(home).flatMap(({ path }) => (isFile(path) ? [path] : []));
  // Whitespace after a record or document has no meaning.
  for (const path of files) fs.appendFileSync(path, ' '.repeat(300_000));
  await index();
  expectReadOnce(files);
});

it('the index reads each file at most once even if its cache has no room for the beginnings of all files', async () => {
  const project = join(home, '.claude/projects/-home-dev-app');
  fs.mkdirSync(project, { recursive: true });
  const heads = new FileHeadCache();
  const files: string[] = [];
  while (heads.hasRoom) {
    const path = join(project, `${files.length}.jsonl`);
    heads.addHead(path, { bytes: new Uint8Array(MAX_BEGINNING_BYTES), modified: 1, size: 1 });
    files.push(path);
  }
  files.push(join(project, 'more.jsonl'), join(project, 'still-more.jsonl'));
  for (const path of files) {
    fs.writeFileSync(path, '{"type":');
    // The files are sparse, so they use no disk space.
    fs.truncateSync(path, MAX_BEGINNING_BYTES + 1);
  }
  const keep = vi.spyOn(FileHeadCache.prototype, 'addHead');
  await index();
  expectReadOnce(files);
  expect(keep).toHaveBeenCalledTimes(files.length - 2);
});

it('the index opens a database once for all its sessions', async () => {
  const database = join(home, '.local/share/opencode/opencode.db');
  writeDatabase(database, 'ses_one');
  const more = new DatabaseSync(database);
  more.exec("INSERT INTO session SELECT 'ses_two', project_id, parent_id, directory, title, revert, 1, 2 FROM session");
  more.close();
  // The reader loads SQLite each time it opens a database.
  const opened = vi.spyOn(process, 'getBuiltinModule');
  await index();
  expect(opened.mock.calls.filter(([name]) => name === 'node:sqlite')).toHaveLength(1);
  expect(readBytes().get(database)).toBeUndefined();
});
