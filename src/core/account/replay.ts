/** Replays a conversation's requests to estimate the size and the cached part of each. */
import { countPromptTokens, countUncachedInput, type Usage, type UsageAccounting } from '../cost/usage';
import type { ApiMessage } from '../messages/types';
import type { MessageCounter } from '../tokens/messageCounter';
import type { RecordedCompaction, RecordedRequest } from './recordedRequest';

export interface ConversationRequest {
  /** Index of the answering message. */
  readonly answer: number;
  /** Index of the first message sent: 0, or the first one after the last compaction. */
  readonly firstMessage: number;
  /** o200k tokens of the messages sent. */
  readonly sentTokens: number;
  readonly answerTokens: number;
  readonly at?: number;
}

export const findCompactionsInMessages = (messages: readonly ApiMessage[]): RecordedCompaction[] =>
  messages.flatMap((message, index) =>
    index > 0 && (message['isSummary'] === true || message['isCompactSummary'] === true) ? [{ message: index }] : [],
  );

export function listRequests(
  messages: readonly ApiMessage[],
  counter: MessageCounter,
  compactions: readonly RecordedCompaction[],
  recordedRequests: readonly RecordedRequest[] = [],
): ConversationRequest[] {
  const compactionStarts = new Set(compactions.map(({ message }) => message));
  const timeByMessage = new Map(recordedRequests.map(({ message, at }) => [message, at]));
  const requests: ConversationRequest[] = [];
  let firstMessage = 0;
  let sentTokens = 0;
  messages.forEach((message, index) => {
    const tokens = counter.countMessage(message);
    if (compactionStarts.has(index)) {
      firstMessage = index;
      sentTokens = 0;
    }
    if (message.role === 'assistant' && messages[index - 1]?.role !== 'assistant' && index > 0) {
      const timestamp = message['ts'];
      const timeMs = timeByMessage.get(index) ?? (typeof timestamp === 'number' ? timestamp : undefined);
      requests.push({
        answer: index,
        firstMessage,
        sentTokens,
        answerTokens: tokens,
        ...(timeMs !== undefined && { at: timeMs }),
      });
    }
    sentTokens += tokens;
  });
  return requests;
}

/** How a model turns a conversation's o200k tokens into billed tokens. */
export interface RequestTokenCalibration {
  /** Tokens of instructions and tool declarations, as the model counts them. */
  readonly fixed: number;
  readonly factor: number;
  /**
   * Tokens that the vendor counted for answers, per o200k token of the recorded answers. The ratio
   * is higher than `factor` if reasoning is not recorded.
   */
  readonly outputFactor: number;
  /** Share of the cacheable prompt that was read from the cache, from 0 to 1. */
  readonly cacheShare: number;
  readonly accounting: UsageAccounting;
  /** Cache lifetime in milliseconds; undefined if the cache never expires. */
  readonly cacheMs: number | undefined;
  /** Whether cache writes are billed (Anthropic), and for which lifetime. */
  readonly writes: 'none' | 'short' | 'long';
}

export interface RequestWithReportedUsage {
  readonly request: ConversationRequest;
  readonly usage: Usage;
}

const MIN_REQUESTS_FOR_CALIBRATION = 3;

export function fitTokenCalibration(pairs: readonly RequestWithReportedUsage[]): RequestTokenCalibration | undefined {
  const [firstPair] = pairs;
  if (!firstPair || pairs.length < MIN_REQUESTS_FOR_CALIBRATION) return undefined;
  const { fixed, factor } = fitRobustLine(
    pairs.map(({ request, usage }) => ({ x: request.sentTokens, y: countPromptTokens(usage) })),
  );
  const sumPairs = (getValue: (pair: RequestWithReportedUsage) => number): number =>
    pairs.reduce((total, pair) => total + getValue(pair), 0);
  const answeredTokens = sumPairs(({ request }) => request.answerTokens);
  const writtenTokens = sumPairs(({ usage }) => usage.cacheWriteTokens);
  const longCacheWriteTokens = sumPairs(({ usage }) => usage.longCacheWriteTokens ?? 0);
  const writes = writtenTokens === 0 ? 'none' : longCacheWriteTokens * 2 > writtenTokens ? 'long' : 'short';
  const [cache] = CACHE_LIFETIMES_MS[writes].map((ms) => fitCacheLifetime(pairs, ms)).sort((a, b) => a.error - b.error);
  return {
    fixed,
    factor,
    outputFactor: answeredTokens === 0 ? factor : sumPairs(({ usage }) => usage.outputTokens) / answeredTokens,
    cacheShare: cache?.share ?? 1,
    accounting: firstPair.usage.accounting,
    cacheMs: cache?.ms,
    writes,
  };
}

/** Anthropic has two cache lifetimes; other vendors' are in between. */
const CACHE_LIFETIMES_MS = {
  none: [60 * 60_000, 30 * 60_000, 5 * 60_000],
  short: [5 * 60_000],
  long: [60 * 60_000],
} as const;

function fitCacheLifetime(
  pairs: readonly RequestWithReportedUsage[],
  ms: number,
): { ms: number; share: number; error: number } {
  const cacheReads = pairs.slice(1).map(({ request, usage }, index) => {
    const previousPair = pairs[index] as RequestWithReportedUsage;
    const cachedTokens = isCacheWarm(previousPair.request, request, ms)
      ? Math.min(countPromptTokens(previousPair.usage), countPromptTokens(usage))
      : 0;
    return { known: cachedTokens, read: usage.cacheReadTokens };
  });
  const cachedTokens = cacheReads.reduce((sum, each) => sum + each.known, 0);
  const readTokens = cacheReads.reduce((sum, each) => sum + (each.known > 0 ? each.read : 0), 0);
  const readShare = cachedTokens === 0 ? 1 : Math.min(1, readTokens / cachedTokens);
  return {
    ms,
    share: readShare,
    error: cacheReads.reduce((sum, each) => sum + Math.abs(each.read - readShare * each.known), 0),
  };
}

export const isCacheWarm = (
  previousRequest: ConversationRequest,
  request: ConversationRequest,
  cacheMs: number | undefined,
): boolean =>
  previousRequest.at === undefined ||
  request.at === undefined ||
  cacheMs === undefined ||
  request.at - previousRequest.at <= cacheMs;

/** Plausible model tokens per o200k token. */
const TOKEN_FACTOR_BOUNDS = { least: 0.5, most: 3 } as const;

/** Theil–Sen estimate of y = fixed + factor · x. */
function fitRobustLine(points: readonly { readonly x: number; readonly y: number }[]): {
  fixed: number;
  factor: number;
} {
  const halfCount = Math.max(1, Math.floor(points.length / 2));
  const slopes = points.flatMap(({ x, y }, index) => {
    const farPoint = points[index + halfCount];
    return farPoint && Math.abs(farPoint.x - x) > 200 ? [(farPoint.y - y) / (farPoint.x - x)] : [];
  });
  const slope = slopes.length === 0 ? 1 : computeMedian(slopes);
  const factor = Math.min(TOKEN_FACTOR_BOUNDS.most, Math.max(TOKEN_FACTOR_BOUNDS.least, slope));
  return { factor, fixed: Math.max(0, computeMedian(points.map(({ x, y }) => y - factor * x))) };
}

export function computeMedian(values: readonly number[]): number {
  const sortedValues = values.toSorted((a, b) => a - b);
  const middle = (sortedValues.length - 1) / 2;
  return ((sortedValues[Math.floor(middle)] ?? NaN) + (sortedValues[Math.ceil(middle)] ?? NaN)) / 2;
}

/** @param requestBefore the previous request, whose prompt may still be in the cache */
export function simulateRequestUsage(
  requests: readonly ConversationRequest[],
  calibration: RequestTokenCalibration,
  requestBefore?: ConversationRequest,
): Usage[] {
  const { fixed, factor, outputFactor, cacheShare, accounting, cacheMs, writes } = calibration;
  let lastRequest = requestBefore;
  return requests.map((request) => {
    const prompt = Math.round(fixed + factor * request.sentTokens);
    const previousRequest = lastRequest;
    lastRequest = request;
    const isPrefixCached = previousRequest !== undefined && isCacheWarm(previousRequest, request, cacheMs);
    // A compaction leaves the instructions in the cache.
    const cachedTokens = !isPrefixCached
      ? 0
      : previousRequest.firstMessage === request.firstMessage
        ? fixed + factor * previousRequest.sentTokens
        : fixed;
    const cacheReadTokens = Math.round(Math.min(prompt, cachedTokens) * cacheShare);
    return makeReplayedUsage(
      prompt,
      cacheReadTokens,
      Math.round(outputFactor * request.answerTokens),
      accounting,
      writes,
    );
  });
}

export function makeReplayedUsage(
  prompt: number,
  cachedTokens: number,
  output: number,
  accounting: UsageAccounting,
  writes: RequestTokenCalibration['writes'],
): Usage {
  const uncachedTokens = prompt - cachedTokens;
  const writtenTokens = writes === 'none' ? 0 : uncachedTokens;
  return {
    accounting,
    source: 'counted',
    inputTokens: accounting === 'openai' ? prompt : uncachedTokens - writtenTokens,
    outputTokens: output,
    cacheReadTokens: cachedTokens,
    cacheWriteTokens: writtenTokens,
    ...(writes === 'long' && { longCacheWriteTokens: writtenTokens }),
  };
}

export interface TokensByPrice {
  readonly fresh: number;
  readonly cacheWrite: number;
  readonly cacheRead: number;
  readonly output: number;
}

export const toTokensByPrice = (usage: Usage): TokensByPrice => ({
  fresh: countUncachedInput(usage),
  cacheWrite: usage.cacheWriteTokens,
  cacheRead: usage.cacheReadTokens,
  output: usage.outputTokens,
});
