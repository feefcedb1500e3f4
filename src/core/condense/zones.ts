import { blocksOf, isToolResult } from '../messages/blocks';
import type { ApiMessage } from '../messages/types';

/** Which messages an operation may touch: those from `start` up to, not including, `end`. */
export interface Zone {
  readonly start: number;
  readonly end: number;
}

/**
 * The old zone: behind the task, before the recent messages. A call and its results are never parted by its end.
 * @param keepRecent how many of the newest messages are recent.
 */
export function oldZone(messages: readonly ApiMessage[], keepRecent: number): Zone {
  const start = messages.findIndex((message) => message.role === 'user') + 1;
  let end = Math.max(start, messages.length - keepRecent);
  const first = messages[end];
  if (first && end > start && blocksOf(first).some(isToolResult)) end -= 1;
  return { start, end };
}
