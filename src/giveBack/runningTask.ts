import { dirname, join } from 'node:path';
import { isRecord } from '../core/messages/blocks';
import type { Files } from '../storage/files';
import { readStatusIfPresent } from '../storage/fileTools';
import { readFileBytesIfPresent } from './fileBytes';
import { createFileMissingError, createTaskRunningError } from './giveBackError';

/**
 * A working agent writes at every answer and tool call, so a newer file may be in use.
 * Milliseconds.
 */
export const MIN_QUIET_MS = 5_000;

/**
 * @param now milliseconds since the epoch
 * @throws GiveBackError `running` if the task isn't idle
 */
export async function rejectRunningTask(files: Files, history: string, now: number): Promise<void> {
  const status = await readStatusIfPresent(files, history);
  if (!status) throw createFileMissingError(history);
  if (now - status.modified < MIN_QUIET_MS) {
    throw createTaskRunningError(history, 'The agent wrote to this task a moment ago; it may be working on it.');
  }
  const delegation = await findDelegatedTask(files, join(dirname(history), 'history_item.json'));
  if (delegation) throw createTaskRunningError(history, delegation);
}

/** A task that waits for its subtask resumes with what it has in memory. */
async function findDelegatedTask(files: Files, path: string): Promise<string | undefined> {
  const bytes = await readFileBytesIfPresent(files, path);
  if (!bytes) return undefined;
  let historyItem: unknown;
  try {
    historyItem = JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    return undefined;
  }
  if (!isRecord(historyItem)) return undefined;
  const waitsForChild = historyItem['status'] === 'delegated' || typeof historyItem['awaitingChildId'] === 'string';
  return waitsForChild ? 'The task is waiting for a subtask that it started.' : undefined;
}
