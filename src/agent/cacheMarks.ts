/**
 * Sets breakpoints for Anthropic's prompt cache (API guide, "Prompt caching"). VS Code's own
 * breakpoints are removed when its messages are converted.
 */
import type { ApiRequest } from '../api/types';
import type { CacheLifetime } from '../core/cost/prices';
import { toBlocks } from '../core/messages/blocks';
import type { ApiMessage, TextBlock } from '../core/messages/types';

const MAX_CACHE_BREAKPOINTS = 4;

export function addCacheMarks(request: ApiRequest, marks: readonly number[], lifetime: CacheLifetime): ApiRequest {
  if (lifetime === 'none') return request;
  const { tools = [], system = [], messages } = request;
  const cacheControl = { type: 'ephemeral', ...(lifetime === '1h' && { ttl: '1h' }) };
  const prompt: readonly TextBlock[] = typeof system === 'string' ? [{ type: 'text', text: system }] : system;
  // The system prompt follows the tools, so a breakpoint on it covers both.
  const markedPrompt = markLastElement(prompt, cacheControl);
  const maxMarks = MAX_CACHE_BREAKPOINTS - (prompt.length > 0 || tools.length > 0 ? 1 : 0);
  const markedIndexes = new Set(selectMarkableMessages(marks, messages, maxMarks));
  const isToolMarked = prompt.length === 0 || markedIndexes.size < maxMarks;
  return {
    ...request,
    messages: messages.map((message, index) =>
      markedIndexes.has(index) ? markMessage(message, cacheControl) : message,
    ),
    ...(prompt.length > 0 && { system: markedPrompt }),
    ...(tools.length > 0 && isToolMarked && { tools: markLastElement(tools, cacheControl) }),
  };
}

/**
 * Of the indexes that can carry a breakpoint, keeps the first (end of the condensed prefix) and the
 * newest ones.
 */
function selectMarkableMessages(marks: readonly number[], messages: readonly ApiMessage[], maxMarks: number): number[] {
  const markableIndexes = [...new Set(marks)]
    .filter((index) => findMarkableBlock(messages[index]) >= 0)
    .toSorted((a, b) => a - b);
  return markableIndexes.length <= maxMarks
    ? markableIndexes
    : [...markableIndexes.slice(0, 1), ...markableIndexes.slice(1 - maxMarks)];
}

/** Types of blocks that can carry a breakpoint. Thinking can't. */
const MARKABLE_BLOCK_TYPES = new Set(['text', 'image', 'document', 'tool_use', 'tool_result']);

const findMarkableBlock = (message: ApiMessage | undefined): number =>
  message ? toBlocks(message).findLastIndex(({ type }) => MARKABLE_BLOCK_TYPES.has(type)) : -1;

function markMessage(message: ApiMessage, mark: object): ApiMessage {
  const blockIndex = findMarkableBlock(message);
  return {
    ...message,
    content: toBlocks(message).map((block, index) => (index === blockIndex ? addCacheControl(block, mark) : block)),
  };
}

const markLastElement = <T extends object>(values: readonly T[], mark: object): T[] =>
  values.map((value, index) => (index === values.length - 1 ? addCacheControl(value, mark) : value));

const addCacheControl = <T extends object>(value: T, mark: object): T => ({ ...value, cache_control: mark });
