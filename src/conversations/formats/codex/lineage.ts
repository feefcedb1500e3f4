/**
 * Since 0.146 `history_base` in a fork's header names the rollout that it continues, and where
 * (`{thread_id, end_ordinal_exclusive, end_byte_offset}`). Source: openai/codex,
 * codex-rs/thread-store (rollout_lineage, thread_rollout_resolver); a fork of codex-cli 0.171.
 */
import { readdirSync } from 'node:fs';
import { basename, dirname, join, sep } from 'node:path';
import { asBuffer } from '../../text/lines';
import { type Fields, readNumber, readRecord, readString } from '../../text/values';
import { isRecord } from '../../../core/messages/blocks';
import type { EarlierRecords } from '../format';

/** Longer chains of forks count as circular. */
const MAX_FORK_DEPTH = 100;

/** A header contains the whole system prompt. */
const MAX_HEADER_BYTES = 1024 ** 2;

const THREAD_ID = /^[\w-]+$/;

/**
 * Returns the records of the rollouts from which this one was forked, oldest first.
 * @param readFile returns a file's bytes, unpacked
 */
export function readForkWithOrigins(
  bytes: Uint8Array,
  path: string,
  readFile: (path: string) => Uint8Array,
): readonly EarlierRecords[] {
  const earlierRecords: EarlierRecords[] = [];
  const seenPaths = new Set([path]);
  let origin = findForkOrigin(bytes);
  while (origin && earlierRecords.length < MAX_FORK_DEPTH) {
    const file = findRolloutFile(origin.thread, path);
    if (file === undefined || seenPaths.has(file)) {
      earlierRecords.unshift({
        missing: `rollout-*-${origin.thread}.jsonl, in ${findSessionsFolder(path) ?? dirname(path)}`,
      });
      break;
    }
    seenPaths.add(file);
    const bytes = readFile(file);
    earlierRecords.unshift({ file, bytes: cutAtOffset(bytes, origin.bytes), end: origin.ordinal });
    origin = findForkOrigin(bytes);
  }
  return earlierRecords;
}

interface ForkOrigin {
  readonly thread: string;
  /** Ordinal of the first record that the fork does not include. */
  readonly ordinal: number;
  readonly bytes: number;
}

function findForkOrigin(bytes: Uint8Array): ForkOrigin | undefined {
  const headerBytes = asBuffer(bytes.subarray(0, MAX_HEADER_BYTES));
  const newline = headerBytes.indexOf(0x0a);
  const line = headerBytes.subarray(0, newline === -1 ? undefined : newline).toString('utf8');
  if (!line.includes('"history_base"')) return undefined;
  let header: unknown;
  try {
    header = JSON.parse(line);
  } catch {
    return undefined;
  }
  const historyBase = readRecord(readRecord(isRecord(header) ? header : {}, 'payload') ?? {}, 'history_base');
  return historyBase && toForkOrigin(historyBase);
}

function toForkOrigin(historyBase: Fields): ForkOrigin | undefined {
  const thread = readString(historyBase, 'thread_id');
  if (thread === undefined || !THREAD_ID.test(thread)) return undefined;
  return {
    thread,
    ordinal: readNumber(historyBase, 'end_ordinal_exclusive') ?? Infinity,
    bytes: readNumber(historyBase, 'end_byte_offset') ?? Infinity,
  };
}

/**
 * If no line ends at the offset, nothing is cut, and the caller relies on the records' ordinals.
 */
const cutAtOffset = (bytes: Uint8Array, offset: number): Uint8Array =>
  bytes[offset - 1] === 0x0a ? bytes.subarray(0, offset) : bytes;

const SESSION_FOLDER_NAMES = ['sessions', 'archived_sessions'];

function findSessionsFolder(path: string): string | undefined {
  const pathParts = dirname(path).split(sep);
  const sessionsIndex = pathParts.findLastIndex((part) => SESSION_FOLDER_NAMES.includes(part));
  return sessionsIndex === -1 ? undefined : pathParts.slice(0, sessionsIndex + 1).join(sep);
}

/** File names end in the thread's id. */
function findRolloutFile(thread: string, path: string): string | undefined {
  const isRolloutOfThread = (name: string): boolean =>
    basename(name).startsWith('rollout-') && new RegExp(`-${thread}\\.jsonl(?:\\.zst)?$`).test(name);
  const siblingName = listNames(dirname(path), false).find(isRolloutOfThread);
  if (siblingName !== undefined) return join(dirname(path), siblingName);
  const sessionsFolder = findSessionsFolder(path);
  for (const folder of sessionsFolder === undefined
    ? []
    : SESSION_FOLDER_NAMES.map((name) => join(dirname(sessionsFolder), name))) {
    const name = listNames(folder, true).find(isRolloutOfThread);
    if (name !== undefined) return join(folder, name);
  }
  return undefined;
}

/** Omits links, so that nothing outside the store is read. */
function listNames(folder: string, recursive: boolean): readonly string[] {
  try {
    return readdirSync(folder, { recursive, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1));
  } catch {
    return [];
  }
}
