import { getBlocks, isToolResult } from './blocks';
import type { ApiMessage } from './types';

/**
 * Index of the task: the last of the user's messages before the first answer; -1 where there is none. Agents put messages
 * about the environment in front of what the user said, Codex some of the developer's between them, and Claude Code its
 * listings behind it.
 */
export function taskIndex(messages: readonly ApiMessage[]): number {
  const first = messages.findIndex((message) => message.role === 'user');
  if (first < 0) return first;
  const end = messages.findIndex((message, index) => index > first && message.role !== 'system' && !isWords(message));
  const isCandidate = ({ role }: ApiMessage, index: number): boolean => role === 'user' && (end < 0 || index < end);
  const said = messages.findLastIndex((message, index) => isCandidate(message, index) && !isAddedByAgent(message));
  return said < 0 ? messages.findLastIndex(isCandidate) : said;
}

/** True for a message that the agent's program adds beside what people and models say: listings, notices, reminders. */
export const isAddedByAgent = (message: ApiMessage): boolean => message['addedByAgent'] === true;

/**
 * Index of the user's message that the open turn began with; -1 where there is none. The API merges neighbours of one role: a word
 * that the user puts in behind results goes on with the turn.
 */
export function turnStart(messages: readonly ApiMessage[]): number {
  /** Where the run of user messages that is being looked at ends. */
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

/** True for a summary in the history: ours, or one that the agent itself made (Claude Code, Roo). */
export const isSummaryMessage = (message: ApiMessage): boolean =>
  message['isSummary'] === true || message['isCompactSummary'] === true;

const isWords = (message: ApiMessage): boolean =>
  message.role === 'user' && !isSummaryMessage(message) && !getBlocks(message).some(isToolResult);
