/**
 * Puts a running task of the Roo family to rest through what the agent exports to other extensions, and wakes it again.
 * Source: Roo Code 3.52, `packages/types/src/api.ts` (`RooCodeAPI`). Tested with a double that behaves as described there;
 * it was not run against the real extension.
 */
import { basename, dirname } from 'node:path';
import { isRecord } from '../core/messages/blocks';
import type { Files } from '../storage/files';
import { statusIfThere } from '../storage/fileTools';
import { runningError } from './giveBackError';
import { QUIET_MS } from './runningTask';

export interface RooApi {
  /** Ids of the tasks that are open: the one at work last, those that wait for it before. */
  getCurrentTaskStack(): unknown;
  /** Aborts the task; the agent opens it again, waiting. */
  cancelCurrentTask(): unknown;
  /** Closes the task, so that nothing holds its history in memory. */
  clearCurrentTask(): unknown;
  resumeTask(id: string): unknown;
}

const METHODS = ['getCurrentTaskStack', 'cancelCurrentTask', 'clearCurrentTask', 'resumeTask'] as const;

/** An extension's exports, if they are this interface. */
export const rooApiIn = (exported: unknown): RooApi | undefined =>
  // Each method was looked for.
  isRecord(exported) && METHODS.every((name) => typeof exported[name] === 'function')
    ? (exported as unknown as RooApi)
    : undefined;

export interface Clock {
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly wait: (ms: number) => Promise<void>;
}

/** How long the agent may go on writing after it was told to stop. */
const SETTLE_MS = 30_000;
const STEP_MS = 500;

/** The id of the task whose history this is: the name of its folder. */
const taskOf = (history: string): string => basename(dirname(history));

/**
 * Does something while a running task rests. It is woken again whatever comes of it.
 * @param history path of the task's `api_conversation_history.json`.
 * @throws GiveBackError `running` where the task could not be put to rest; and what the action throws.
 */
export async function whilePaused<T>(
  api: RooApi,
  files: Files,
  history: string,
  clock: Clock,
  action: () => Promise<T>,
): Promise<T> {
  const task = taskOf(history);
  const stack = await api.getCurrentTaskStack();
  const open: readonly unknown[] = Array.isArray(stack) ? stack : [];
  // One that is not open there runs in another window, which can't be reached from here.
  if (!open.includes(task)) throw runningError(history, 'The task is not open in the agent of this window.');
  if (open.length > 1) throw runningError(history, 'The task has a subtask or is one.');
  try {
    await api.cancelCurrentTask();
    await api.clearCurrentTask();
    await settled(files, history, clock);
    return await action();
  } finally {
    await api.resumeTask(task);
  }
}

/** Waits until the agent has not written for as long as a task at rest doesn't. */
async function settled(files: Files, history: string, { now, wait }: Clock): Promise<void> {
  const end = now() + SETTLE_MS;
  while (now() < end) {
    const status = await statusIfThere(files, history);
    if (status && now() - status.modified >= QUIET_MS) return;
    await wait(STEP_MS);
  }
  throw runningError(history, 'The agent kept writing to the task.');
}
