/**
 * A lock between processes and their threads: a file that only one can create. It names its owner, so that the lock of a dead process,
 * or of a thread of this process that has ended, is taken away at once. Any other goes once it has shown no sign of life for a while.
 */
import { Buffer } from 'node:buffer';
import { randomBytes } from 'node:crypto';
import { dirname } from 'node:path';
import { performance } from 'node:perf_hooks';
import { threadId } from 'node:worker_threads';
import { setTimeout as delay } from 'node:timers/promises';
import { ifThere, readText, statusIfThere, withFile, writeAll } from './fileTools';
import type { Files } from './files';
import { earlierOwner, checkLiveness, ownerIn, ownerWord, thisProcess, type Owner } from './owner';
import { errorCode } from '../core/errors';
import { hasThreadEnded } from './threads';
import { StorageError } from './storageError';

/** Milliseconds. */
export interface LockTiming {
  /** How long to wait for another one's lock before giving up. */
  readonly wait: number;
  /** A lock that shows no sign of life for so long is taken away. */
  readonly silence: number;
  /** How often the owner shows a sign of life. */
  readonly heartbeat: number;
}

export const LOCK_TIMING: LockTiming = { wait: 10_000, silence: 4000, heartbeat: 1000 };

export interface Lock {
  /** @throws StorageError where the lock was taken away meanwhile; to be called before what can't be taken back. */
  readonly confirm: () => Promise<void>;
}

/**
 * Does something while no other process that asks for the same lock does.
 * @throws StorageError `locked` where the lock didn't come free in time.
 */
export async function withLock<T>(
  files: Files,
  path: string,
  timing: LockTiming,
  action: (lock: Lock) => Promise<T>,
): Promise<T> {
  const token = await acquire(files, path, timing);
  // A heartbeat that fails costs nothing: `confirm` is what counts.
  const heartbeat = setInterval(() => void files.touch(path, Date.now()).catch(() => undefined), timing.heartbeat);
  heartbeat.unref();
  const isMine = async (): Promise<boolean> => (await read(files, path))?.token === token;
  const confirm = async (): Promise<void> => {
    if (!(await isMine())) throw lockedError(path, 'Another process has taken the lock on this ledger.');
  };
  try {
    return await action({ confirm });
  } finally {
    clearInterval(heartbeat);
    await release(files, path, isMine);
  }
}

/** A lock that can't be removed must not undo the success of what was done under it; it is taken away in time. */
async function release(files: Files, path: string, isMine: () => Promise<boolean>): Promise<void> {
  try {
    if (await isMine()) await files.removeFile(path);
  } catch {
    return;
  }
}

const lockedError = (path: string, happened: string): StorageError =>
  new StorageError({
    trouble: 'locked',
    path,
    happened,
    notDone: 'Nothing was written.',
    advice: 'Try again. If that does not help, close other windows that condense this conversation.',
  });

async function acquire(files: Files, path: string, timing: LockTiming): Promise<string> {
  const token = randomBytes(8).toString('hex');
  const start = performance.now();
  let seen: { readonly mark: string; readonly since: number } | undefined;
  for (;;) {
    const holder = await tryLock(files, path, token);
    if (holder === undefined) return token;
    const now = performance.now();
    if (seen?.mark !== holder.mark) seen = { mark: holder.mark, since: now };
    if (hasEnded(holder) || now - seen.since >= timing.silence) {
      await takeAway(files, path, timing, holder);
    } else if (now - start >= timing.wait) {
      const { owner: by } = holder;
      const owner = by === undefined ? 'Another process' : `Another process (${by.pid} on ${by.host})`;
      throw lockedError(path, `${owner} is writing to this ledger.`);
    } else {
      // Unequal pauses, so that two who wait don't keep in step.
      await delay(1 + Math.random() * 10);
    }
  }
}

/** Whether the holder's process, or its thread in this one, is known to have ended. */
function hasEnded({ owner, thread }: Holder): boolean {
  if (owner === undefined) return false;
  const isHere = ownerWord(owner) === ownerWord(thisProcess());
  return checkLiveness(owner) === 'gone' || (isHere && thread !== undefined && hasThreadEnded(thread));
}

interface Holder {
  readonly token: string;
  /** Undefined while the owner has not yet written who it is. */
  readonly owner: Owner | undefined;
  /** The id of its thread; undefined in the locks of earlier versions. */
  readonly thread: number | undefined;
  /** Changes with every sign of life. */
  readonly mark: string;
}

/** A lock that is gone again when it is looked at is tried for again so often. */
const TRIES = 100;

/**
 * Takes the lock; gives who has it instead.
 * @throws StorageError where something stands in its place that is no lock, such as a link
 */
async function tryLock(files: Files, path: string, token: string): Promise<Holder | undefined> {
  for (let tries = 0; ; tries++) {
    try {
      await create(files, path, token);
      return undefined;
    } catch (error) {
      const code = errorCode(error);
      if (code === 'EEXIST') {
        const holder = await read(files, path);
        if (holder) return holder;
        if (tries >= TRIES) throw lockedError(path, 'Other processes take the lock on this ledger again and again.');
        await delay(1);
      } else if (code === 'ENOENT') {
        // The ledger was removed just now.
        await files.makeFolder(dirname(path));
      } else throw error;
    }
  }
}

async function create(files: Files, path: string, token: string): Promise<void> {
  await withFile(files, path, 'create', async (file) => {
    try {
      await writeAll(
        file,
        Buffer.from(`${token} ${ownerWord(thisProcess())} ${new Date().toISOString()} ${threadId}\n`),
      );
    } catch (error) {
      await files.removeFile(path).catch(() => undefined);
      throw error;
    }
  });
}

const CONTENT = /^([0-9a-f]{16}) (\S+) \S+(?: (\d+))?/;
/** As version 1.0 wrote it. */
const EARLIER = /^[0-9a-f]{16} (\d+) (\S+) /;

async function read(files: Files, path: string): Promise<Holder | undefined> {
  const status = await statusIfThere(files, path);
  if (!status) return undefined;
  if (status.kind !== 'file') throw notLock(path, status.kind);
  const content = await readText(files, path);
  if (content === undefined) return undefined;
  const [, token, word, thread] = CONTENT.exec(content) ?? [];
  const [, pid, host] = EARLIER.exec(content) ?? [];
  const owner = pid === undefined || host === undefined ? ownerIn(word ?? '') : earlierOwner(Number(pid), host);
  const named = `${status.identity}-${Math.floor(status.modified)}`;
  return {
    token: token ?? `unnamed-${named}`,
    owner,
    thread: thread === undefined ? undefined : Number(thread),
    mark: `${token ?? ''} ${named}`,
  };
}

const notLock = (path: string, kind: 'folder' | 'link' | 'other'): StorageError =>
  new StorageError({
    trouble: 'not-ours',
    path,
    happened: `A ${kind === 'other' ? 'special file' : kind} stands where the lock on this ledger belongs.`,
    notDone: 'Nothing was written.',
    advice: 'Remove it, and try again.',
  });

/**
 * Removes a lock whose owner is gone. Two may find it at once, and the slower one must not remove the lock that the
 * quicker one has taken since: who removes it first gets a lock named after it, then looks again.
 */
async function takeAway(files: Files, path: string, timing: LockTiming, holder: Holder): Promise<void> {
  const claim = `${path}.${holder.token}`;
  await acquire(files, claim, timing);
  try {
    if ((await read(files, path))?.token === holder.token) await ifThere(files.removeFile(path));
  } finally {
    await ifThere(files.removeFile(claim));
  }
}
