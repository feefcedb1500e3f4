/** The sample conversation's project: a command-line tool that keeps notes in a JSON file. */
export const PROJECT: Readonly<Record<string, string>> = {
  'package.json': String.raw`{
  "name": "quicknotes",
  "version": "0.4.1",
  "description": "Notes from the terminal, kept in one JSON file",
  "type": "module",
  "bin": { "qn": "./dist/cli.js" },
  "scripts": {
    "build": "tsc -p tsconfig.build.json",
    "test": "vitest run --reporter=verbose",
    "lint": "eslint src test"
  },
  "devDependencies": {
    "@types/node": "^22.9.0",
    "eslint": "^9.14.0",
    "typescript": "^5.6.3",
    "vitest": "^2.1.4"
  }
}
`,
  'src/note.ts': String.raw`import { randomUUID } from 'node:crypto';

/** One note as it is kept in the file. */
export interface Note {
  readonly id: string;
  readonly title: string;
  readonly body: string;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly archived: boolean;
}

export interface NoteInput {
  readonly title: string;
  readonly body?: string;
}

const MAX_TITLE_LENGTH = 120;

export class InvalidNoteError extends Error {
  override readonly name = 'InvalidNoteError';
}

/** Makes a new note. @throws InvalidNoteError where the title is empty or too long. */
export function createNote(input: NoteInput, now: Date = new Date()): Note {
  const title = normalizeTitle(input.title);
  const timestamp = now.toISOString();
  return {
    id: randomUUID(),
    title,
    body: input.body?.trim() ?? '',
    createdAt: timestamp,
    updatedAt: timestamp,
    archived: false,
  };
}

/** The note with some fields changed and its time of change set. */
export function updateNote(note: Note, changes: Partial<NoteInput>, now: Date = new Date()): Note {
  return {
    ...note,
    ...(changes.title === undefined ? {} : { title: normalizeTitle(changes.title) }),
    ...(changes.body === undefined ? {} : { body: changes.body.trim() }),
    updatedAt: now.toISOString(),
  };
}

export function archiveNote(note: Note, now: Date = new Date()): Note {
  return note.archived ? note : { ...note, archived: true, updatedAt: now.toISOString() };
}

function normalizeTitle(raw: string): string {
  const title = raw.replace(/\s+/g, ' ').trim();
  if (title === '') throw new InvalidNoteError('a note needs a title');
  if (title.length > MAX_TITLE_LENGTH) {
    throw new InvalidNoteError('a title has at most ' + MAX_TITLE_LENGTH + ' characters');
  }
  return title;
}
`,
  'src/store.ts': String.raw`import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Note } from './note.js';

const FORMAT_VERSION = 2;

interface StoreFile {
  readonly version: number;
  readonly notes: readonly Note[];
}

export class StoreFormatError extends Error {
  override readonly name = 'StoreFormatError';
}

/** Keeps notes in one JSON file. Each change writes the whole file anew, through a temporary one. */
export class NoteStore {
  private notes = new Map<string, Note>();
  private isLoaded = false;

  constructor(private readonly path: string) {}

  async load(): Promise<void> {
    if (this.isLoaded) return;
    const text = await readIfPresent(this.path);
    if (text !== undefined) {
      for (const note of parseStoreFile(text).notes) this.notes.set(note.id, note);
    }
    this.isLoaded = true;
  }

  list(options: { includeArchived?: boolean } = {}): Note[] {
    return [...this.notes.values()]
      .filter((note) => options.includeArchived === true || !note.archived)
      .sort((a, b) => b.updatedAt.localeCompare(a.updatedAt));
  }

  get(idOrPrefix: string): Note | undefined {
    const exact = this.notes.get(idOrPrefix);
    if (exact) return exact;
    const matches = [...this.notes.values()].filter((note) => note.id.startsWith(idOrPrefix));
    return matches.length === 1 ? matches[0] : undefined;
  }

  async put(note: Note): Promise<void> {
    this.notes.set(note.id, note);
    await this.save();
  }

  async remove(id: string): Promise<boolean> {
    const removed = this.notes.delete(id);
    if (removed) await this.save();
    return removed;
  }

  private async save(): Promise<void> {
    const file: StoreFile = { version: FORMAT_VERSION, notes: [...this.notes.values()] };
    const temporary = this.path + '.tmp';
    await mkdir(dirname(this.path), { recursive: true });
    await writeFile(temporary, JSON.stringify(file, null, 2) + '\n', 'utf8');
    await rename(temporary, this.path);
  }
}

function parseStoreFile(text: string): StoreFile {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new StoreFormatError('the notes file is not valid JSON', { cause: error });
  }
  if (!isStoreFile(value)) throw new StoreFormatError('the notes file has an unknown shape');
  if (value.version > FORMAT_VERSION) {
    throw new StoreFormatError('the notes file was written by a newer version of quicknotes');
  }
  return value;
}

function isStoreFile(value: unknown): value is StoreFile {
  return (
    typeof value === 'object' &&
    value !== null &&
    typeof (value as StoreFile).version === 'number' &&
    Array.isArray((value as StoreFile).notes)
  );
}

async function readIfPresent(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
`,
  'src/search.ts': String.raw`import type { Note } from './note.js';

export interface SearchHit {
  readonly note: Note;
  /** Higher is better; a hit in the title counts more than one in the body. */
  readonly score: number;
}

const TITLE_WEIGHT = 5;
const BODY_WEIGHT = 1;

/** Notes that hold all words of the query, best first. */
export function searchNotes(notes: readonly Note[], query: string): SearchHit[] {
  const words = tokenize(query);
  if (words.length === 0) return notes.map((note) => ({ note, score: 0 }));
  const hits: SearchHit[] = [];
  for (const note of notes) {
    const score = scoreOf(note, words);
    if (score > 0) hits.push({ note, score });
  }
  return hits.sort((a, b) => b.score - a.score || b.note.updatedAt.localeCompare(a.note.updatedAt));
}

/** 0 where a word is missing. */
function scoreOf(note: Note, words: readonly string[]): number {
  const title = tokenize(note.title);
  const body = tokenize(note.body);
  let score = 0;
  for (const word of words) {
    const inTitle = countPrefix(title, word);
    const inBody = countPrefix(body, word);
    if (inTitle + inBody === 0) return 0;
    score += inTitle * TITLE_WEIGHT + inBody * BODY_WEIGHT;
  }
  return score;
}

function countPrefix(words: readonly string[], prefix: string): number {
  let count = 0;
  for (const word of words) if (word.startsWith(prefix)) count++;
  return count;
}

export function tokenize(text: string): string[] {
  return text
    .normalize('NFKD')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '');
}
`,
  'src/format.ts': String.raw`import type { Note } from './note.js';
import type { SearchHit } from './search.js';

const SHORT_ID_LENGTH = 8;
const TITLE_WIDTH = 48;

export interface FormatOptions {
  readonly color: boolean;
  readonly now: Date;
}

/** One line of a list: short id, age, title. */
export function formatRow(note: Note, options: FormatOptions): string {
  const id = dim(note.id.slice(0, SHORT_ID_LENGTH), options);
  const age = ageOf(note.updatedAt, options.now).padStart(4);
  const title = truncate(note.title, TITLE_WIDTH);
  return id + '  ' + age + '  ' + (note.archived ? dim(title + ' (archived)', options) : title);
}

export function formatList(notes: readonly Note[], options: FormatOptions): string {
  if (notes.length === 0) return 'no notes';
  return notes.map((note) => formatRow(note, options)).join('\n');
}

export function formatHits(hits: readonly SearchHit[], options: FormatOptions): string {
  if (hits.length === 0) return 'nothing found';
  return hits.map((hit) => formatRow(hit.note, options)).join('\n');
}

/** The whole note as it is shown on the screen. */
export function formatNote(note: Note, options: FormatOptions): string {
  const head = [bold(note.title, options), dim(note.id, options), 'created ' + note.createdAt.slice(0, 10)];
  return head.join('\n') + '\n\n' + (note.body === '' ? dim('(empty)', options) : note.body) + '\n';
}

const UNITS: readonly (readonly [string, number])[] = [
  ['y', 365 * 24 * 60 * 60],
  ['mo', 30 * 24 * 60 * 60],
  ['d', 24 * 60 * 60],
  ['h', 60 * 60],
  ['m', 60],
];

export function ageOf(timestamp: string, now: Date): string {
  const seconds = Math.max(0, Math.floor((now.getTime() - Date.parse(timestamp)) / 1000));
  for (const [unit, size] of UNITS) {
    if (seconds >= size) return String(Math.floor(seconds / size)) + unit;
  }
  return 'now';
}

export function truncate(text: string, width: number): string {
  return text.length <= width ? text : text.slice(0, width - 1) + '…';
}

const dim = (text: string, options: FormatOptions): string => (options.color ? '\u001b[2m' + text + '\u001b[22m' : text);
const bold = (text: string, options: FormatOptions): string =>
  options.color ? '\u001b[1m' + text + '\u001b[22m' : text;
`,
  'src/cli.ts': String.raw`#!/usr/bin/env node
import { homedir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { formatHits, formatList, formatNote, type FormatOptions } from './format.js';
import { archiveNote, createNote, InvalidNoteError, updateNote } from './note.js';
import { searchNotes } from './search.js';
import { NoteStore, StoreFormatError } from './store.js';

const USAGE = [
  'usage: qn <command> [options]',
  '',
  '  add <title> [--body <text>]        add a note',
  '  list [--all]                       list notes, newest first',
  '  show <id>                          show a note',
  '  edit <id> [--title] [--body]       change a note',
  '  archive <id>                       put a note out of sight',
  '  search <words>                     find notes',
].join('\n');

export interface Environment {
  readonly path: string;
  readonly format: FormatOptions;
  readonly print: (text: string) => void;
}

type Command = (args: readonly string[], store: NoteStore, environment: Environment) => Promise<number>;

const COMMANDS: Readonly<Record<string, Command>> = {
  async add(args, store, environment) {
    const { positionals, values } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: { body: { type: 'string', short: 'b' } },
    });
    const note = createNote({
      title: positionals.join(' '),
      ...(values.body === undefined ? {} : { body: values.body }),
    });
    await store.put(note);
    environment.print('added ' + note.id.slice(0, 8));
    return 0;
  },

  async list(args, store, environment) {
    const { values } = parseArgs({ args: [...args], options: { all: { type: 'boolean', short: 'a' } } });
    environment.print(formatList(store.list({ includeArchived: values.all === true }), environment.format));
    return 0;
  },

  async show(args, store, environment) {
    const note = store.get(args[0] ?? '');
    if (!note) return notFound(args[0], environment);
    environment.print(formatNote(note, environment.format));
    return 0;
  },

  async edit(args, store, environment) {
    const { positionals, values } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: { title: { type: 'string', short: 't' }, body: { type: 'string', short: 'b' } },
    });
    const note = store.get(positionals[0] ?? '');
    if (!note) return notFound(positionals[0], environment);
    await store.put(updateNote(note, values));
    environment.print('changed ' + note.id.slice(0, 8));
    return 0;
  },

  async archive(args, store, environment) {
    const note = store.get(args[0] ?? '');
    if (!note) return notFound(args[0], environment);
    await store.put(archiveNote(note));
    environment.print('archived ' + note.id.slice(0, 8));
    return 0;
  },

  async search(args, store, environment) {
    environment.print(formatHits(searchNotes(store.list(), args.join(' ')), environment.format));
    return 0;
  },
};

function notFound(id: string | undefined, environment: Environment): number {
  environment.print(id === undefined ? 'which note? give its id' : 'no note ' + id);
  return 1;
}

export async function main(argv: readonly string[], environment: Environment): Promise<number> {
  const [name = '', ...args] = argv;
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (!command) {
    environment.print(USAGE);
    return name === '' || name === 'help' ? 0 : 2;
  }
  const store = new NoteStore(environment.path);
  try {
    await store.load();
    return await command(args, store, environment);
  } catch (error) {
    if (error instanceof InvalidNoteError || error instanceof StoreFormatError) {
      environment.print('error: ' + error.message);
      return 1;
    }
    throw error;
  }
}

if (process.argv[1]?.endsWith('cli.js')) {
  process.exitCode = await main(process.argv.slice(2), {
    path: process.env['QUICKNOTES_FILE'] ?? join(homedir(), '.quicknotes.json'),
    format: { color: process.stdout.isTTY, now: new Date() },
    print: (text) => console.log(text),
  });
}
`,
  'test/note.test.ts': String.raw`import { describe, expect, it } from 'vitest';
import { archiveNote, createNote, InvalidNoteError, updateNote } from '../src/note.js';

const NOW = new Date('2026-01-12T09:00:00Z');
const LATER = new Date('2026-01-12T10:30:00Z');

describe('createNote', () => {
  it('trims title and body', () => {
    const note = createNote({ title: '  Buy   milk ', body: ' two bottles\n' }, NOW);
    expect(note.title).toBe('Buy milk');
    expect(note.body).toBe('two bottles');
  });

  it('sets both times', () => {
    const note = createNote({ title: 'Buy milk' }, NOW);
    expect(note.createdAt).toBe('2026-01-12T09:00:00.000Z');
    expect(note.updatedAt).toBe(note.createdAt);
  });

  it('refuses an empty title', () => {
    expect(() => createNote({ title: ' \n ' }, NOW)).toThrow(InvalidNoteError);
  });

  it('refuses a title that is too long', () => {
    expect(() => createNote({ title: 'x'.repeat(121) }, NOW)).toThrow('at most 120 characters');
  });
});

describe('updateNote', () => {
  it('changes what is given and keeps the rest', () => {
    const note = createNote({ title: 'Buy milk', body: 'two bottles' }, NOW);
    const changed = updateNote(note, { title: 'Buy oat milk' }, LATER);
    expect(changed).toMatchObject({ id: note.id, title: 'Buy oat milk', body: 'two bottles' });
    expect(changed.updatedAt).toBe('2026-01-12T10:30:00.000Z');
  });
});

describe('archiveNote', () => {
  it('is done once', () => {
    const archived = archiveNote(createNote({ title: 'Old' }, NOW), LATER);
    expect(archived.archived).toBe(true);
    expect(archiveNote(archived, new Date())).toBe(archived);
  });
});
`,
  'test/search.test.ts': String.raw`import { describe, expect, it } from 'vitest';
import { createNote, type Note } from '../src/note.js';
import { searchNotes, tokenize } from '../src/search.js';

const note = (title: string, body = '', minute = 0): Note =>
  createNote({ title, body }, new Date(Date.UTC(2026, 0, 12, 9, minute)));

const titles = (notes: readonly Note[], query: string): string[] =>
  searchNotes(notes, query).map((hit) => hit.note.title);

describe('tokenize', () => {
  it('cuts at everything that is no letter and no digit', () => {
    expect(tokenize('Re: plan_b (v2), please!')).toEqual(['re', 'plan', 'b', 'v2', 'please']);
  });

  it('ignores case', () => {
    expect(tokenize('MILK Milk')).toEqual(['milk', 'milk']);
  });
});

describe('searchNotes', () => {
  const notes = [
    note('Buy milk', 'and bread', 1),
    note('Bread recipe', 'flour, water, salt; milk for the crust', 2),
    note('Call the plumber', '', 3),
  ];

  it('finds notes that hold all words', () => {
    expect(titles(notes, 'milk bread')).toEqual(['Bread recipe', 'Buy milk']);
  });

  it('ranks titles before bodies', () => {
    expect(titles(notes, 'milk')).toEqual(['Buy milk', 'Bread recipe']);
  });

  it('finds by the beginning of a word', () => {
    expect(titles(notes, 'plumb')).toEqual(['Call the plumber']);
  });

  it('gives all notes for an empty query', () => {
    expect(titles(notes, '  ')).toHaveLength(3);
  });
});
`,
  'test/cli.test.ts': String.raw`import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { main } from '../src/cli.js';

let folder = '';
let printed: string[] = [];

const run = (...argv: string[]): Promise<number> =>
  main(argv, {
    path: join(folder, 'notes.json'),
    format: { color: false, now: new Date('2026-01-12T12:00:00Z') },
    print: (text) => printed.push(text),
  });

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'quicknotes-'));
  printed = [];
});

afterEach(async () => {
  await rm(folder, { recursive: true });
});

describe('qn', () => {
  it('prints how it is used', async () => {
    expect(await run()).toBe(0);
    expect(printed[0]).toContain('usage: qn');
  });

  it('refuses what it does not know', async () => {
    expect(await run('frobnicate')).toBe(2);
  });

  it('adds and lists notes', async () => {
    await run('add', 'Buy', 'milk', '--body', 'two bottles');
    expect(printed[0]).toMatch(/^added [0-9a-f]{8}$/);
    await run('list');
    expect(printed[1]).toContain('Buy milk');
  });

  it('hides archived notes', async () => {
    await run('add', 'Old stuff');
    const id = printed[0]?.slice('added '.length) ?? '';
    expect(await run('archive', id)).toBe(0);
    await run('list');
    expect(printed.at(-1)).toBe('no notes');
    await run('list', '--all');
    expect(printed.at(-1)).toContain('Old stuff (archived)');
  });

  it('says which note is missing', async () => {
    expect(await run('show', 'abcdef')).toBe(1);
    expect(printed.at(-1)).toBe('no note abcdef');
  });

  it('keeps notes in one JSON file', async () => {
    await run('add', 'Buy milk');
    const file = JSON.parse(await readFile(join(folder, 'notes.json'), 'utf8')) as { version: number };
    expect(file.version).toBe(2);
  });

  it('leaves a broken file alone', async () => {
    await writeFile(join(folder, 'notes.json'), '{ "version": 2, "notes": [', 'utf8');
    expect(await run('list')).toBe(1);
    expect(printed[0]).toBe('error: the notes file is not valid JSON');
    expect(await readFile(join(folder, 'notes.json'), 'utf8')).toBe('{ "version": 2, "notes": [');
  });
});
`,
};
