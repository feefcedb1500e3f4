/**
 * Breakpoints of Anthropic's prompt cache (API guide, "Prompt caching"): at most four in a request. What VS Code puts into
 * messages for it is taken out where they are converted, so that ours are all.
 */
import type { ApiRequest } from '../api/types';
import type { CacheLifetime } from '../core/cost/prices';
import type { ApiMessage, Block, TextBlock } from '../core/messages/types';

const MAX_BREAKPOINTS = 4;

/** The request with a breakpoint at the given messages, at its system prompt, and where one is left at its tools. */
export function withCacheMarks(request: ApiRequest, marks: readonly number[], lifetime: CacheLifetime): ApiRequest {
  if (lifetime === 'none') return request;
  const { tools = [], system = [], messages } = request;
  const mark = { type: 'ephemeral', ...(lifetime === '1h' && { ttl: '1h' }) };
  const prompt: readonly TextBlock[] = typeof system === 'string' ? [{ type: 'text', text: system }] : system;
  // The system prompt stands behind the tools: its breakpoint holds for both.
  const markedPrompt = withMarkAtEnd(prompt, mark);
  const most = MAX_BREAKPOINTS - (prompt.length > 0 || tools.length > 0 ? 1 : 0);
  const marked = new Set(chosen(marks, messages, most));
  const isToolMarked = prompt.length === 0 || marked.size < most;
  return {
    ...request,
    messages: messages.map((message, index) => (marked.has(index) ? withMark(message, mark) : message)),
    ...(prompt.length > 0 && { system: markedPrompt }),
    ...(tools.length > 0 && isToolMarked && { tools: withMarkAtEnd(tools, mark) }),
  };
}

/** At most so many of the messages that can be marked: the first, which is the condensed prefix, and the newest. */
function chosen(marks: readonly number[], messages: readonly ApiMessage[], most: number): number[] {
  const possible = [...new Set(marks)].filter((index) => markableAt(messages[index]) >= 0).toSorted((a, b) => a - b);
  return possible.length <= most ? possible : [...possible.slice(0, 1), ...possible.slice(1 - most)];
}

/** Thinking can't be marked. */
const MARKABLE = new Set(['text', 'image', 'document', 'tool_use', 'tool_result']);

const blocksOf = ({ content }: ApiMessage): readonly Block[] =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : content;

const markableAt = (message: ApiMessage | undefined): number =>
  message ? blocksOf(message).findLastIndex(({ type }) => MARKABLE.has(type)) : -1;

function withMark(message: ApiMessage, mark: object): ApiMessage {
  const at = markableAt(message);
  return { ...message, content: blocksOf(message).map((block, index) => (index === at ? marked(block, mark) : block)) };
}

const withMarkAtEnd = <T extends object>(values: readonly T[], mark: object): T[] =>
  values.map((value, index) => (index === values.length - 1 ? marked(value, mark) : value));

const marked = <T extends object>(value: T, mark: object): T => ({ ...value, cache_control: mark });
