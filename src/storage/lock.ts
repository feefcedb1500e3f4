/**
 * A lock is a file that only one process or thread can create. It names its owner. Locks of ended
 * owners are removed at once, others after a time without a heartbeat.
 */
import { Buffer } from 'node:buffer';
import { randomBytes } from 'node:crypto';
import { dirname } from 'node:path';
import { performance } from 'node:perf_hooks';
import { threadId } from 'node:worker_threads';
import { setTimeout as delay } from 'node:timers/promises';
import { ignoreMissingFile, readTextIfPresent, readStatusIfPresent, withOpenFile, writeAllBytes } from './fileTools';
import type { Files } from './files';
import {
  makeOwnerOfEarlierFormat,
  getOwnerLiveness,
  parseOwner,
  formatOwner,
  getThisProcess,
  type OwnerProcess,
} from './owner';
import { getErrorCode } from '../core/errors';
import { hasThreadEnded } from './threads';
import { StorageError } from './storageError';

/** All times are in milliseconds. */
export interface LockTiming {
  readonly wait: number;
  /** A lock that had no heartbeat for this long is removed. */
  readonly silence: number;
  readonly heartbeat: number;
}

export const LOCK_TIMING: LockTiming = { wait: 10_000, silence: 4000, heartbeat: 1000 };

export interface HeldLock {
  /**
   * Checks that the lock is still held. Call this before irreversible actions.
   * @throws StorageError if the lock was removed meanwhile
   */
  readonly confirm: () => Promise<void>;
}

/** @throws StorageError `locked` on timeout */
export async function withFileLock<T>(
  files: Files,
  path: string,
  timing: LockTiming,
  action: (lock: HeldLock) => Promise<T>,
): Promise<T> {
  const token = await acquireLock(files, path, timing);
  // A failed heartbeat is ignored, since `confirm` checks whether the lock is still held.
  const heartbeat = setInterval(() => void files.touch(path, Date.now()).catch(() => undefined), timing.heartbeat);
  heartbeat.unref();
  const isOwnLock = async (): Promise<boolean> => (await readLock(files, path))?.token === token;
  const confirm = async (): Promise<void> => {
    if (!(await isOwnLock())) throw createLockedError(path, 'Another process has taken the lock on this ledger.');
  };
  try {
    return await action({ confirm });
  } finally {
    clearInterval(heartbeat);
    await releaseLock(files, path, isOwnLock);
  }
}

/** Errors are ignored, because a lock that can't be removed expires. */
async function releaseLock(files: Files, path: string, isMine: () => Promise<boolean>): Promise<void> {
  try {
    if (await isMine()) await files.removeFile(path);
  } catch {
    return;
  }
}

const createLockedError = (path: string, whatHappened: string): StorageError =>
  new StorageError({
    kind: 'locked',
    path,
    happened: whatHappened,
    notDone: 'Nothing was written.',
    advice: 'Try again. If that does not help, close other windows that condense this conversation.',
  });

async function acquireLock(files: Files, path: string, timing: LockTiming): Promise<string> {
  const token = randomBytes(8).toString('hex');
  const startMs = performance.now();
  let lastSeenHolder: { readonly mark: string; readonly since: number } | undefined;
  for (;;) {
    const holder = await tryToAcquireLock(files, path, token);
    if (holder === undefined) return token;
    const nowMs = performance.now();
    if (lastSeenHolder?.mark !== holder.mark) lastSeenHolder = { mark: holder.mark, since: nowMs };
    if (hasHolderEnded(holder) || nowMs - lastSeenHolder.since >= timing.silence) {
      await takeOverLock(files, path, timing, holder);
    } else if (nowMs - startMs >= timing.wait) {
      const { owner: holderProcess } = holder;
      const holderText =
        holderProcess === undefined
          ? 'Another process'
          : `Another process (${holderProcess.pid} on ${holderProcess.host})`;
      throw createLockedError(path, `${holderText} is writing to this ledger.`);
    } else {
      // Waits a random time, so that several waiting processes don't try at the same moments.
      await delay(1 + Math.random() * 10);
    }
  }
}

function hasHolderEnded({ owner, thread }: LockHolder): boolean {
  if (owner === undefined) return false;
  const isInThisProcess = formatOwner(owner) === formatOwner(getThisProcess());
  return getOwnerLiveness(owner) === 'gone' || (isInThisProcess && thread !== undefined && hasThreadEnded(thread));
}

interface LockHolder {
  readonly token: string;
  /** Undefined while the owner hasn't written its identity yet. */
  readonly owner: OwnerProcess | undefined;
  /** Undefined in locks of earlier versions. */
  readonly thread: number | undefined;
  /** A text that changes with each heartbeat. */
  readonly mark: string;
}

/**
 * A lock may disappear while it is inspected. Taking it is then tried again, at most this often.
 */
const MAX_LOCK_TRIES = 100;

/**
 * Takes the lock, or returns who holds it.
 * @throws StorageError if the path isn't a lock, such as a link
 */
async function tryToAcquireLock(files: Files, path: string, token: string): Promise<LockHolder | undefined> {
  for (let attempts = 0; ; attempts++) {
    try {
      await createLock(files, path, token);
      return undefined;
    } catch (error) {
      const code = getErrorCode(error);
      if (code === 'EEXIST') {
        const holder = await readLock(files, path);
        if (holder) return holder;
        if (attempts >= MAX_LOCK_TRIES)
          throw createLockedError(path, 'Other processes take the lock on this ledger again and again.');
        await delay(1);
      } else if (code === 'ENOENT') {
        // The ledger's folder was just removed, so it is created again.
        await files.makeFolder(dirname(path));
      } else throw error;
    }
  }
}

async function createLock(files: Files, path: string, token: string): Promise<void> {
  await withOpenFile(files, path, 'create', async (file) => {
    try {
      await writeAllBytes(
        file,
        Buffer.from(`${token} ${formatOwner(getThisProcess())} ${new Date().toISOString()} ${threadId}\n`),
      );
    } catch (error) {
      await files.removeFile(path).catch(() => undefined);
      throw error;
    }
  });
}

const LOCK_CONTENT = /^([0-9a-f]{16}) (\S+) \S+(?: (\d+))?/;
const LOCK_CONTENT_OF_1_0 = /^[0-9a-f]{16} (\d+) (\S+) /;

async function readLock(files: Files, path: string): Promise<LockHolder | undefined> {
  const status = await readStatusIfPresent(files, path);
  if (!status) return undefined;
  if (status.kind !== 'file') throw createNotLockError(path, status.kind);
  const content = await readTextIfPresent(files, path);
  if (content === undefined) return undefined;
  const [, token, word, thread] = LOCK_CONTENT.exec(content) ?? [];
  const [, pid, host] = LOCK_CONTENT_OF_1_0.exec(content) ?? [];
  const owner =
    pid === undefined || host === undefined ? parseOwner(word ?? '') : makeOwnerOfEarlierFormat(Number(pid), host);
  const fileKey = `${status.identity}-${Math.floor(status.modified)}`;
  return {
    token: token ?? `unnamed-${fileKey}`,
    owner,
    thread: thread === undefined ? undefined : Number(thread),
    mark: `${token ?? ''} ${fileKey}`,
  };
}

const createNotLockError = (path: string, kind: 'folder' | 'link' | 'other'): StorageError =>
  new StorageError({
    kind: 'not-ours',
    path,
    happened: `A ${kind === 'other' ? 'special file' : kind} stands where the lock on this ledger belongs.`,
    notDone: 'Nothing was written.',
    advice: 'Remove it, and try again.',
  });

/**
 * If two processes find a stale lock, the slower one must not remove the other's new lock. So each
 * first takes a second lock, named after the stale one, and checks again.
 */
async function takeOverLock(files: Files, path: string, timing: LockTiming, holder: LockHolder): Promise<void> {
  const claimPath = `${path}.${holder.token}`;
  await acquireLock(files, claimPath, timing);
  try {
    if ((await readLock(files, path))?.token === holder.token) await ignoreMissingFile(files.removeFile(path));
  } finally {
    await ignoreMissingFile(files.removeFile(claimPath));
  }
}
