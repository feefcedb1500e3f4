/** Runs calls in parallel within the budget and never pays for a summary twice. */
import { computeCallCost } from '../../../cost/callCost';
import type { Usage } from '../../../cost/usage';
import type { Hash } from '../../../hash';
import { failIfServerTruncatedRequest } from '../../summary/checkReply';
import { estimateOutputTokens, createPlaceholderText } from '../../summary/expectedOutput';
import {
  NoSummarizerError,
  computeOutputLimit,
  type SelectedSummarizer,
  type SummarizerModel,
  type SummaryReply,
} from '../../summarizer';
import type { ModelCall } from '../../types';
import { makeSummaryCacheKey, type CallDependencies } from './passParts';
import {
  createContentRequest,
  toContentSummary,
  getSummaryLimit,
  type SummaryJob,
  type ContentRequest,
} from './contentJob';

export interface EstimatedContentCall {
  readonly request: ContentRequest;
  readonly usage: Usage;
  /** In o200k tokens. */
  readonly summaryTokens: number;
  /** In US dollars; undefined if the price is unknown. */
  readonly cost: number | undefined;
}

interface CachedRequest {
  readonly model: SummarizerModel;
  readonly vendor: string | undefined;
  readonly request: ContentRequest;
}

/** Cached, because a request is needed twice: to estimate its saving, and to send it. */
const requestCache = new WeakMap<SummaryJob, CachedRequest>();

function getContentRequest(job: SummaryJob, model: SummarizerModel, dependencies: CallDependencies): ContentRequest {
  const { counter, vendor } = dependencies;
  const cachedRequest = requestCache.get(job);
  if (cachedRequest && cachedRequest.model === model && cachedRequest.vendor === vendor) return cachedRequest.request;
  const request = createContentRequest(job, model, vendor, counter);
  requestCache.set(job, { model, vendor, request });
  return request;
}

/** @throws the signal's reason if it was aborted */
export function estimateContentCall(
  job: SummaryJob,
  model: SummarizerModel,
  dependencies: CallDependencies,
): EstimatedContentCall {
  const { memory, samples } = dependencies;
  const request = getContentRequest(job, model, dependencies);
  const inputTokens = Math.ceil(request.tokens * model.tokenFactor);
  const { tokenFactor } = model;
  const summaryLimit = getSummaryLimit(job, model);
  const outputTokens = Math.min(
    computeOutputLimit(summaryLimit, model),
    estimateOutputTokens(inputTokens, samples(model), tokenFactor, job.operation.maxTokens),
  );
  const { read: cachedTokens, write } = memory.estimateCachedTokens(
    model,
    request.system + request.prompt,
    inputTokens,
  );
  const usage: Usage = {
    accounting: model.accounting,
    source: 'counted',
    inputTokens: model.accounting === 'openai' ? inputTokens : Math.max(0, inputTokens - cachedTokens - write),
    outputTokens,
    cacheReadTokens: cachedTokens,
    cacheWriteTokens: write,
    ...(model.cacheLifetime === '1h' && { longCacheWriteTokens: write }),
  };
  const summaryTokens = Math.max(1, Math.round(Math.min(summaryLimit, outputTokens) / tokenFactor));
  return { request, usage, summaryTokens, cost: computeCallCost(usage, model.prices) };
}

/** `failed`: the model returned no summary; `not-asked`: no call was made. */
export type ContentReply =
  | { readonly kind: 'summary'; readonly text: string }
  | { readonly kind: 'failed' | 'not-asked'; readonly reason: string };

/**
 * After so many failures, the vendor is down or the API key is wrong, so no more calls are made.
 */
const MAX_FAILURES_IN_A_ROW = 3;

/**
 * Runs calls in parallel; after a failure, which often is a rate limit, one at a time.
 * @returns the replies in the order of the jobs
 * @throws the signal's reason
 */
export async function requestSummaries(
  jobs: readonly SummaryJob[],
  dependencies: CallDependencies,
  onCall: (call: ModelCall) => void,
  onDone: (done: number) => void,
): Promise<ContentReply[]> {
  const replies: ContentReply[] = [];
  const runningCalls = new Map<Hash, Promise<ContentReply>>();
  let nextJob = 0;
  let doneCount = 0;
  let failuresInRow = 0;
  let latestFailure: ContentReply | undefined;
  const runJobs = async (worker: number): Promise<void> => {
    for (;;) {
      dependencies.signal?.throwIfAborted();
      const job = worker > 0 && latestFailure ? undefined : jobs[nextJob];
      if (!job) return;
      const index = nextJob++;
      const stoppingFailure = latestFailure && failuresInRow >= MAX_FAILURES_IN_A_ROW ? latestFailure : undefined;
      const reply = stoppingFailure ?? (await requestSummary(job, dependencies, runningCalls, onCall));
      dependencies.signal?.throwIfAborted();
      replies[index] = reply;
      failuresInRow = reply.kind === 'failed' ? failuresInRow + 1 : 0;
      if (reply.kind === 'failed') latestFailure = reply;
      onDone(++doneCount);
    }
  };
  const workerCount = Math.min(dependencies.parallelCalls, jobs.length);
  const workerOutcomes = await Promise.allSettled(Array.from({ length: workerCount }, (_, worker) => runJobs(worker)));
  for (const workerOutcome of workerOutcomes) if (workerOutcome.status === 'rejected') throw workerOutcome.reason;
  return replies;
}

async function requestSummary(
  job: SummaryJob,
  dependencies: CallDependencies,
  runningCalls: Map<Hash, Promise<ContentReply>>,
  onCall: (call: ModelCall) => void,
): Promise<ContentReply> {
  const selectedSummarizer = await dependencies.models.selectSummarizer(job.operation.apiProfile);
  if (selectedSummarizer instanceof NoSummarizerError) return { kind: 'not-asked', reason: selectedSummarizer.message };
  const expectedCall = estimateContentCall(job, selectedSummarizer.summarizer.model, dependencies);
  const key = makeSummaryCacheKey(selectedSummarizer.summarizer.model, expectedCall.request);
  const existingCall = runningCalls.get(key);
  if (existingCall) return existingCall;
  const runningCall = getCachedReplyOrCall(key, dependencies, () =>
    callModel(job, selectedSummarizer, expectedCall, dependencies, onCall),
  );
  runningCalls.set(key, runningCall);
  return runningCall;
}

/** An estimate caches its made-up replies only for itself, not in the memo. */
async function getCachedReplyOrCall(
  key: Hash,
  { memo, estimatedCalls }: CallDependencies,
  requestReply: () => Promise<ContentReply>,
): Promise<ContentReply> {
  const knownSummary = (await memo.get(key)) ?? estimatedCalls?.summaries.get(key);
  if (knownSummary !== undefined) return { kind: 'summary', text: knownSummary };
  const reply = await requestReply();
  if (reply.kind !== 'summary') return reply;
  if (estimatedCalls) estimatedCalls.summaries.set(key, reply.text);
  else await memo.set(key, reply.text);
  return reply;
}

async function callModel(
  job: SummaryJob,
  selectedSummarizer: SelectedSummarizer,
  expectedCall: EstimatedContentCall,
  { budget, estimatedCalls, memory, samples, signal, conversation }: CallDependencies,
  onCall: (call: ModelCall) => void,
): Promise<ContentReply> {
  const { model } = selectedSummarizer.summarizer;
  const { request, usage, cost } = expectedCall;
  const reservation = budget.reserveCost(cost, model);
  if (typeof reservation === 'string') {
    estimatedCalls?.stopCounting();
    return { kind: 'not-asked', reason: reservation };
  }
  const maxOutputTokens = computeOutputLimit(getSummaryLimit(job, model), model);
  if (estimatedCalls) {
    const { maxTokens } = job.operation;
    estimatedCalls.addCall(model, usage, maxOutputTokens, samples(model), maxTokens);
    onCall(createModelCall(selectedSummarizer, job, expectedCall, { usage, cost, timeMs: 0, kind: 'complete' }));
    return { kind: 'summary', text: createPlaceholderText(expectedCall.summaryTokens) };
  }
  const { system, prompt } = request;
  const uncheckedReply = await selectedSummarizer.summarizer.summarize(
    { system, prompt, maxOutputTokens },
    { conversation, ...(signal && { signal }) },
  );
  reservation.settle(uncheckedReply.cost);
  const { read: cached } = memory.estimateCachedTokens(model, system + prompt, request.tokens * model.tokenFactor);
  const reply = failIfServerTruncatedRequest(uncheckedReply, { counted: request.tokens, cached }, model);
  if (reply.usage && reply.kind === uncheckedReply.kind) memory.recordPrompt(model, system + prompt);
  onCall(createModelCall(selectedSummarizer, job, expectedCall, reply));
  if (reply.kind !== 'complete') return { kind: 'failed', reason: reply.message };
  const text = toContentSummary(reply.text, job);
  return text === '' ? { kind: 'failed', reason: 'The model answered without a summary.' } : { kind: 'summary', text };
}

const createModelCall = (
  { summarizer, chosen: summarizerChoice }: SelectedSummarizer,
  job: SummaryJob,
  expectedCall: EstimatedContentCall,
  { usage, cost, timeMs, kind }: Pick<SummaryReply, 'usage' | 'cost' | 'timeMs' | 'kind'>,
): ModelCall => {
  const { profile, vendor, model } = summarizer.model;
  return {
    profile,
    vendor,
    model,
    chosen: summarizerChoice,
    countedTokens: expectedCall.request.tokens,
    askedTokens: job.operation.maxTokens,
    usage,
    cost,
    timeMs,
    outcome: kind,
  };
};
