/** A model that summarizes, made of a handler: the core's interface on one side, a vendor's API on the other. */
import { callCost } from '../core/cost/callCost';
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
import { tokenizerFactor } from '../core/vendors/families';
import type { ApiErrorKind } from './apiError';
import { completeText, type FailedText, type TextOutcome } from './completeText';
import { isBrokenOff } from './retry';
import type { ApiHandler, ApiRequest, ToolDeclaration } from './types';

export interface SummarizerOptions {
  /** The profile's name for people. */
  readonly profile: string;
  readonly handler: ApiHandler;
  /** Who gets to see the conversation: the vendor, or the host of an endpoint that is somebody else's. Default: the handler's. */
  readonly vendor?: string;
  /** Undefined: the price is not known. */
  readonly prices?: ModelPrices;
  /** Default: by the token. */
  readonly billing?: SummarizerModel['billing'];
  /** Default `none`: a summary's prompt is seldom sent twice. */
  readonly cacheLifetime?: CacheLifetime;
  /** The model's tokens for one o200k token, where calls have shown it. Default: of the model's family. */
  readonly tokenFactor?: number;
  /** The user's settings for its summaries. */
  readonly preferences?: Pick<SummarizerModel, 'prompt' | 'maskSecrets'>;
}

/** A summarizer that asks a handler. What a call took comes with its reply; prices are US dollars. */
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
    tokenFactor: options.tokenFactor ?? tokenizerFactor(id),
    ...(prices && { prices }),
    billing,
    cacheLifetime,
    ...(handler.compacts === true && { compacts: true }),
    ...options.preferences,
  };
  return {
    model,
    async summarize(request, run = {}) {
      const started = performance.now();
      const isSent = run.signal?.aborted !== true;
      const outcome = await completeText(handler, apiRequest(request, model), run);
      const cost = isSent ? getCost(outcome, prices) : 0;
      return replyFrom(outcome, cost, performance.now() - started, request.messages !== undefined);
    },
  };
}

/** One user message. Marked for the prompt cache only where the profile asks for it: writing costs more than reading once. */
function apiRequest({ system, prompt, messages, maxOutputTokens }: SummaryRequest, model: SummarizerModel): ApiRequest {
  if (messages) return { system, messages, tools: toolsIn(messages), maxOutputTokens, compact: true };
  const mark =
    model.accounting === 'anthropic' && model.cacheLifetime !== 'none'
      ? { cache_control: { type: 'ephemeral', ...(model.cacheLifetime === '1h' && { ttl: '1h' }) } }
      : {};
  return {
    system,
    messages: [{ role: 'user', content: [{ type: 'text', text: prompt, ...mark }] }],
    maxOutputTokens,
  };
}

/** Calls want their tools declared; what they take is not asked of one who only reads them. */
function toolsIn(messages: readonly ApiMessage[]): ToolDeclaration[] {
  const names = messages.flatMap((message) =>
    getBlocks(message)
      .filter(isToolUse)
      .map(({ name }) => name),
  );
  return [...new Set(names)].map((name) => ({ name, input_schema: { type: 'object' } }));
}

/**
 * Failures of calls that were not answered: the vendor said no instead, with an error status. All others without usage may be billed:
 * a call that was cancelled, timed out or broke off may have been read, and answered in part.
 */
const NOT_ANSWERED: ReadonlySet<ApiErrorKind> = new Set([
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

/** US dollars of a call that was sent; undefined where nobody knows them. */
function getCost(outcome: TextOutcome, prices: ModelPrices | undefined): number | undefined {
  if (outcome.usage) return callCost(outcome.usage, prices);
  if (outcome.kind === 'complete' || outcome.partialText !== '') return undefined;
  const { kind, details } = outcome.error;
  return NOT_ANSWERED.has(kind) || (kind === 'network' && !isBrokenOff(details)) ? 0 : undefined;
}

function replyFrom(
  outcome: TextOutcome,
  cost: number | undefined,
  timeMs: number,
  isCompaction: boolean,
): SummaryReply {
  const { usage } = outcome;
  const base = { usage, cost, timeMs };
  if (outcome.kind === 'complete') return { ...base, kind: 'complete', text: outcome.text };
  const { error } = outcome;
  return {
    ...base,
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
