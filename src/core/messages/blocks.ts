import type { ApiMessage, Block, ImageBlock, TextBlock, ThinkingBlock, ToolResultBlock, ToolUseBlock } from './types';

/** Kinds of blocks: what has the type and lacks a field that all code relies on is an unknown block, and kept. */
export const isText = (block: Block): block is TextBlock => block.type === 'text' && typeof block['text'] === 'string';

/** An image; its source is not looked at. */
export const isImage = (block: Block): block is ImageBlock => block.type === 'image';

/** Thinking in plain words; the redacted kind is told apart by {@link isAnyThinking}. */
export const isThinking = (block: Block): block is ThinkingBlock =>
  block.type === 'thinking' && typeof block['thinking'] === 'string';

/** A tool call with an id and a name. */
export const isToolUse = (block: Block): block is ToolUseBlock =>
  block.type === 'tool_use' && typeof block['id'] === 'string' && typeof block['name'] === 'string';

/** The result of a tool call, which it names. */
export const isToolResult = (block: Block): block is ToolResultBlock =>
  block.type === 'tool_result' && typeof block['tool_use_id'] === 'string';

/** Thinking in either form: its content is signed, so it is left untouched or removed whole. */
export const isAnyThinking = (block: Block): boolean => block.type === 'thinking' || block.type === 'redacted_thinking';

/** The encrypted reasoning of OpenAI's Responses API: `item` goes back to it unchanged, and to no other vendor. */
export const REASONING_BLOCK = 'openai_reasoning';

/** The blocks of a message; string content has none. */
export const getBlocks = (message: ApiMessage): readonly Block[] =>
  typeof message.content === 'string' ? [] : message.content;

/** Whether a value is an object with fields: no list, and not null. */
export const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
