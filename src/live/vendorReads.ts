/** What of a request its vendor reads. What it need not read says nothing of its window. */
import { getBlocks, isRecord, isText, isToolResult, isToolUse } from '../core/messages/blocks';
import type { ApiMessage, Block } from '../core/messages/types';
import type { MessageCounter } from '../core/tokens/messageCounter';

/**
 * O200k tokens of what a vendor may leave out or counts in ways of its own: thinking of earlier turns (Anthropic API guide, "Extended
 * thinking"), images, what its own searches found, and blocks of an unknown kind.
 */
export const optionalTokens = (messages: readonly ApiMessage[], counter: MessageCounter): number =>
  messages.reduce((sum, message) => sum + optionalIn(getBlocks(message), counter), 0);

const optionalIn = (blocks: readonly Block[], counter: MessageCounter): number =>
  blocks.reduce((sum, block) => sum + optionalOf(block, counter), 0);

function optionalOf(block: Block, counter: MessageCounter): number {
  if (isText(block) || isToolUse(block)) return 0;
  if (!isToolResult(block)) return counter.block(block);
  const { content } = block;
  return Array.isArray(content) ? optionalIn((content as readonly Block[]).filter(isRecord), counter) : 0;
}

/**
 * Whether a request's body tells the vendor to read something else than what it holds, so that the reported tokens say nothing of it.
 *
 * - `context_management` leaves out old calls and results or sums them up (Anthropic API guide, "Context editing": "Applied before the prompt
 *   reaches Claude"; OpenAI guide "Compaction"). Clearing thinking alone, which Claude Code asks for in each request, is no reason: nobody
 *   relies on thinking to be read ({@link optionalTokens}).
 * - `cachedContent` names what Gemini keeps, and `promptTokenCount` "includes the number of tokens in the cached content" (Gemini API
 *   reference, "UsageMetadata").
 */
export function isReadOtherwise(body: Readonly<Record<string, unknown>>): boolean {
  const { context_management: management, cachedContent, cached_content: cached } = body;
  if (typeof (cachedContent ?? cached) === 'string') return true;
  const edits = isRecord(management) ? management['edits'] : management;
  return Array.isArray(edits) && edits.some((edit: unknown) => !isRecord(edit) || !clearsThinking(edit['type']));
}

const clearsThinking = (type: unknown): boolean => typeof type === 'string' && type.startsWith('clear_thinking_');
