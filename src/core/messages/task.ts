import { blocksOf, isToolResult } from './blocks';
import type { ApiMessage } from './types';

/**
 * Index of the task: the last of the user's messages before the first answer; -1 where there is none. Agents put messages
 * about the environment in front of what the user said, Codex some of the developer's between them.
 */
export function taskIndex(messages: readonly ApiMessage[]): number {
  const first = messages.findIndex((message) => message.role === 'user');
  if (first < 0) return first;
  const end = messages.findIndex((message, index) => index > first && message.role !== 'system' && !isWords(message));
  return messages.findLastIndex(({ role }, index) => role === 'user' && (end < 0 || index < end));
}

/** True for a summary in the history: ours, or one that the agent itself made (Claude Code, Roo). */
export const isSummaryMessage = (message: ApiMessage): boolean =>
  message['isSummary'] === true || message['isCompactSummary'] === true;

const isWords = (message: ApiMessage): boolean =>
  message.role === 'user' && !isSummaryMessage(message) && !blocksOf(message).some(isToolResult);
