/**
 * Options, settings and variables may name any path, so only files with our name and header are
 * replaced or removed. Links are never followed.
 */
import { Buffer } from 'node:buffer';
import { randomBytes } from 'node:crypto';
import { dirname, join } from 'node:path';
import { ignoreMissingFile, readFileSlice, readStatusIfPresent, withOpenFile, writeFileAtomically } from './fileTools';
import type { Files } from './files';
import { isProcessGone, getOwnerLiveness, parseOwner, formatOwner, getThisProcess } from './owner';
import { StorageError } from './storageError';

export interface OwnFileKind {
  /** What the file is, with an article, for messages. */
  readonly label: string;
  /** Recognizes a file by its beginning. Files of version 1.0 had no header. */
  readonly matchesBeginning: (beginning: string) => boolean;
}

/**
 * Value of the field `contextCondenser` at the start of our JSON files; it says what the file
 * contains.
 */
export type FileHeader = 'store' | 'account' | 'whatIf' | 'conversations' | 'spending' | 'address' | 'gateway' | 'run';

export const makeHeaderLine = (header: FileHeader): string => JSON.stringify({ contextCondenser: header, version: 1 });

const makeJsonFileKind = (label: string, header: FileHeader, earlier: RegExp): OwnFileKind => ({
  label,
  matchesBeginning: (text) => text.startsWith(`{"contextCondenser":"${header}"`) || earlier.test(text),
});

const PATTERN_MATCHING_NOTHING = /(?!)/;
const LOOPBACK_PATTERN = 'http://127\\.0\\.0\\.1:';

export const OWN_FILE_KINDS = {
  store: makeJsonFileKind('a store', 'store', PATTERN_MATCHING_NOTHING),
  account: makeJsonFileKind('an account cache', 'account', /^\{"version":\d+(?:$|,"prices":"[^"]*","kept":\[)/),
  whatIf: makeJsonFileKind('a cache of replays', 'whatIf', /^\[\{"key":"[0-9a-f]{64}","path":"/),
  conversations: makeJsonFileKind(
    'a list of conversations',
    'conversations',
    /^\{"version":\d+(?:$|,"history":"[^"]*","details":\[)/,
  ),
  address: makeJsonFileKind("a gateway's address", 'address', /^\{"port":\d+,"secret":"[\w-]{32,}"\}/),
  gateway: makeJsonFileKind(
    'the notice of a gateway',
    'gateway',
    new RegExp(`^\\{"pid":\\d+,"address":"${LOOPBACK_PATTERN}`),
  ),
  run: makeJsonFileKind('the folder of a run', 'run', PATTERN_MATCHING_NOTHING),
  spending: { label: 'a count of costs', matchesBeginning: isSpendingFile },
  metrics: {
    label: 'a file of measures',
    matchesBeginning: createAllLinesTest((line) => /^\{.*"at":".*"provider":".*"calls":\[/s.test(line)),
  },
  lock: { label: 'a lock', matchesBeginning: (text) => /^[0-9a-f]{16} \S+ /.test(text) },
  log: { label: "a gateway's log", matchesBeginning: isGatewayLog },
} as const satisfies Readonly<Record<string, OwnFileKind>>;

/** Tests that all complete lines are ours; the last line may be torn. */
function createAllLinesTest(isOurs: (line: string) => boolean): (beginning: string) => boolean {
  return (beginning) => {
    const lines = beginning
      .split('\n')
      .slice(0, -1)
      .filter((line) => line !== '');
    const completeLines = lines.filter(isValidJson);
    return completeLines.length > 0 && completeLines.every(isOurs);
  };
}

const HEADER_BEGINNING = '{"contextCondenser":';

function isSpendingFile(beginning: string): boolean {
  const header = makeHeaderLine('spending');
  if (beginning.startsWith(header)) return true;
  // A torn header counts as ours, unless it is too short to be unambiguous.
  const trimmedBeginning = beginning.trimEnd();
  if (trimmedBeginning.length >= HEADER_BEGINNING.length && header.startsWith(trimmedBeginning)) return true;
  return createAllLinesTest((line) => /^\{"id":"[^"]*",(?:"at":\d+,"kind":"(?:own|chat)"|"settled":)/.test(line))(
    beginning,
  );
}

export const LOG_HEADER = 'Context Condenser: log of a gateway';

/**
 * Also recognizes logs of version 1.0. Their lines began with a time; the line of a request
 * continued with one of these words and a route.
 */
function isGatewayLog(beginning: string): boolean {
  const lines = beginning.split('\n');
  if (lines[0]?.endsWith(LOG_HEADER)) return true;
  const completeLines = lines.slice(0, -1);
  const hasTimeOnEachLine = completeLines.every((line) => /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z /.test(line));
  return (
    hasTimeOnEachLine &&
    completeLines.some((line) => /Z (?:(?:passed|condensed|failed|problem) [a-z][a-z0-9-]* |refused )/.test(line))
  );
}

function isValidJson(line: string): boolean {
  try {
    JSON.parse(line);
    return true;
  } catch {
    return false;
  }
}

/**
 * Number of bytes read to recognize a file: they contain the header, or enough lines of a file
 * without one.
 */
const MAX_BEGINNING_BYTES = 16 * 1024;

const readBeginningIfPresent = (files: Files, path: string): Promise<string | undefined> =>
  ignoreMissingFile(
    withOpenFile(files, path, 'read', async (file) =>
      (await readFileSlice(file, 0, MAX_BEGINNING_BYTES)).toString('utf8'),
    ),
  );

export type OwnPathState = 'nothing' | 'ours' | 'empty' | { readonly foreign: string };

/** Says what is at the path. Does not follow links. */
export async function inspectOwnPath(files: Files, path: string, kind: OwnFileKind): Promise<OwnPathState> {
  const status = await readStatusIfPresent(files, path);
  if (!status) return 'nothing';
  if (status.kind === 'link') return { foreign: 'This is a link.' };
  if (status.kind !== 'file') return { foreign: `This is ${status.kind === 'folder' ? 'a folder' : 'not a file'}.` };
  if (status.bytes === 0) return 'empty';
  const beginning = await readBeginningIfPresent(files, path);
  // Another process removed the file after its status was read.
  if (beginning === undefined) return 'nothing';
  // Another process has created the file again, still empty.
  if (beginning === '') return 'empty';
  return kind.matchesBeginning(beginning)
    ? 'ours'
    : { foreign: `This file is there already, and is not ${kind.label} of Context Condenser.` };
}

const UNCHANGED_TEXT = 'It was left as it is.';
const MOVE_FILE_ADVICE = 'Move it away, or name another path.';

/** @throws StorageError `not-ours` if the path has another program's file that isn't empty */
export async function rejectForeignFile(
  files: Files,
  path: string,
  kind: OwnFileKind,
  notDone = UNCHANGED_TEXT,
): Promise<void> {
  const state = await inspectOwnPath(files, path, kind);
  if (typeof state === 'object') throw createForeignFileError(path, state.foreign, notDone, MOVE_FILE_ADVICE);
}

const createForeignFileError = (path: string, happened: string, notDone: string, advice: string): StorageError =>
  new StorageError({ kind: 'not-ours', path, happened, notDone, advice });

/**
 * @throws StorageError `not-ours` if the path has another program's file, which is kept; the
 * system's error
 */
export async function replaceOwnFile(files: Files, path: string, text: string, kind: OwnFileKind): Promise<void> {
  await rejectForeignFile(files, path, kind);
  if ((await inspectOwnPath(files, path, kind)) === 'empty')
    throw createForeignFileError(path, 'This file is empty.', UNCHANGED_TEXT, MOVE_FILE_ADVICE);
  await files.makeFolder(dirname(path));
  await replaceFileAtomically(files, path, text);
}

/** Replaces a cache. Ignores write errors, and keeps other programs' files. */
export async function replaceCacheQuietly(files: Files, path: string, text: string, kind: OwnFileKind): Promise<void> {
  try {
    await replaceOwnFile(files, path, text, kind);
  } catch {
    // An error only means that everything is read again next time.
  }
}

export async function removeOwnFile(files: Files, path: string, kind: OwnFileKind): Promise<void> {
  const state = await inspectOwnPath(files, path, kind);
  if (state === 'ours') await ignoreMissingFile(files.removeFile(path));
}

const TEMPORARY_SUFFIX = '.context-condenser.tmp';

/**
 * Makes the path of a temporary file. Its name contains the owner, so that leftovers can be
 * recognized.
 */
const makeTemporaryPath = (folder: string): string =>
  join(folder, `.${formatOwner(getThisProcess())}.${randomBytes(4).toString('hex')}${TEMPORARY_SUFFIX}`);

/**
 * Replaces a file atomically, and removes leftovers of crashed processes.
 * @throws the system's error
 */
export async function replaceFileAtomically(files: Files, path: string, text: string): Promise<void> {
  const folder = dirname(path);
  await writeFileAtomically(files, path, Buffer.from(text), { temporary: makeTemporaryPath(folder) });
  await removeLeftTemporaryFiles(files, folder).catch(() => undefined);
}

/**
 * Matches temporary files of version 1.0, whose names have only a process ID. They are removed
 * after a day.
 */
const OLD_TEMPORARY_NAME = new RegExp(`^\\.(\\d+)-\\d{13}${TEMPORARY_SUFFIX.replaceAll('.', '\\.')}$`);
const DAY_MS = 24 * 3_600_000;

async function removeLeftTemporaryFiles(files: Files, folder: string): Promise<void> {
  for (const name of await files.list(folder)) {
    if (!isTemporaryFileName(name)) continue;
    const path = join(folder, name);
    const status = await readStatusIfPresent(files, path);
    if (status?.kind !== 'file') continue;
    const [, oldPid] = OLD_TEMPORARY_NAME.exec(name) ?? [];
    const owner = parseOwner(name.slice(1, -TEMPORARY_SUFFIX.length - '.01234567'.length));
    const isLeftover =
      oldPid === undefined
        ? owner !== undefined && getOwnerLiveness(owner) === 'gone'
        : isProcessGone(Number(oldPid)) && Date.now() - status.modified > DAY_MS;
    if (isLeftover) await ignoreMissingFile(files.removeFile(path));
  }
}

export const isTemporaryFileName = (name: string): boolean => name.startsWith('.') && name.endsWith(TEMPORARY_SUFFIX);
