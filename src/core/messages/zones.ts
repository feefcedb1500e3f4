import { isText, isToolResult } from './blocks';
import { taskIndex } from './task';
import type { ApiMessage } from './types';
import { xmlResultHeader } from './xmlTools';
import type { MessageRange } from './messageRange';

/**
 * The old zone, which an operation may touch: behind the task, before the recent messages. A call and its results are never parted by its end.
 * @param keepRecent how many of the newest messages are recent.
 */
export function oldZone(messages: readonly ApiMessage[], keepRecent: number): MessageRange {
  const start = taskIndex(messages) + 1;
  let end = Math.max(start, messages.length - keepRecent);
  while (end > start && holdsResults(messages[end])) end--;
  return { start, end };
}

const holdsResults = (message: ApiMessage | undefined): boolean => {
  if (message?.role !== 'user') return false;
  if (typeof message.content === 'string') return xmlResultHeader(message.content) !== undefined;
  return message.content.some(
    (block) => isToolResult(block) || (isText(block) && xmlResultHeader(block.text) !== undefined),
  );
};
