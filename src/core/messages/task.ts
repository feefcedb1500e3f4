import { blocksOf, isToolResult } from './blocks';
import type { ApiMessage } from './types';

/**
 * Index of the task: the last of the user's messages before the first answer; -1 where there is none. VS Code's agent mode
 * puts a message about the environment in front of what the user said.
 */
export function taskIndex(messages: readonly ApiMessage[]): number {
  let task = messages.findIndex((message) => message.role === 'user');
  if (task < 0) return task;
  while (isWords(messages[task + 1])) task++;
  return task;
}

/** True for a summary in the history: ours, or one that the agent itself made (Claude Code, Roo). */
export const isSummaryMessage = (message: ApiMessage): boolean =>
  message['isSummary'] === true || message['isCompactSummary'] === true;

const isWords = (message: ApiMessage | undefined): boolean =>
  message?.role === 'user' && !isSummaryMessage(message) && !blocksOf(message).some(isToolResult);
