/**
 * Requests of a stored conversation, made again: how large each was and what of it the vendor's cache knew. What the agent recorded
 * calibrates it; without records it stands on the conversation's text and the model's family alone.
 */
import { promptTokens, uncachedInputTokens, type Usage, type UsageAccounting } from '../cost/usage';
import type { ApiMessage } from '../messages/types';
import type { MessageCounter } from '../tokens/messageCounter';
import type { RecordedCompaction, RecordedRequest } from './recordedRequest';

/** A request by its place in the conversation. Tokens are o200k's. */
export interface ConversationRequest {
  /** Index of the message that answered it. */
  readonly answer: number;
  /** Index of the first message that was sent: behind the last compaction. */
  readonly from: number;
  /** Tokens of the messages that were sent. */
  readonly sent: number;
  readonly answered: number;
  /** Milliseconds since the epoch, where it is known. */
  readonly at?: number;
}

/** Where compactions are, in a conversation whose agent marks its summaries and tells no more. */
export const markedCompactions = (messages: readonly ApiMessage[]): RecordedCompaction[] =>
  messages.flatMap((message, index) =>
    index > 0 && (message['isSummary'] === true || message['isCompactSummary'] === true) ? [{ message: index }] : [],
  );

/** Every request that an answer in the conversation tells of, oldest first. */
export function requestsIn(
  messages: readonly ApiMessage[],
  counter: MessageCounter,
  compactions: readonly RecordedCompaction[],
  recorded: readonly RecordedRequest[] = [],
): ConversationRequest[] {
  const starts = new Set(compactions.map(({ message }) => message));
  const times = new Map(recorded.map(({ message, at }) => [message, at]));
  const requests: ConversationRequest[] = [];
  let from = 0;
  let sent = 0;
  messages.forEach((message, index) => {
    const tokens = counter.message(message);
    if (starts.has(index)) {
      from = index;
      sent = 0;
    }
    if (message.role === 'assistant' && messages[index - 1]?.role !== 'assistant' && index > 0) {
      const ts = message['ts'];
      const at = times.get(index) ?? (typeof ts === 'number' ? ts : undefined);
      requests.push({ answer: index, from, sent, answered: tokens, ...(at !== undefined && { at }) });
    }
    sent += tokens;
  });
  return requests;
}

/** How a model and an agent turn a conversation's o200k tokens into what is billed. */
export interface Calibration {
  /** The model's tokens that every request holds beside the messages: instructions and declared tools. */
  readonly fixed: number;
  /** The model's tokens for one o200k token of the messages. */
  readonly factor: number;
  /** Tokens of an answer for one o200k token that was kept of it; hidden reasoning makes it more than the factor. */
  readonly outputFactor: number;
  /** Share of what the cache could know that it knew. */
  readonly cacheShare: number;
  readonly accounting: UsageAccounting;
  /** Milliseconds that the cache keeps what it was sent; undefined: nothing is written to it at a price. */
  readonly cacheMs: number | undefined;
  /** Whether writing to the cache is billed as such (Anthropic), and for how long. */
  readonly writes: 'none' | 'short' | 'long';
}

/** A request with what its agent recorded of it. */
export interface CalibrationPair {
  readonly request: ConversationRequest;
  readonly usage: Usage;
}

/** Fewer requests say too little. */
const MIN_PAIRS = 3;

/** The calibration by recorded usage; undefined where there is too little of it. */
export function calibrate(pairs: readonly CalibrationPair[]): Calibration | undefined {
  const [first] = pairs;
  if (!first || pairs.length < MIN_PAIRS) return undefined;
  const { fixed, factor } = line(pairs.map(({ request, usage }) => ({ x: request.sent, y: promptTokens(usage) })));
  const sum = (of: (pair: CalibrationPair) => number): number => pairs.reduce((total, pair) => total + of(pair), 0);
  const answered = sum(({ request }) => request.answered);
  const written = sum(({ usage }) => usage.cacheWriteTokens);
  const long = sum(({ usage }) => usage.longCacheWriteTokens ?? 0);
  const writes = written === 0 ? 'none' : long * 2 > written ? 'long' : 'short';
  const [cache] = LIFETIMES[writes].map((ms) => cacheFit(pairs, ms)).sort((a, b) => a.error - b.error);
  return {
    fixed,
    factor,
    outputFactor: answered === 0 ? factor : sum(({ usage }) => usage.outputTokens) / answered,
    cacheShare: cache?.share ?? 1,
    accounting: first.usage.accounting,
    cacheMs: cache?.ms,
    writes,
  };
}

/** Lifetimes that vendors' caches have, in milliseconds: Anthropic's two; those of others lie between. */
const LIFETIMES = {
  none: [60 * 60_000, 30 * 60_000, 5 * 60_000],
  short: [5 * 60_000],
  long: [60 * 60_000],
} as const;

/** The share of the prompt before that was read where the cache was warm, and the error in all, if it lasts so long. */
function cacheFit(pairs: readonly CalibrationPair[], ms: number): { ms: number; share: number; error: number } {
  const reads = pairs.slice(1).map(({ request, usage }, index) => {
    const before = pairs[index] as CalibrationPair;
    const known = isWarm(before.request, request, ms) ? Math.min(promptTokens(before.usage), promptTokens(usage)) : 0;
    return { known, read: usage.cacheReadTokens };
  });
  const known = reads.reduce((sum, each) => sum + each.known, 0);
  const read = reads.reduce((sum, each) => sum + (each.known > 0 ? each.read : 0), 0);
  const share = known === 0 ? 1 : Math.min(1, read / known);
  return { ms, share, error: reads.reduce((sum, each) => sum + Math.abs(each.read - share * each.known), 0) };
}

/** Whether the cache still knows what the request before sent, as far as their times tell. */
export const isWarm = (
  before: ConversationRequest,
  request: ConversationRequest,
  cacheMs: number | undefined,
): boolean =>
  before.at === undefined || request.at === undefined || cacheMs === undefined || request.at - before.at <= cacheMs;

/** Bounds of what is believed of a tokenizer. */
const FACTOR_BOUNDS = { least: 0.5, most: 3 } as const;

/** y = fixed + factor · x: the median of the slopes between points that lie far enough apart (Theil and Sen), and of what is left. */
function line(points: readonly { readonly x: number; readonly y: number }[]): { fixed: number; factor: number } {
  const half = Math.max(1, Math.floor(points.length / 2));
  const slopes = points.flatMap(({ x, y }, index) => {
    const far = points[index + half];
    return far && Math.abs(far.x - x) > 200 ? [(far.y - y) / (far.x - x)] : [];
  });
  const slope = slopes.length === 0 ? 1 : median(slopes);
  const factor = Math.min(FACTOR_BOUNDS.most, Math.max(FACTOR_BOUNDS.least, slope));
  return { factor, fixed: Math.max(0, median(points.map(({ x, y }) => y - factor * x))) };
}

/** The middle value; the mean of the middle two. NaN of nothing. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (sorted.length - 1) / 2;
  return ((sorted[Math.floor(at)] ?? NaN) + (sorted[Math.ceil(at)] ?? NaN)) / 2;
}

/**
 * The usage of each request as the calibration has it.
 * @param before the request that went before the first, whose prompt the cache may still know
 */
export function replay(
  requests: readonly ConversationRequest[],
  calibration: Calibration,
  before?: ConversationRequest,
): Usage[] {
  const { fixed, factor, outputFactor, cacheShare, accounting, cacheMs, writes } = calibration;
  let last = before;
  return requests.map((request) => {
    const prompt = Math.round(fixed + factor * request.sent);
    const earlier = last;
    last = request;
    const isKnown = earlier !== undefined && isWarm(earlier, request, cacheMs);
    // A compaction leaves the instructions in front as they were.
    const known = !isKnown ? 0 : earlier.from === request.from ? fixed + factor * earlier.sent : fixed;
    const read = Math.round(Math.min(prompt, known) * cacheShare);
    return toUsage(prompt, read, Math.round(outputFactor * request.answered), accounting, writes);
  });
}

/** A usage by what was sent, what of it the cache knew, and whether the rest is written to it. Tokens. */
export function toUsage(
  prompt: number,
  read: number,
  output: number,
  accounting: UsageAccounting,
  writes: Calibration['writes'],
): Usage {
  const rest = prompt - read;
  const written = writes === 'none' ? 0 : rest;
  return {
    accounting,
    source: 'counted',
    inputTokens: accounting === 'openai' ? prompt : rest - written,
    outputTokens: output,
    cacheReadTokens: read,
    cacheWriteTokens: written,
    ...(writes === 'long' && { longCacheWriteTokens: written }),
  };
}

/** Tokens by what they are billed as. */
export interface TokenSums {
  readonly fresh: number;
  readonly cacheWrite: number;
  readonly cacheRead: number;
  readonly output: number;
}

/** A usage in these words. */
export const tokenSums = (usage: Usage): TokenSums => ({
  fresh: uncachedInputTokens(usage),
  cacheWrite: usage.cacheWriteTokens,
  cacheRead: usage.cacheReadTokens,
  output: usage.outputTokens,
});
