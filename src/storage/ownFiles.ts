/**
 * Tells our files from everybody else's, for every path that an option, a setting or an environment variable may name. Only a file that
 * bears our name and our header is replaced or removed; only a folder that we have marked is kept tidy. Links are never followed for it.
 */
import { Buffer } from 'node:buffer';
import { randomBytes } from 'node:crypto';
import { dirname, join } from 'node:path';
import { ifThere, readSlice, statusIfThere, withFile, writeAll } from './fileTools';
import type { Files } from './files';
import { isGone, checkLiveness, ownerIn, ownerWord, thisProcess } from './owner';
import { StorageError } from './storageError';

/** A kind of file that we keep. */
export interface OwnKind {
  /** As people call it, with its article. */
  readonly words: string;
  /** Whether the beginning of a file is one of these: ours, and the one of version 1.0, which had no header. */
  readonly begins: (beginning: string) => boolean;
}

/** The value of `contextCondenser` that our JSON files begin with. */
export type Header = 'store' | 'account' | 'whatIf' | 'conversations' | 'spending' | 'address' | 'gateway' | 'run';

/** The first line of a file of lines, without its end. */
export const headerLine = (header: Header): string => JSON.stringify({ contextCondenser: header, version: 1 });

/** @param earlier the beginning of such a file of version 1.0 */
const json = (words: string, header: Header, earlier: RegExp): OwnKind => ({
  words,
  begins: (text) => text.startsWith(`{"contextCondenser":"${header}"`) || earlier.test(text),
});

const NONE = /(?!)/;
const LOOPBACK = 'http://127\\.0\\.0\\.1:';

export const OWN = {
  store: json('a store', 'store', NONE),
  account: json('an account cache', 'account', /^\{"version":\d+(?:$|,"prices":"[^"]*","kept":\[)/),
  whatIf: json('a cache of replays', 'whatIf', /^\[\{"key":"[0-9a-f]{64}","path":"/),
  conversations: json(
    'a list of conversations',
    'conversations',
    /^\{"version":\d+(?:$|,"history":"[^"]*","details":\[)/,
  ),
  address: json("a gateway's address", 'address', /^\{"port":\d+,"secret":"[\w-]{32,}"\}/),
  gateway: json('the notice of a gateway', 'gateway', new RegExp(`^\\{"pid":\\d+,"address":"${LOOPBACK}`)),
  run: json('the folder of a run', 'run', NONE),
  spending: { words: 'a count of costs', begins: isSpending },
  metrics: {
    words: 'a file of measures',
    begins: linesAll((line) => /^\{.*"at":".*"provider":".*"calls":\[/s.test(line)),
  },
  lock: { words: 'a lock', begins: (text) => /^[0-9a-f]{16} \S+ /.test(text) },
  log: { words: "a gateway's log", begins: isLog },
} as const satisfies Readonly<Record<string, OwnKind>>;

/** Whole lines are ours; the last one may have been cut off, also where it is the only one. */
function linesAll(isOurs: (line: string) => boolean): (beginning: string) => boolean {
  return (beginning) => {
    const lines = beginning
      .split('\n')
      .slice(0, -1)
      .filter((line) => line !== '');
    const whole = lines.filter(isJson);
    return whole.length > 0 && whole.every(isOurs);
  };
}

/** How our JSON files begin, whatever their kind. */
const NAMED = '{"contextCondenser":';

function isSpending(beginning: string): boolean {
  const header = headerLine('spending');
  if (beginning.startsWith(header)) return true;
  // A header whose write was cut off; less of it could be anybody's.
  const begun = beginning.trimEnd();
  if (begun.length >= NAMED.length && header.startsWith(begun)) return true;
  return linesAll((line) => /^\{"id":"[^"]*",(?:"at":\d+,"kind":"(?:own|chat)"|"settled":)/.test(line))(beginning);
}

export const LOG_HEADER = 'Context Condenser: log of a gateway';

/** In version 1.0 each line had a time, and a request one of these words and its route. */
function isLog(beginning: string): boolean {
  const lines = beginning.split('\n');
  if (lines[0]?.endsWith(LOG_HEADER)) return true;
  const whole = lines.slice(0, -1);
  const isTimed = whole.every((line) => /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z /.test(line));
  return (
    isTimed && whole.some((line) => /Z (?:(?:passed|condensed|failed|problem) [a-z][a-z0-9-]* |refused )/.test(line))
  );
}

function isJson(line: string): boolean {
  try {
    JSON.parse(line);
    return true;
  } catch {
    return false;
  }
}

/** Bytes of a file in which its header stands, and lines enough to know one without. */
const BEGINNING_BYTES = 16 * 1024;

const beginningIfThere = (files: Files, path: string): Promise<string | undefined> =>
  ifThere(withFile(files, path, 'read', async (file) => (await readSlice(file, 0, BEGINNING_BYTES)).toString('utf8')));

/** What stands at the path of a file of ours. */
export type Standing = 'nothing' | 'ours' | 'empty' | { readonly foreign: string };

/** Looks what stands at a path where a file of ours belongs. Links are not followed. */
export async function standingAt(files: Files, path: string, kind: OwnKind): Promise<Standing> {
  const status = await statusIfThere(files, path);
  if (!status) return 'nothing';
  if (status.kind === 'link') return { foreign: 'This is a link.' };
  if (status.kind !== 'file') return { foreign: `This is ${status.kind === 'folder' ? 'a folder' : 'not a file'}.` };
  if (status.bytes === 0) return 'empty';
  const beginning = await beginningIfThere(files, path);
  // Another process may remove it between the two looks: a lock is gone within milliseconds.
  if (beginning === undefined) return 'nothing';
  return kind.begins(beginning)
    ? 'ours'
    : { foreign: `This file is there already, and is not ${kind.words} of Context Condenser.` };
}

const LEFT = 'It was left as it is.';
const ADVICE = 'Move it away, or name another path.';

/** @throws StorageError `not-ours` where something else than an empty file stands at the path. */
export async function refuseForeign(files: Files, path: string, kind: OwnKind, notDone = LEFT): Promise<void> {
  const standing = await standingAt(files, path, kind);
  if (typeof standing === 'object') throw notOurs(path, standing.foreign, notDone, ADVICE);
}

const notOurs = (path: string, happened: string, notDone: string, advice: string): StorageError =>
  new StorageError({ trouble: 'not-ours', path, happened, notDone, advice });

/**
 * Writes a file of ours whole or not at all, in the place of the earlier one.
 * @throws StorageError `not-ours` where something else stands there, which is left; the system's error
 */
export async function replaceOwn(files: Files, path: string, text: string, kind: OwnKind): Promise<void> {
  await refuseForeign(files, path, kind);
  if ((await standingAt(files, path, kind)) === 'empty') throw notOurs(path, 'This file is empty.', LEFT, ADVICE);
  await files.makeFolder(dirname(path));
  await replaceWhole(files, path, text);
}

/** Writes a cache like {@link replaceOwn}. A disk that refuses costs the cache, no more; somebody else's file in its place stays. */
export async function replaceCache(files: Files, path: string, text: string, kind: OwnKind): Promise<void> {
  try {
    await replaceOwn(files, path, text, kind);
  } catch {
    // Then everything is read again the next time.
  }
}

/** Removes a file of ours; what is none stays. */
export async function removeOwn(files: Files, path: string, kind: OwnKind): Promise<void> {
  const standing = await standingAt(files, path, kind);
  if (standing === 'ours') await ifThere(files.removeFile(path));
}

const TEMPORARY = '.context-condenser.tmp';

/** Where a file's content is written before it takes its place: the name says whose it is, for one that a killed process leaves. */
const temporaryIn = (folder: string): string =>
  join(folder, `.${ownerWord(thisProcess())}.${randomBytes(4).toString('hex')}${TEMPORARY}`);

/**
 * Writes a file whole or not at all, whatever stands at its path, and returns once it is on the disk. What dead processes left beside it
 * of earlier writes goes.
 * @throws the system's error
 */
export async function replaceWhole(files: Files, path: string, text: string): Promise<void> {
  const folder = dirname(path);
  const temporary = temporaryIn(folder);
  try {
    await withFile(files, temporary, 'create', async (file) => {
      await writeAll(file, Buffer.from(text));
      await file.sync();
    });
    await files.rename(temporary, path);
  } catch (error) {
    await files.removeFile(temporary).catch(() => undefined);
    throw error;
  }
  await removeLeftovers(files, folder).catch(() => undefined);
}

/** Version 1.0 put nothing but a process id into the names; a day later no write is under way any more. */
const EARLIER_TEMPORARY = new RegExp(`^\\.(\\d+)-\\d{13}${TEMPORARY.replaceAll('.', '\\.')}$`);
const DAY_MS = 24 * 3_600_000;

async function removeLeftovers(files: Files, folder: string): Promise<void> {
  for (const name of await files.list(folder)) {
    if (!isTemporary(name)) continue;
    const path = join(folder, name);
    const status = await statusIfThere(files, path);
    if (status?.kind !== 'file') continue;
    const [, earlier] = EARLIER_TEMPORARY.exec(name) ?? [];
    const owner = ownerIn(name.slice(1, -TEMPORARY.length - '.01234567'.length));
    const isLeft =
      earlier === undefined
        ? owner !== undefined && checkLiveness(owner) === 'gone'
        : isGone(Number(earlier)) && Date.now() - status.modified > DAY_MS;
    if (isLeft) await ifThere(files.removeFile(path));
  }
}

/** Whether a file of this name is one that a write was to put in another's place. */
export const isTemporary = (name: string): boolean => name.startsWith('.') && name.endsWith(TEMPORARY);
