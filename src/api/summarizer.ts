import { computeCallCost } from '../core/cost/callCost';
import type { CacheLifetime, ModelPrices } from '../core/cost/prices';
import type {
  Summarizer,
  SummarizerModel,
  SummaryFailure,
  SummaryReply,
  SummaryRequest,
} from '../core/condense/summarizer';
import { getBlocks, isToolUse } from '../core/messages/blocks';
import type { ApiMessage } from '../core/messages/types';
import { getTokenizerFactor } from '../core/vendors/families';
import type { ApiErrorKind } from './apiError';
import { completeText, type FailedText, type TextOutcome } from './completeText';
import { isBrokenConnection } from './retry';
import type { ApiHandler, ApiRequest, ToolDeclaration } from './types';

export interface SummarizerOptions {
  readonly profile: string;
  readonly handler: ApiHandler;
  /** Who receives the conversation: the vendor, or the host of a custom endpoint. */
  readonly vendor?: string;
  readonly prices?: ModelPrices;
  readonly billing?: SummarizerModel['billing'];
  readonly cacheLifetime?: CacheLifetime;
  /** Model tokens per o200k token. Default: the family's. */
  readonly tokenFactor?: number;
  readonly preferences?: Pick<SummarizerModel, 'prompt' | 'maskSecrets'>;
}

export function createSummarizer(options: SummarizerOptions): Summarizer {
  const { profile, handler, prices, billing = 'per-token', cacheLifetime = 'none' } = options;
  const { vendor, id, accounting, contextWindow, maxOutputTokens } = handler.modelInfo;
  const model: SummarizerModel = {
    profile,
    vendor: options.vendor ?? vendor,
    model: id,
    accounting,
    ...(contextWindow !== undefined && { contextWindow }),
    ...(maxOutputTokens !== undefined && { maxOutputTokens }),
    tokenFactor: options.tokenFactor ?? getTokenizerFactor(id),
    ...(prices && { prices }),
    billing,
    cacheLifetime,
    ...(handler.compacts === true && { compacts: true }),
    ...options.preferences,
  };
  return {
    model,
    async summarize(request, run = {}) {
      const startMs = performance.now();
      const isSent = run.signal?.aborted !== true;
      const outcome = await completeText(handler, makeSummaryApiRequest(request, model), run);
      const cost = isSent ? computeSummaryCost(outcome, prices) : 0;
      return toSummaryReply(outcome, cost, performance.now() - startMs, request.messages !== undefined);
    },
  };
}

/**
 * Caches the prompt only if the profile asks for it: for a single request, writing to the cache
 * costs more than it saves.
 */
function makeSummaryApiRequest(
  { system, prompt, messages, maxOutputTokens }: SummaryRequest,
  model: SummarizerModel,
): ApiRequest {
  if (messages) return { system, messages, tools: declareUsedTools(messages), maxOutputTokens, compact: true };
  const cacheControlField =
    model.accounting === 'anthropic' && model.cacheLifetime !== 'none'
      ? { cache_control: { type: 'ephemeral', ...(model.cacheLifetime === '1h' && { ttl: '1h' }) } }
      : {};
  return {
    system,
    messages: [{ role: 'user', content: [{ type: 'text', text: prompt, ...cacheControlField }] }],
    maxOutputTokens,
  };
}

/**
 * Vendors require declarations of called tools. The model only reads the calls, so no parameters
 * are needed.
 */
function declareUsedTools(messages: readonly ApiMessage[]): ToolDeclaration[] {
  const names = messages.flatMap((message) =>
    getBlocks(message)
      .filter(isToolUse)
      .map(({ name }) => name),
  );
  return [...new Set(names)].map((name) => ({ name, input_schema: { type: 'object' } }));
}

/**
 * The vendor responded with an error status, so these failures were not billed. Other failures
 * without usage may be billed.
 */
const UNANSWERED_ERROR_KINDS: ReadonlySet<ApiErrorKind> = new Set([
  'auth',
  'permission',
  'quota',
  'model',
  'rate-limit',
  'overloaded',
  'server',
  'context-too-long',
  'too-many-bytes',
  'invalid-request',
  'endpoint',
]);

/** US dollars; undefined if unknown. */
function computeSummaryCost(outcome: TextOutcome, prices: ModelPrices | undefined): number | undefined {
  if (outcome.usage) return computeCallCost(outcome.usage, prices);
  if (outcome.kind === 'complete' || outcome.partialText !== '') return undefined;
  const { kind, details } = outcome.error;
  return UNANSWERED_ERROR_KINDS.has(kind) || (kind === 'network' && !isBrokenConnection(details)) ? 0 : undefined;
}

function toSummaryReply(
  outcome: TextOutcome,
  cost: number | undefined,
  timeMs: number,
  isCompaction: boolean,
): SummaryReply {
  const { usage } = outcome;
  const replyFigures = { usage, cost, timeMs };
  if (outcome.kind === 'complete') return { ...replyFigures, kind: 'complete', text: outcome.text };
  const { error } = outcome;
  return {
    ...replyFigures,
    kind: toSummaryFailure(outcome, isCompaction),
    message: error.message,
    canRetry: error.canRetry,
    offerOtherProfile: error.offerOtherProfile,
  };
}

function toSummaryFailure({ kind, error }: FailedText, isCompaction: boolean): SummaryFailure {
  if (error.kind === 'context-too-long') return 'too-long';
  return isCompaction && error.kind === 'invalid-request' ? 'not-compacted' : kind;
}
