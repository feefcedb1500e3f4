/** Runs in the reader's worker; other code calls `readConversation` of src/engine. */
import { closeSync, fstatSync, openSync, readSync, statSync } from 'node:fs';
import zlib from 'node:zlib';
import { getErrorCode, getErrorMessage } from '../core/errors';
import { readForkWithOrigins } from './formats/codex/lineage';
import { isSqliteDatabase, SQLITE_MAGIC_BYTES, type OpenDatabases } from './databases';
import { asBuffer } from './text/lines';
import { splitLocation } from './location';
import { isOpenCodeSession, readOpenCode } from './formats/openCode/openCode';
import { readSession } from './formats/openCode/database';
import { readSessionFiles } from './formats/openCode/files';
import { markAnswersOfPerson } from './personsAnswers';
import { readConversation } from './read';
import { ConversationReadError, type ReadProblem } from './readError';
import { toSidechainConversation } from './formats/sidechains';
import type { Conversation, ReadOptions, ConversationNote } from './types';
import type { Fields } from './text/values';

/** No conversation is this large; the file was chosen by mistake. */
const MAX_FILE_BYTES = 1024 ** 3;

export interface FileHead {
  readonly bytes: Uint8Array;
  /** Milliseconds since the epoch. */
  readonly modified: number;
  readonly size: number;
}

export interface FileAccess {
  /** Larger files are rejected, except databases. */
  readonly maxBytes?: number;
  /** The beginning of the file as read earlier; reused if the file is unchanged. */
  readonly head?: FileHead | undefined;
  /** Databases are closed again unless this keeps them open. */
  readonly databases?: OpenDatabases | undefined;
}

/**
 * @param location a path, or `<path>#<part>`
 * @throws {ConversationReadError} for unreadable files as well as for invalid content
 */
export function readConversationFile(
  location: string,
  options: ReadOptions = {},
  { maxBytes = MAX_FILE_BYTES, head, databases }: FileAccess = {},
): Conversation {
  const { file, part } = splitLocation(location);
  const source = { path: file };
  const fileBytes = databases?.hasOpenDatabase(file) ? undefined : readBytesUpTo(file, maxBytes, head);
  const notes: ConversationNote[] = [];
  const bytes = fileBytes && decompressZstd(fileBytes, file, maxBytes, notes);
  if (!bytes) return markAnswersOfPerson(readOpenCode(readSession(file, part, databases), source, options));
  const session = parseSessionHead(bytes);
  if (session) return markAnswersOfPerson(readOpenCode(readSessionFiles(file, session), source, options));
  const earlierRecords = readForkWithOrigins(bytes, file, (path) => readFileBytes(path, maxBytes));
  const wholeConversation = readConversation(bytes, source, options, earlierRecords);
  const conversation =
    notes.length === 0 ? wholeConversation : { ...wholeConversation, notes: [...notes, ...wholeConversation.notes] };
  return part === undefined ? conversation : toSidechainConversation(conversation, part, source);
}

/** The head of an OpenCode session is far smaller; its messages are in other files. */
const MAX_HEAD_BYTES = 1024 ** 2;

function parseSessionHead(bytes: Uint8Array): Fields | undefined {
  const text = bytes.length > MAX_HEAD_BYTES ? '' : asBuffer(bytes).toString('utf8');
  if (!text.includes('"projectID"')) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return isOpenCodeSession(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Undefined for a database, which may be too large to read whole. */
const readBytesUpTo = (path: string, maxBytes: number, cached: FileHead | undefined): Uint8Array | undefined =>
  withOpenFile(path, (file) => {
    const { mtimeMs, size } = fstatSync(file);
    const head =
      cached?.modified === mtimeMs && cached.size === size
        ? cached.bytes
        : readRestOfFile(file, EMPTY_BYTES, SQLITE_MAGIC_BYTES);
    if (isSqliteDatabase(head)) return undefined;
    rejectIfTooLarge(path, size, maxBytes);
    return readRestOfFile(file, head, size);
  });

/** @throws {ConversationReadError} for a database or an unreadable file */
function readFileBytes(path: string, maxBytes: number): Uint8Array {
  const bytes = readBytesUpTo(path, maxBytes, undefined);
  if (bytes) return decompressZstd(bytes, path, maxBytes, []);
  throw new ConversationReadError({
    problem: 'unknown-format',
    source: path,
    found: 'a SQLite database',
    expected: 'JSON lines',
  });
}

const EMPTY_BYTES = new Uint8Array();

const ZSTD_MAGIC = [0x28, 0xb5, 0x2f, 0xfd];

/** Codex compresses rollouts with Zstandard after a week without use. */
const isZstd = (bytes: Uint8Array): boolean => ZSTD_MAGIC.every((byte, index) => bytes[index] === byte);

/**
 * If the file is damaged, returns the part before the damage.
 * @throws {ConversationReadError} if the host can't unpack the file, it is too large, or its
 *   beginning is damaged
 */
function decompressZstd(bytes: Uint8Array, path: string, maxBytes: number, notes: ConversationNote[]): Uint8Array {
  if (!isZstd(bytes)) return bytes;
  // Node before 22.15 lacks this function, despite the types.
  const decompress = (zlib as Partial<typeof zlib>).zstdDecompressSync;
  if (!decompress) {
    throw new ConversationReadError({
      problem: 'binary',
      source: path,
      found: 'a file compressed with Zstandard, which this host can’t unpack',
      expected: 'Node 22.15 or later, or a VS Code that has it',
      advice: 'Update VS Code, or unpack the file with "zstd -d".',
    });
  }
  const decompressedParts: Uint8Array[] = [];
  let size = 0;
  // A file may contain several frames; Node unpacks one at a time.
  for (let offset = 0; offset < bytes.length;) {
    const remainingBytes = bytes.subarray(offset);
    const limits = { maxOutputLength: Math.max(1, maxBytes - size) };
    try {
      const { buffer, engine } = decompress(remainingBytes, { ...limits, info: true }) as unknown as ZstdFrame;
      decompressedParts.push(buffer);
      size += buffer.length;
      offset += Math.max(1, engine.bytesWritten);
    } catch (error) {
      if (getErrorCode(error) === 'ERR_BUFFER_TOO_LARGE') throw createTooLargeError(path, maxBytes, error);
      const beginning = decompressZstdBeginning(remainingBytes, (part) =>
        decompress(part, { ...limits, finishFlush: zlib.constants.ZSTD_e_flush }),
      );
      size += beginning.text.length;
      if (size === 0) {
        throw new ConversationReadError(
          {
            problem: 'binary',
            source: path,
            found: `a broken compressed file (${getErrorMessage(error)})`,
            expected: 'a whole one',
            advice: 'Restore the file from a backup.',
          },
          { cause: error },
        );
      }
      decompressedParts.push(beginning.text);
      notes.push({
        damage: `The compressed file is broken after byte ${offset + beginning.read} of ${bytes.length} (${getErrorMessage(error)}); the rest is left out.`,
      });
      break;
    }
  }
  return decompressedParts.length === 1 && decompressedParts[0]
    ? decompressedParts[0]
    : Buffer.concat(decompressedParts);
}

/** Node's type definitions omit the option `info` for Zstandard. */
interface ZstdFrame {
  readonly buffer: Uint8Array;
  /** Number of compressed bytes consumed. */
  readonly engine: { readonly bytesWritten: number };
}

const createTooLargeError = (path: string, maxBytes: number, cause: unknown): ConversationReadError =>
  new ConversationReadError(
    {
      problem: 'too-large',
      source: path,
      found: `more than ${formatSize(maxBytes)} in a compressed file`,
      expected: `at most ${formatSize(maxBytes)}`,
    },
    { cause },
  );

function decompressZstdBeginning(
  bytes: Uint8Array,
  decompress: (part: Uint8Array) => Uint8Array,
): { readonly text: Uint8Array; readonly read: number } {
  let text: Uint8Array = EMPTY_BYTES;
  let readableBytes = 0;
  let unreadableBytes = bytes.length + 1;
  while (unreadableBytes - readableBytes > 1) {
    const middleBytes = Math.floor((readableBytes + unreadableBytes) / 2);
    try {
      text = decompress(bytes.subarray(0, middleBytes));
      readableBytes = middleBytes;
    } catch {
      unreadableBytes = middleBytes;
    }
  }
  return { text, read: readableBytes };
}

function readRestOfFile(file: number, head: Uint8Array, size: number): Uint8Array {
  const bytes = new Uint8Array(Math.max(size, head.length));
  bytes.set(head);
  let offset = head.length;
  while (offset < size) {
    const readCount = readSync(file, bytes, offset, size - offset, offset);
    if (readCount === 0) break;
    offset += readCount;
  }
  return bytes.subarray(0, offset);
}

function withOpenFile<T>(path: string, readFile: (file: number) => T): T {
  let file: number | undefined;
  try {
    // Opening a pipe would wait for a writer.
    rejectIfNoRegularFile(path, statSync(path));
    file = openSync(path, 'r');
    rejectIfNoRegularFile(path, fstatSync(file));
    return readFile(file);
  } catch (error) {
    throw error instanceof ConversationReadError ? error : convertFileError(path, error);
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

interface FileStats {
  isFile(): boolean;
  isDirectory(): boolean;
}

function rejectIfNoRegularFile(path: string, kind: FileStats): void {
  if (kind.isDirectory()) {
    throw new ConversationReadError({
      problem: 'not-a-file',
      source: path,
      found: 'a folder',
      expected: 'a file',
      advice: 'Name the conversation file in it, such as api_conversation_history.json or <session>.jsonl.',
    });
  }
  if (!kind.isFile()) {
    throw new ConversationReadError({
      problem: 'not-a-file',
      source: path,
      found: 'a device, pipe or socket',
      expected: 'a file',
    });
  }
}

function rejectIfTooLarge(path: string, size: number, maxBytes: number): void {
  if (size <= maxBytes) return;
  throw new ConversationReadError({
    problem: 'too-large',
    source: path,
    found: `a file of ${formatSize(size)}`,
    expected: `at most ${formatSize(maxBytes)}`,
  });
}

const formatSize = (bytes: number): string =>
  bytes < 1024 ** 3 ? `${(bytes / 1024 ** 2).toFixed(1)} MB` : `${(bytes / 1024 ** 3).toFixed(2)} GB`;

const PROBLEM_BY_ERROR_CODE: ReadonlyMap<
  string | undefined,
  { problem: ReadProblem; found: string; expected: string; advice?: string }
> = new Map([
  ['ENOENT', { problem: 'not-found', found: 'no such file', expected: 'a file', advice: 'Check the path.' }],
  ['ENOTDIR', { problem: 'not-found', found: 'no such file', expected: 'a file', advice: 'Check the path.' }],
  [
    'EACCES',
    {
      problem: 'no-permission',
      found: 'no permission to read it',
      expected: 'a readable file',
      advice: 'Check its permissions.',
    },
  ],
  [
    'EPERM',
    {
      problem: 'no-permission',
      found: 'no permission to read it',
      expected: 'a readable file',
      advice: 'Check its permissions.',
    },
  ],
]);

export function convertFileError(path: string, error: unknown): ConversationReadError {
  const text = PROBLEM_BY_ERROR_CODE.get(getErrorCode(error)) ?? {
    problem: 'io' as const,
    found: error instanceof Error ? error.message : 'an error while reading',
    expected: 'a readable file',
  };
  return new ConversationReadError({ ...text, source: path }, { cause: error });
}
