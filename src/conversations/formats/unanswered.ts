import { getBlocks, isToolResult, isToolUse } from '../../core/messages/blocks';
import type { ApiMessage } from '../../core/messages/types';
import { formatPlural } from '../../core/plural';

/**
 * Finds calls without a result in the next user message: they were interrupted, or their results
 * were stored as text.
 */
export function findUnansweredCalls(messages: readonly ApiMessage[]): readonly { message: number; id: string }[] {
  return messages.flatMap((message, index) => {
    if (message.role !== 'assistant') return [];
    const nextMessage = messages[index + 1];
    const answeredIds = new Set(
      nextMessage?.role === 'user'
        ? getBlocks(nextMessage)
            .filter(isToolResult)
            .map((block) => block.tool_use_id)
        : [],
    );
    return getBlocks(message)
      .filter(isToolUse)
      .filter(({ id }) => !answeredIds.has(id))
      .map(({ id }) => ({ message: index, id }));
  });
}

/** Agents handle interrupted calls in their own way, so nothing is repaired. */
export function describeUnansweredCalls(messages: readonly ApiMessage[]): readonly string[] {
  const calls = findUnansweredCalls(messages);
  const firstCall = calls[0];
  if (!firstCall) return [];
  return [
    `${formatPlural(calls.length, 'tool call')} without a result (first: message ${firstCall.message + 1}); left as it is.`,
  ];
}
