/** A model that summarizes, made of a handler: the core's interface on one side, a vendor's API on the other. */
import { callCost } from '../core/cost/callCost';
import type { CacheLifetime, ModelPrices } from '../core/cost/prices';
import type { Summarizer, SummarizerModel, SummaryReply, SummaryRequest } from '../core/condense/summary/summarizer';
import { tokenizerFactor } from '../core/vendors/families';
import { completeText, type TextOutcome } from './completeText';
import type { ApiHandler, ApiRequest } from './types';

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
  readonly wishes?: Pick<SummarizerModel, 'prompt' | 'maskSecrets'>;
}

/** A summarizer that asks a handler. What a call took comes with its reply; prices are US dollars. */
export function summarizerOf(options: SummarizerOptions): Summarizer {
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
    ...options.wishes,
  };
  return {
    model,
    async summarize(request, run = {}) {
      const started = performance.now();
      const outcome = await completeText(handler, apiRequest(request, model), run);
      return replyFrom(outcome, prices, performance.now() - started);
    },
  };
}

/** One user message. Marked for the prompt cache only where the profile asks for it: writing costs more than reading once. */
function apiRequest({ system, prompt, maxOutputTokens }: SummaryRequest, model: SummarizerModel): ApiRequest {
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

function replyFrom(outcome: TextOutcome, prices: ModelPrices | undefined, timeMs: number): SummaryReply {
  const { usage } = outcome;
  const base = { usage, cost: usage ? callCost(usage, prices) : 0, timeMs };
  if (outcome.kind === 'complete') return { ...base, kind: 'complete', text: outcome.text };
  const { error } = outcome;
  return {
    ...base,
    kind: error.kind === 'context-too-long' ? 'too-long' : outcome.kind,
    message: error.message,
    canRetry: error.canRetry,
    offerOtherProfile: error.offerOtherProfile,
  };
}
