import type { ApiMessage, Block, ImageBlock, TextBlock, ThinkingBlock, ToolResultBlock, ToolUseBlock } from './types';

/** Type guards for blocks. A block that lacks a required field counts as unknown and is kept. */
export const isText = (block: Block): block is TextBlock => block.type === 'text' && typeof block['text'] === 'string';

export const isImage = (block: Block): block is ImageBlock => block.type === 'image';

export const isThinking = (block: Block): block is ThinkingBlock =>
  block.type === 'thinking' && typeof block['thinking'] === 'string';

export const isToolUse = (block: Block): block is ToolUseBlock =>
  block.type === 'tool_use' && typeof block['id'] === 'string' && typeof block['name'] === 'string';

export const isToolResult = (block: Block): block is ToolResultBlock =>
  block.type === 'tool_result' && typeof block['tool_use_id'] === 'string';

/**
 * Includes redacted thinking. The content is signed, so we keep it unchanged or remove the whole
 * block.
 */
export const isAnyThinking = (block: Block): boolean => block.type === 'thinking' || block.type === 'redacted_thinking';

/**
 * Block type for encrypted reasoning of OpenAI's Responses API. Its `item` is sent back unchanged,
 * and only to that API.
 */
export const REASONING_BLOCK_TYPE = 'openai_reasoning';

/** Returns no blocks if the content is a string, unlike {@link toBlocks}. */
export const getBlocks = (message: ApiMessage): readonly Block[] =>
  typeof message.content === 'string' ? [] : message.content;

export const toBlocks = ({ content }: Pick<ApiMessage, 'content'>): readonly Block[] =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : content;

export const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
