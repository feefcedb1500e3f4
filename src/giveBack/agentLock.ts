/**
 * The Roo family locks files with the package proper-lockfile (Roo Code 3.52,
 * `src/utils/safeWriteJson.ts`). The same package and numbers make both sides wait for each other.
 */
import { basename } from 'node:path';
import { lock } from 'proper-lockfile';
import { getErrorCode } from '../core/errors';
import { GiveBackError, NOTHING_WRITTEN_TEXT } from './giveBackError';

/** An unrefreshed lock is stale after this time. */
const STALE_LOCK_MS = 31_000;
const LOCK_UPDATE_INTERVAL_MS = 10_000;

export interface AgentLockTiming {
  readonly retries: number;
  /** Milliseconds before the first retry. */
  readonly minTimeout: number;
  readonly maxTimeout: number;
}

const AGENT_LOCK_TIMING: AgentLockTiming = { retries: 5, minTimeout: 100, maxTimeout: 1_000 };

export const filterLockedByAgent = (paths: readonly string[]): readonly string[] =>
  paths.filter((path) => /^(?:api_conversation_history|ui_messages)\.json$/.test(basename(path)));

export interface AgentLocks {
  /**
   * Call this before an irreversible step.
   * @throws GiveBackError if a lock was lost in the meantime
   */
  readonly confirm: () => void;
}

/**
 * Missing files are locked too.
 * @throws GiveBackError `locked` if another process keeps a lock
 */
export async function withAgentLocks<T>(
  paths: readonly string[],
  action: (held: AgentLocks) => Promise<T>,
  timing: AgentLockTiming = AGENT_LOCK_TIMING,
): Promise<T> {
  let compromisedPath: string | undefined;
  const releases: (() => Promise<void>)[] = [];
  try {
    for (const path of paths) releases.push(await acquireLock(path, timing, () => (compromisedPath = path)));
    return await action({
      confirm: () => {
        if (compromisedPath !== undefined) throw createLockedError(compromisedPath, 'Its lock was taken away.');
      },
    });
  } finally {
    // A failed release must not undo what was done; the lock becomes stale.
    for (const release of releases.reverse()) await release().catch(() => undefined);
  }
}

async function acquireLock(
  path: string,
  retries: AgentLockTiming,
  onCompromised: () => void,
): Promise<() => Promise<void>> {
  try {
    return await lock(path, {
      stale: STALE_LOCK_MS,
      update: LOCK_UPDATE_INTERVAL_MS,
      realpath: false,
      retries: { ...retries, factor: 2 },
      onCompromised,
    });
  } catch (error) {
    if (getErrorCode(error) !== 'ELOCKED') throw error;
    throw createLockedError(path, 'The agent is writing to it.', error);
  }
}

const createLockedError = (path: string, whatHappened: string, cause?: unknown): GiveBackError =>
  new GiveBackError(
    {
      kind: 'locked',
      path,
      happened: whatHappened,
      notDone: NOTHING_WRITTEN_TEXT,
      advice: 'Close the conversation in its agent and try again.',
    },
    { cause },
  );
