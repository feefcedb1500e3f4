/**
 * The Roo family's API for other extensions. Source: Roo Code 3.52, `packages/types/src/api.ts`
 * (`RooCodeAPI`). Tested with a double, not with the real extension.
 */
import { basename, dirname } from 'node:path';
import { isRecord } from '../core/messages/blocks';
import type { Files } from '../storage/files';
import { readStatusIfPresent } from '../storage/fileTools';
import { createTaskRunningError } from './giveBackError';
import { MIN_QUIET_MS } from './runningTask';

export interface RooApi {
  /** IDs of open tasks: the active one last, after those that wait for it. */
  getCurrentTaskStack(): unknown;
  /** Aborts the task; the agent reopens it in a waiting state. */
  cancelCurrentTask(): unknown;
  /** Closes the task, so that the agent drops its history from memory. */
  clearCurrentTask(): unknown;
  resumeTask(id: string): unknown;
}

const REQUIRED_METHODS = ['getCurrentTaskStack', 'cancelCurrentTask', 'clearCurrentTask', 'resumeTask'] as const;

export const parseRooApi = (exported: unknown): RooApi | undefined =>
  // Each method was checked.
  isRecord(exported) && REQUIRED_METHODS.every((name) => typeof exported[name] === 'function')
    ? (exported as unknown as RooApi)
    : undefined;

export interface WaitingClock {
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly wait: (ms: number) => Promise<void>;
}

/** The agent may keep writing for this long after it was stopped. */
const MAX_WAIT_FOR_QUIET_MS = 30_000;
const POLL_INTERVAL_MS = 500;

const getTaskIdOfHistory = (history: string): string => basename(dirname(history));

/**
 * Always resumes the task.
 * @throws GiveBackError `running` if the task could not be paused; the action's errors
 */
export async function runWhileTaskPaused<T>(
  api: RooApi,
  files: Files,
  history: string,
  clock: WaitingClock,
  action: () => Promise<T>,
): Promise<T> {
  const taskId = getTaskIdOfHistory(history);
  const taskStack = await api.getCurrentTaskStack();
  const openTasks: readonly unknown[] = Array.isArray(taskStack) ? taskStack : [];
  // The task runs in another window, which can't be reached.
  if (!openTasks.includes(taskId))
    throw createTaskRunningError(history, 'The task is not open in the agent of this window.');
  if (openTasks.length > 1) throw createTaskRunningError(history, 'The task has a subtask or is one.');
  try {
    await api.cancelCurrentTask();
    await api.clearCurrentTask();
    await waitUntilFileUnchanged(files, history, clock);
    return await action();
  } finally {
    await api.resumeTask(taskId);
  }
}

async function waitUntilFileUnchanged(files: Files, history: string, { now, wait }: WaitingClock): Promise<void> {
  const deadline = now() + MAX_WAIT_FOR_QUIET_MS;
  while (now() < deadline) {
    const status = await readStatusIfPresent(files, history);
    if (status && now() - status.modified >= MIN_QUIET_MS) return;
    await wait(POLL_INTERVAL_MS);
  }
  throw createTaskRunningError(history, 'The agent kept writing to the task.');
}
