/**
 * The lock of the Roo family around each file that it writes: a folder `<file>.lock` whose time is refreshed, made by
 * the package proper-lockfile (Roo Code 3.52, `src/utils/safeWriteJson.ts`). The very same package with the very same
 * numbers, so that each waits for the other.
 */
import { basename } from 'node:path';
import { lock } from 'proper-lockfile';
import { errorCode } from '../core/errors';
import { GiveBackError, NOTHING_WRITTEN } from './giveBackError';

/** Milliseconds after which a lock without a sign of life is taken away, and between two signs. */
const STALE_MS = 31_000;
const UPDATE_MS = 10_000;

export interface AgentLockTiming {
  /** How often to ask for a lock that is taken, beside the first time. */
  readonly retries: number;
  /** Milliseconds before the first time. */
  readonly minTimeout: number;
  readonly maxTimeout: number;
}

const TIMING: AgentLockTiming = { retries: 5, minTimeout: 100, maxTimeout: 1_000 };

/** The files that the Roo family writes under this lock; what other agents write has none. */
export const lockedByAgent = (paths: readonly string[]): readonly string[] =>
  paths.filter((path) => /^(?:api_conversation_history|ui_messages)\.json$/.test(basename(path)));

export interface HeldLocks {
  /** @throws GiveBackError where a lock was taken away meanwhile; to be called before what can't be taken back. */
  readonly confirm: () => void;
}

/**
 * Does something while the agent doesn't write these files. Files that aren't there have their lock all the same.
 * @throws GiveBackError `locked` where another one keeps a lock.
 */
export async function withAgentLocks<T>(
  paths: readonly string[],
  action: (held: HeldLocks) => Promise<T>,
  timing: AgentLockTiming = TIMING,
): Promise<T> {
  let compromised: string | undefined;
  const releases: (() => Promise<void>)[] = [];
  try {
    for (const path of paths) releases.push(await lockOf(path, timing, () => (compromised = path)));
    return await action({
      confirm: () => {
        if (compromised !== undefined) throw lockedError(compromised, 'Its lock was taken away.');
      },
    });
  } finally {
    // A lock that can't be released must not undo what was done under it; it goes stale.
    for (const release of releases.reverse()) await release().catch(() => undefined);
  }
}

async function lockOf(path: string, retries: AgentLockTiming, onCompromised: () => void): Promise<() => Promise<void>> {
  try {
    return await lock(path, {
      stale: STALE_MS,
      update: UPDATE_MS,
      realpath: false,
      retries: { ...retries, factor: 2 },
      onCompromised,
    });
  } catch (error) {
    if (errorCode(error) !== 'ELOCKED') throw error;
    throw lockedError(path, 'The agent is writing to it.', error);
  }
}

const lockedError = (path: string, happened: string, cause?: unknown): GiveBackError =>
  new GiveBackError(
    {
      trouble: 'locked',
      path,
      happened,
      notDone: NOTHING_WRITTEN,
      advice: 'Close the conversation in its agent and try again.',
    },
    { cause },
  );
