/**
 * A summarizing model for tests, which gives scripted replies, records requests, and counts tokens
 * like its vendor.
 */
import { computeCallCost } from '../../cost/callCost';
import type { ModelPrices } from '../../cost/prices';
import { createCounter } from '../../testingCounter';
import type { Summarizer, SummarizerModel, SummaryReply, SummaryRequest } from '../summarizer';

export const SONNET_PRICES: ModelPrices = {
  input: { base: 3 },
  output: { base: 15 },
  cacheRead: { base: 0.3 },
  cacheWrite: { base: 3.75 },
};

export const makeTestModel = (changes: Partial<SummarizerModel> = {}): SummarizerModel => ({
  profile: 'Work',
  vendor: 'anthropic',
  model: 'claude-sonnet-4',
  accounting: 'anthropic',
  contextWindow: 200_000,
  maxOutputTokens: 64_000,
  tokenFactor: 1,
  prices: SONNET_PRICES,
  billing: 'per-token',
  cacheLifetime: 'none',
  ...changes,
});

/** The text of a reply, or the name of a failure. */
export type ScriptedReply = string;

const FAILED_REPLY_KINDS = new Set<string>([
  'empty',
  'refused',
  'cut-at-limit',
  'cut-off',
  'tool-call',
  'too-long',
  'not-compacted',
  'aborted',
  'failed',
]);

export interface TestSummarizer extends Summarizer {
  readonly requests: SummaryRequest[];
}

/** @param script replies in order; the last one repeats. A function receives the request. */
export function createTestSummarizer(
  script: readonly ScriptedReply[] | ((request: SummaryRequest, signal?: AbortSignal) => Promise<ScriptedReply>),
  changes: Partial<SummarizerModel> = {},
): TestSummarizer {
  const model = makeTestModel(changes);
  const counter = createCounter();
  const requests: SummaryRequest[] = [];
  return {
    model,
    requests,
    async summarize(request, { signal } = {}) {
      requests.push(request);
      const answer =
        typeof script === 'function'
          ? await script(request, signal)
          : (script[Math.min(requests.length, script.length) - 1] ?? '');
      const isFailure = FAILED_REPLY_KINDS.has(answer);
      const usage = {
        accounting: model.accounting,
        source: 'reported',
        inputTokens: counter.countText(request.system) + counter.countText(request.prompt),
        outputTokens: isFailure ? 0 : counter.countText(answer),
        cacheReadTokens: 0,
        cacheWriteTokens: 0,
      } as const;
      const base = { usage, cost: computeCallCost(usage, model.prices), timeMs: 1 };
      if (!isFailure) return { ...base, kind: 'complete', text: answer };
      const advice = { message: `The model said: ${answer}.`, canRetry: true, offerOtherProfile: true };
      return { ...base, ...advice, kind: answer as Exclude<SummaryReply['kind'], 'complete'> };
    },
  };
}
