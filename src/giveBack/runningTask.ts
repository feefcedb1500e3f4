/** Whether a task of the Roo family is at rest: only then is it written to. */
import { dirname, join } from 'node:path';
import { isRecord } from '../core/messages/blocks';
import type { Files } from '../storage/files';
import { statusIfThere } from '../storage/fileTools';
import { readBytes } from './fileBytes';
import { missingError, runningError } from './giveBackError';

/** Milliseconds. An agent that works writes at least at every answer and every tool; a file that was written since may be one's. */
export const QUIET_MS = 5_000;

/**
 * @param history path of the task's `api_conversation_history.json`.
 * @param now milliseconds since the epoch.
 * @throws GiveBackError `running` where it isn't at rest.
 */
export async function refuseRunning(files: Files, history: string, now: number): Promise<void> {
  const status = await statusIfThere(files, history);
  if (!status) throw missingError(history);
  if (now - status.modified < QUIET_MS) {
    throw runningError(history, 'The agent wrote to this task a moment ago; it may be working on it.');
  }
  const delegation = await delegationOf(files, join(dirname(history), 'history_item.json'));
  if (delegation) throw runningError(history, delegation);
}

/** A task that waits for its subtask is woken by it, with what it holds in memory. */
async function delegationOf(files: Files, path: string): Promise<string | undefined> {
  const bytes = await readBytes(files, path);
  if (!bytes) return undefined;
  let item: unknown;
  try {
    item = JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    return undefined;
  }
  if (!isRecord(item)) return undefined;
  const waits = item['status'] === 'delegated' || typeof item['awaitingChildId'] === 'string';
  return waits ? 'The task is waiting for a subtask that it started.' : undefined;
}
