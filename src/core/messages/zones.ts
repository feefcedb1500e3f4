import { isText, isToolResult } from './blocks';
import { findTaskMessage } from './task';
import type { ApiMessage } from './types';
import { parseXmlResultHeader } from './xmlTools';
import type { MessageRange } from './messageRange';

/**
 * Returns the messages that may change: neither the task nor recent ones. Never separates a call
 * from its results.
 */
export function findOldMessages(messages: readonly ApiMessage[], keepRecent: number): MessageRange {
  const start = findTaskMessage(messages) + 1;
  let end = Math.max(start, messages.length - keepRecent);
  while (end > start && containsResults(messages[end])) end--;
  return { start, end };
}

const containsResults = (message: ApiMessage | undefined): boolean => {
  if (message?.role !== 'user') return false;
  if (typeof message.content === 'string') return parseXmlResultHeader(message.content) !== undefined;
  return message.content.some(
    (block) => isToolResult(block) || (isText(block) && parseXmlResultHeader(block.text) !== undefined),
  );
};
