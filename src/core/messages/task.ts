import { getBlocks, isToolResult } from './blocks';
import type { ApiMessage } from './types';

/**
 * Returns the index of the last user message before the first answer, or -1. Agents add messages
 * before the task (Codex) and after it (Claude Code).
 */
export function findTaskMessage(messages: readonly ApiMessage[]): number {
  const firstUserMessage = messages.findIndex((message) => message.role === 'user');
  if (firstUserMessage < 0) return firstUserMessage;
  const taskEnd = messages.findIndex(
    (message, index) => index > firstUserMessage && message.role !== 'system' && !hasUserText(message),
  );
  const isCandidate = ({ role }: ApiMessage, index: number): boolean =>
    role === 'user' && (taskEnd < 0 || index < taskEnd);
  const lastUserMessage = messages.findLastIndex(
    (message, index) => isCandidate(message, index) && !isAddedByAgent(message),
  );
  return lastUserMessage < 0 ? messages.findLastIndex(isCandidate) : lastUserMessage;
}

export const isAddedByAgent = (message: ApiMessage): boolean => message['addedByAgent'] === true;

/**
 * Returns the index of the user message that started the open turn, or -1. The API merges
 * consecutive messages of one role, so user text after results continues the turn.
 */
export function findStartOfUnfinishedTurn(messages: readonly ApiMessage[]): number {
  let end = -1;
  let isAnswering = false;
  for (let index = messages.length - 1; index >= 0; index--) {
    const message = messages[index] as ApiMessage;
    if (isAddedByAgent(message)) continue;
    if (message.role === 'user') {
      if (end < 0) [end, isAnswering] = [index, false];
      isAnswering ||= getBlocks(message).some(isToolResult);
    } else if (end >= 0 && !isAnswering) return end;
    else end = -1;
  }
  return isAnswering ? -1 : end;
}

/** True for our summaries and for those that the agent itself made (Claude Code, Roo). */
export const isSummaryMessage = (message: ApiMessage): boolean =>
  message['isSummary'] === true || message['isCompactSummary'] === true;

const hasUserText = (message: ApiMessage): boolean =>
  message.role === 'user' && !isSummaryMessage(message) && !getBlocks(message).some(isToolResult);
