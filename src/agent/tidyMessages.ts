/**
 * VS Code gives each result its own message and keeps interrupted turns. Vendors want all results
 * of an answer at the start of the next message. The beginning of a growing history stays
 * byte-identical.
 */
import { getBlocks, isRecord, isToolResult, isToolUse } from '../core/messages/blocks';
import type { ApiMessage, Block, ToolResultBlock, ToolUseBlock } from '../core/messages/types';

export const MISSING_RESULT_TEXT = 'The call was interrupted before it had a result.';

/** Histories with the same beginning give messages with the same beginning. */
export function makeMessagesValid(messages: readonly ApiMessage[]): ApiMessage[] {
  const ids = new UniqueCallIds();
  const validMessages: ApiMessage[] = [];
  let unansweredIds: readonly string[] = [];
  for (let index = 0; index < messages.length; index++) {
    const message = messages[index];
    if (message === undefined) break;
    if (message.role === 'user') {
      const end = findEndOfUserMessages(messages, index);
      validMessages.push(...addMissingResults(messages.slice(index, end), unansweredIds, ids));
      unansweredIds = [];
      index = end - 1;
    } else {
      // No user message follows the calls, so adds one with the missing results.
      if (unansweredIds.length > 0) validMessages.push({ role: 'user', content: unansweredIds.map(makeMissingResult) });
      unansweredIds = [];
      const content = getBlocks(message).map((block) => (isToolUse(block) ? ids.assignUniqueId(block) : block));
      if (content.length > 0) validMessages.push({ ...message, content });
      if (message.role === 'assistant') unansweredIds = content.filter(isToolUse).map(({ id }) => id);
    }
  }
  return unansweredIds.length > 0
    ? [...validMessages, { role: 'user', content: unansweredIds.map(makeMissingResult) }]
    : validMessages;
}

const makeMissingResult = (id: string): Block => ({
  type: 'tool_result',
  tool_use_id: id,
  content: MISSING_RESULT_TEXT,
  is_error: true,
});

function findEndOfUserMessages(messages: readonly ApiMessage[], start: number): number {
  let end = start + 1;
  while (messages[end]?.role === 'user') end++;
  return end;
}

/** Puts an answer's results into the first user message after it, in call order. */
function addMissingResults(
  run: readonly ApiMessage[],
  unansweredIds: readonly string[],
  ids: UniqueCallIds,
): ApiMessage[] {
  const results = new Map<string, ToolResultBlock>();
  const messagesWithoutResults = run.flatMap((message) => {
    const otherBlocks = getBlocks(message).flatMap((block): Block[] => {
      if (!isToolResult(block)) return [block];
      const id = ids.findAnsweredCallId(block.tool_use_id);
      if (id === undefined || !unansweredIds.includes(id) || results.has(id)) return toTextBlocks(block);
      results.set(id, { ...block, tool_use_id: id });
      return [];
    });
    return otherBlocks.length > 0 ? [{ ...message, content: otherBlocks }] : [];
  });
  if (unansweredIds.length === 0) return messagesWithoutResults;
  return [
    { role: 'user', content: unansweredIds.map((id) => results.get(id) ?? makeMissingResult(id)) },
    ...messagesWithoutResults,
  ];
}

/** Vendors reject a result without its call, so keep its text. */
function toTextBlocks({ content }: ToolResultBlock): Block[] {
  if (typeof content !== 'string') return [...(content ?? [])];
  return content.trim() === '' ? [] : [{ type: 'text', text: content }];
}

export function assignUniqueCallIds(
  messages: readonly ApiMessage[],
  precedingMessages: readonly ApiMessage[],
): ApiMessage[] {
  const ids = new UniqueCallIds();
  for (const call of precedingMessages.flatMap(getBlocks).filter(isToolUse)) ids.assignUniqueId(call);
  const assignNewId = (block: Block): Block => {
    if (isToolUse(block)) return ids.assignUniqueId(block);
    return isToolResult(block)
      ? { ...block, tool_use_id: ids.findAnsweredCallId(block.tool_use_id) ?? block.tool_use_id }
      : block;
  };
  return messages.map((message) => ({ ...message, content: getBlocks(message).map(assignNewId) }));
}

/**
 * Makes call ids unique and valid: letters, digits, _ and - (Anthropic). Some local servers count
 * from 0 in each answer.
 */
class UniqueCallIds {
  private readonly usedIds = new Set<string>();
  /** By a call's ID in the chat, the unique ID that was assigned to it last. */
  private readonly newIds = new Map<string, string>();

  assignUniqueId(block: ToolUseBlock): ToolUseBlock {
    const sanitizedId = sanitizeId(block.id);
    let id = sanitizedId;
    for (let number = 2; this.usedIds.has(id); number++) id = `${sanitizedId}_${number}`;
    this.usedIds.add(id);
    this.newIds.set(block.id, id);
    const input = isRecord(block.input) ? block.input : { input: block.input };
    return id === block.id && input === block.input ? block : { ...block, id, input };
  }

  findAnsweredCallId(id: string): string | undefined {
    return this.newIds.get(id);
  }
}

export const sanitizeId = (id: string): string => (id === '' ? 'call' : id.replace(/[^\w-]/g, '_'));
