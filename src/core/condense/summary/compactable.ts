import { isAnyThinking, isRecord, isText, isToolResult, isToolUse, REASONING_BLOCK_TYPE } from '../../messages/blocks';
import type { ApiMessage, Block } from '../../messages/types';

/**
 * Drops thinking, because it may belong to another model, and replaces images, documents and the
 * like with their type.
 */
export const convertForCompaction = (messages: readonly ApiMessage[]): ApiMessage[] =>
  messages.flatMap((message) => {
    const { content } = message;
    const convertedContent = typeof content === 'string' ? content : content.flatMap(convertBlockForCompaction);
    return convertedContent.length === 0 ? [] : [{ ...message, content: convertedContent }];
  });

function convertBlockForCompaction(block: Block): Block[] {
  if (isAnyThinking(block) || block.type === REASONING_BLOCK_TYPE) return [];
  if (isToolResult(block)) {
    return [
      Array.isArray(block.content)
        ? { ...block, content: (block.content as readonly unknown[]).map(convertBlockToText) }
        : block,
    ];
  }
  return [isText(block) || isToolUse(block) ? block : convertBlockToText(block)];
}

function convertBlockToText(block: unknown): Block {
  if (isRecord(block) && isText(block as Block)) return block as Block;
  const kind = isRecord(block) && typeof block['type'] === 'string' ? block['type'] : 'data';
  return { type: 'text', text: `(${kind})` };
}
