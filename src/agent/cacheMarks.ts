/** Breakpoints of Anthropic's prompt cache (API guide, "Prompt caching"): at most four in a request, ours are all. */
import type { ApiRequest, ToolDeclaration } from '../api/types';
import type { CacheLifetime } from '../core/cost/prices';
import type { ApiMessage, Block, TextBlock } from '../core/messages/types';

export const MOST_BREAKPOINTS = 4;

/**
 * The request with a breakpoint at its tools, at its system prompt, and at the given messages; where those are too many,
 * the first of them (the condensed prefix) and the newest are marked. Marks that stand there already are taken out.
 */
export function withCacheMarks(request: ApiRequest, marks: readonly number[], lifetime: CacheLifetime): ApiRequest {
  const { tools, system, ...rest } = request;
  const bare = { ...rest, messages: rest.messages.map(withoutMarks) };
  const prompt = typeof system === 'string' ? textBlocks(system) : (system ?? []).map(without);
  const declared = tools?.map(without);
  if (lifetime === 'none') {
    return {
      ...bare,
      ...(system !== undefined && { system: typeof system === 'string' ? system : prompt }),
      ...(declared && { tools: declared }),
    };
  }
  const mark = { type: 'ephemeral', ...(lifetime === '1h' && { ttl: '1h' }) };
  const lastTool = declared?.at(-1);
  const lastText = prompt.at(-1);
  const left = MOST_BREAKPOINTS - (lastTool ? 1 : 0) - (lastText ? 1 : 0);
  const marked = new Set(chosen(marks, bare.messages, left));
  return {
    ...bare,
    messages: bare.messages.map((message, index) => (marked.has(index) ? withMark(message, mark) : message)),
    ...(system !== undefined && {
      system: lastText ? [...prompt.slice(0, -1), { ...lastText, cache_control: mark }] : [],
    }),
    ...(declared && { tools: lastTool ? [...declared.slice(0, -1), { ...lastTool, cache_control: mark }] : [] }),
  };
}

/** The first mark and the newest: as many as are left. */
function chosen(marks: readonly number[], messages: readonly ApiMessage[], left: number): number[] {
  const possible = [...new Set(marks)]
    .filter((index) => messages[index] && lastMarkable(messages[index]) >= 0)
    .toSorted((a, b) => a - b);
  if (possible.length <= left) return possible;
  return [...possible.slice(0, 1), ...possible.slice(possible.length - left + 1)];
}

const textBlocks = (text: string): TextBlock[] => (text.trim() === '' ? [] : [{ type: 'text', text }]);

/** Thinking can't be marked, and other vendors' blocks are none to this one. */
const MARKABLE = new Set(['text', 'image', 'document', 'tool_use', 'tool_result']);

const lastMarkable = ({ content }: ApiMessage): number =>
  typeof content === 'string' ? -1 : content.findLastIndex(({ type }) => MARKABLE.has(type));

function withMark(message: ApiMessage, mark: object): ApiMessage {
  const at = lastMarkable(message);
  const content = message.content as readonly Block[];
  return {
    ...message,
    content: content.map((block, index) => (index === at ? { ...block, cache_control: mark } : block)),
  };
}

function withoutMarks(message: ApiMessage): ApiMessage {
  const { content } = message;
  if (typeof content === 'string' || !content.some(isMarked)) return message;
  return { ...message, content: content.map(bareBlock) };
}

const isMarked = (block: Block): boolean =>
  'cache_control' in block ||
  (Array.isArray(block['content']) && (block['content'] as readonly Block[]).some(isMarked));

function bareBlock(block: Block): Block {
  if (!isMarked(block)) return block;
  const bare: Block = without(block);
  return Array.isArray(bare['content'])
    ? { ...bare, content: (bare['content'] as readonly Block[]).map(bareBlock) }
    : bare;
}

function without<T extends object>(value: T): T {
  if (!('cache_control' in value)) return value;
  // All fields but one that is always optional.
  return Object.fromEntries(Object.entries(value).filter(([field]) => field !== 'cache_control')) as T;
}
