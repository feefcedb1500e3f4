/** A conversation as a vendor's own compaction is sent it. */
import { isAnyThinking, isRecord, isText, isToolResult, isToolUse, REASONING_BLOCK } from '../../messages/blocks';
import type { ApiMessage, Block } from '../../messages/types';

/**
 * The messages with what they say and do: without thinking, which may belong to another model or to a prefix that has changed, and with the
 * kind of everything else (images, documents, server tools) in its place, as in a transcript. Messages with nothing left go.
 */
export const compactable = (messages: readonly ApiMessage[]): ApiMessage[] =>
  messages.flatMap((message) => {
    const { content } = message;
    const kept = typeof content === 'string' ? content : content.flatMap(compactableBlock);
    return kept.length === 0 ? [] : [{ ...message, content: kept }];
  });

function compactableBlock(block: Block): Block[] {
  if (isAnyThinking(block) || block.type === REASONING_BLOCK) return [];
  if (isToolResult(block)) {
    return [
      Array.isArray(block.content) ? { ...block, content: (block.content as readonly unknown[]).map(asText) } : block,
    ];
  }
  return [isText(block) || isToolUse(block) ? block : asText(block)];
}

function asText(block: unknown): Block {
  if (isRecord(block) && isText(block as Block)) return block as Block;
  const kind = isRecord(block) && typeof block['type'] === 'string' ? block['type'] : 'data';
  return { type: 'text', text: `(${kind})` };
}
