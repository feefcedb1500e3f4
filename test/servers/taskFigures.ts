/**
 * Computes figures of an agent's task from its requests: sizes, prefix stability, and the cost
 * compared with the same task without condensing.
 */
import { createHash } from 'node:crypto';
import { getBlocks } from './scriptedAgent';
import { objects, type Json } from './json';
import type { RecordedRequest } from './modelServer';

export interface TaskPrices {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
}

/** A request that doesn't extend the previous one. */
export interface PrefixBreak {
  readonly request: number;
  /** Index of the first differing message. */
  readonly message: number;
}

export interface TaskFigures {
  /** Number of answered requests with tools. */
  readonly requests: number;
  readonly refused: readonly { readonly status: number; readonly body: Json }[];
  readonly toolCalls: number;
  /** Maximum input tokens by the server's count. */
  readonly largest: number;
  readonly breaks: readonly PrefixBreak[];
  readonly cost: number;
  /** Share of the input tokens that were read from the cache. */
  readonly cached: number;
  readonly uncondensed: {
    /** Tokens of the last request without condensing. */
    readonly tokens: number;
    /** US dollars with an ideal cache and an unlimited window. */
    readonly cost: number;
  };
}

/** Returns the agent's own requests, without small ones of the chat such as for a title. */
export const taskRequests = (requests: readonly RecordedRequest[]): RecordedRequest[] =>
  requests.filter(({ body, path }) => path.startsWith('/v1/messages') && objects(body['tools']).length > 0);

/** Returns the answered requests of the agent; prefix breaks are counted among these requests. */
export const answeredRequests = (requests: readonly RecordedRequest[]): RecordedRequest[] =>
  taskRequests(requests).filter(({ status, usage }) => status === 200 && usage);

/**
 * @param requests all requests of one conversation.
 * @param tokensOf counts tokens as the server does.
 */
export function taskFigures(
  requests: readonly RecordedRequest[],
  tokensOf: (text: string) => number,
  prices: TaskPrices,
): TaskFigures {
  const all = taskRequests(requests);
  const requestsWithAnswer = answeredRequests(requests);
  const usages = requestsWithAnswer.map(({ usage }) => toUsage(usage));
  const uncondensedConversation = new UncondensedConversation(tokensOf);
  let uncondensedCost = 0;
  for (const [index, request] of requestsWithAnswer.entries()) {
    const before = uncondensedConversation.tokens;
    uncondensedConversation.grow(request.body);
    const { output } = usages[index] ?? NO_USAGE;
    uncondensedCost += computePrice(
      { ...NO_USAGE, read: before, written: uncondensedConversation.tokens - before, output },
      prices,
    );
  }
  const inputTokens = usages.reduce((sum, usage) => sum + sumInput(usage), 0);
  return {
    requests: requestsWithAnswer.length,
    refused: all.flatMap(({ status, body }) => (status === undefined || status === 200 ? [] : [{ status, body }])),
    toolCalls: uncondensedConversation.calls,
    largest: Math.max(0, ...usages.map(sumInput)),
    breaks: prefixBreaks(requestsWithAnswer),
    cost: usages.reduce((sum, usage) => sum + computePrice(usage, prices), 0),
    cached: inputTokens === 0 ? 0 : usages.reduce((sum, { read }) => sum + read, 0) / inputTokens,
    uncondensed: { tokens: uncondensedConversation.tokens, cost: uncondensedCost },
  };
}

/** Finds requests that don't extend the previous one. Changed breakpoints are not a break. */
export function prefixBreaks(requests: readonly RecordedRequest[]): PrefixBreak[] {
  const breaks: PrefixBreak[] = [];
  let before: readonly string[] = [];
  for (const [request, { body }] of requests.entries()) {
    const hashes = objects(body['messages']).map(computeHash);
    const message = before.findIndex((hash, index) => hashes[index] !== hash);
    if (message >= 0) breaks.push({ request, message });
    before = hashes;
  }
  return breaks;
}

/**
 * Describes a prefix break in a failing test: the texts before and after the change.
 * @param requests the requests that {@link prefixBreaks} was called with.
 */
export function breakText(requests: readonly RecordedRequest[], { request, message }: PrefixBreak): string {
  const getMessages = (at: number): readonly Json[] => objects(requests[at]?.body['messages']);
  const [before, after] = [getMessages(request - 1), getMessages(request)];
  const [was, is] = [before, after].map((all) => JSON.stringify(all.slice(message, message + 2), dropCacheMarks));
  const firstDifference = (was ?? '').split('').findIndex((unit, index) => unit !== is?.[index]);
  const excerpt = (text = ''): string => text.slice(Math.max(0, firstDifference - 200), firstDifference + 400);
  return [
    `request ${request} of ${after.length} messages differs from the one before, of ${before.length}, at message ${message}:`,
    `  before: ${excerpt(was)}`,
    `  after:  ${excerpt(is)}`,
  ].join('\n');
}

const computeHash = (message: Json): string =>
  createHash('sha256')
    .update(JSON.stringify({ role: message['role'], content: getBlocks(message) }, dropCacheMarks))
    .digest('hex');

const dropCacheMarks = (field: string, value: unknown): unknown => (field === 'cache_control' ? undefined : value);

/**
 * Counts the tokens and calls of the uncondensed conversation, from the new messages of each
 * request.
 */
class UncondensedConversation {
  tokens = 0;
  calls = 0;
  private readonly seen = new Set<string>();

  constructor(private readonly tokensOf: (text: string) => number) {}

  grow(body: Json): void {
    const messages = objects(body['messages']);
    const isFirst = this.tokens === 0;
    if (isFirst) this.tokens = this.tokensOf(JSON.stringify([body['tools'], body['system']], dropCacheMarks));
    const firstNewMessage = isFirst ? 0 : messages.findLastIndex(({ role }) => role === 'assistant');
    for (const message of messages.slice(Math.max(0, firstNewMessage))) {
      const hash = computeHash(message);
      if (this.seen.has(hash)) continue;
      this.seen.add(hash);
      for (const block of getBlocks(message)) {
        if (block['type'] === 'tool_use') this.calls++;
        this.tokens += this.tokensOf(getText(block));
      }
    }
  }
}

function getText(block: Json): string {
  if (typeof block['text'] === 'string') return block['text'];
  const { content } = block;
  if (typeof content === 'string') return content;
  if (Array.isArray(content)) return objects(content).map(getText).join('');
  return JSON.stringify(block['input'] ?? '');
}

interface TaskUsage {
  readonly input: number;
  readonly read: number;
  readonly written: number;
  readonly output: number;
}

const NO_USAGE: TaskUsage = { input: 0, read: 0, written: 0, output: 0 };

const toUsage = (usage: Json = {}): TaskUsage => ({
  input: Number(usage['input_tokens']),
  read: Number(usage['cache_read_input_tokens']),
  written: Number(usage['cache_creation_input_tokens']),
  output: Number(usage['output_tokens']),
});

const sumInput = ({ input, read, written }: TaskUsage): number => input + read + written;

const computePrice = ({ input, read, written, output }: TaskUsage, prices: TaskPrices): number =>
  (input * prices.input + read * prices.cacheRead + written * prices.cacheWrite + output * prices.output) / 1_000_000;

export function figuresText(figures: TaskFigures, condensations: number): string {
  const { requests, refused, toolCalls, largest, breaks, cost, cached, uncondensed } = figures;
  const dollars = (value: number): string => `$${value.toFixed(2)}`;
  return [
    `${requests} requests, ${toolCalls} tool calls, ${refused.length} refused`,
    `largest request ${largest} tokens; uncondensed it would have reached ${uncondensed.tokens}`,
    `${condensations} condensations, prefix broken ${breaks.length} times (requests ${breaks.map(({ request }) => request).join(', ')})`,
    `cost ${dollars(cost)} (${Math.round(100 * cached)} % of the input from the cache) against ${dollars(uncondensed.cost)} uncondensed`,
  ].join('\n');
}
