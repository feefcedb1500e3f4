/**
 * Counts the tokens of a request that a vendor must read. Tokens that it may skip say nothing about
 * the size of its window.
 */
import { getBlocks, isRecord, isText, isToolResult, isToolUse } from '../core/messages/blocks';
import type { ApiMessage, Block } from '../core/messages/types';
import type { MessageCounter } from '../core/tokens/messageCounter';

/**
 * o200k tokens that a vendor may skip or count differently: thinking of earlier turns (Anthropic
 * API guide, "Extended thinking"), images, results of its own searches, and unknown blocks.
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
 * True if the vendor reads something other than the body's content, so that reported tokens say
 * nothing about it.
 *
 * - `context_management` drops or summarizes old calls and results (Anthropic API guide, "Context
 * editing": "Applied before the prompt reaches Claude"; OpenAI guide "Compaction"). Clearing only
 * thinking, which Claude Code requests every time, doesn't count.
 * - `cachedContent` names what Gemini keeps, and `promptTokenCount` "includes the number of tokens
 * in the cached content" (Gemini API reference, "UsageMetadata").
 */
export function hasServerSideContextEdits(body: Readonly<Record<string, unknown>>): boolean {
  const { context_management: management, cachedContent, cached_content: cached } = body;
  if (typeof (cachedContent ?? cached) === 'string') return true;
  const edits = isRecord(management) ? management['edits'] : management;
  return Array.isArray(edits) && edits.some((edit: unknown) => !isRecord(edit) || !isClearThinkingEdit(edit['type']));
}

const isClearThinkingEdit = (type: unknown): boolean => typeof type === 'string' && type.startsWith('clear_thinking_');
