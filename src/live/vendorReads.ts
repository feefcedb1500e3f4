/**
 * Counts the tokens that a vendor must read. Tokens that it may skip say nothing about the size of
 * its window.
 */
import { getBlocks, isRecord, isText, isToolResult, isToolUse } from '../core/messages/blocks';
import type { ApiMessage, Block } from '../core/messages/types';
import type { MessageCounter } from '../core/tokens/messageCounter';

/**
 * Thinking of earlier turns (Anthropic API guide, "Extended thinking"), images, results of the
 * vendor's own searches, and unknown blocks, in o200k tokens.
 */
export const countTokensVendorMaySkip = (messages: readonly ApiMessage[], counter: MessageCounter): number =>
  messages.reduce((sum, message) => sum + sumOptionalTokens(getBlocks(message), counter), 0);

const sumOptionalTokens = (blocks: readonly Block[], counter: MessageCounter): number =>
  blocks.reduce((sum, block) => sum + countOptionalTokensOfBlock(block, counter), 0);

function countOptionalTokensOfBlock(block: Block, counter: MessageCounter): number {
  if (isText(block) || isToolUse(block)) return 0;
  if (!isToolResult(block)) return counter.countBlock(block);
  const { content } = block;
  return Array.isArray(content) ? sumOptionalTokens((content as readonly Block[]).filter(isRecord), counter) : 0;
}

/**
 * True if reported tokens say nothing about the body's content.
 *
 * - `context_management` drops or summarizes old calls and results (Anthropic API guide, "Context
 * editing"; OpenAI guide "Compaction"). Clearing only thinking, which Claude Code always requests,
 * doesn't count.
 * - Gemini's `promptTokenCount` includes the tokens of `cachedContent` (Gemini API reference,
 * "UsageMetadata").
 */
export function hasServerSideContextEdits(body: Readonly<Record<string, unknown>>): boolean {
  const { context_management: management, cachedContent, cached_content: cached } = body;
  if (typeof (cachedContent ?? cached) === 'string') return true;
  const edits = isRecord(management) ? management['edits'] : management;
  return Array.isArray(edits) && edits.some((edit: unknown) => !isRecord(edit) || !isClearThinkingEdit(edit['type']));
}

const isClearThinkingEdit = (type: unknown): boolean => typeof type === 'string' && type.startsWith('clear_thinking_');
