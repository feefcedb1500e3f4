import type { Anthropic } from '@anthropic-ai/sdk';
import { ANTHROPIC_QUIRKS, findAnthropicDialect, listBetas } from './anthropicDialect';
import { buildAnthropicBody } from './anthropicMessages';
import { convertAnthropicStream } from './anthropicStream';
import { isApiError } from './apiError';
import { callWithRetries, streamWithRetries, type CallAttempt } from './call';
import { toApiError } from './classifyError';
import { findModelFamily } from '../core/vendors/families';
import type { HandlerOptions } from './handlerOptions';
import { LearnedQuirks } from './quirks';
import { createRequestCounter } from './requestCounter';
import type { ApiHandler, ModelInfo, TokenCount, Vendor } from './types';

export interface AnthropicMessagesClient {
  readonly messages: {
    create(
      body: Anthropic.MessageCreateParamsStreaming,
      options: { signal: AbortSignal; headers?: Record<string, string> },
    ): PromiseLike<AsyncIterable<Anthropic.RawMessageStreamEvent>>;
    countTokens?(
      body: Anthropic.MessageCountTokensParams,
      options: { signal: AbortSignal; headers?: Record<string, string> },
    ): PromiseLike<Anthropic.MessageTokensCount>;
  };
}

export interface AnthropicFamilyOptions extends HandlerOptions {
  readonly name: string;
  readonly vendor: Vendor;
  /** False for Bedrock, whose API cannot count tokens (types of its SDK). */
  readonly countsTokens: boolean;
  readonly secrets: readonly string[];
  readonly connect: (attempt: CallAttempt) => Promise<AnthropicMessagesClient>;
}

export const makeClientOptions = ({ fetch, sdkTimeoutMs }: CallAttempt) => ({
  fetch,
  timeout: sdkTimeoutMs,
  maxRetries: 0,
  logLevel: 'off' as const,
});

/** Calls throw ApiError or the signal's reason. */
export function createAnthropicFamilyHandler(options: AnthropicFamilyOptions): ApiHandler {
  const { model, vendor, connect, countsTokens, name, secrets } = options;
  // AWS signs the body's bytes, so `Attempt.frame` cannot be used.
  const signsBodies = vendor === 'bedrock';
  const counter = createRequestCounter(options.counter, model.id, 'anthropic');
  const modelInfo: ModelInfo = { ...model, vendor, accounting: 'anthropic' };
  const learning = new LearnedQuirks(findAnthropicDialect(model.id), ANTHROPIC_QUIRKS, (raw) =>
    toApiError(raw, { name, secrets, now: 0 }),
  );
  return {
    modelInfo,
    // Bedrock has no compaction (guide "Compaction that keeps recent turns").
    ...(vendor !== 'bedrock' && findModelFamily(model.id)?.compacts === true && { compacts: true }),
    stream: (request, signal) =>
      streamWithRetries({
        ...options,
        // A summary sends nothing until it is complete.
        ...(request.compact && { timeouts: { firstByteMs: SUMMARY_TIMEOUT_MS, ...options.timeouts } }),
        signal,
        countUsage: (output) => counter.usage(request, output),
        async *attempt(attempt) {
          const client = await connect(attempt);
          const events = await learning.ask((dialect) => {
            const body = { ...buildAnthropicBody(request, model, dialect), stream: true };
            const headers = makeBetaHeaders(listBetas(dialect, 'thinking' in body, request.compact));
            const framed = signsBodies ? body : attempt.frame(body);
            return client.messages.create(framed as unknown as Anthropic.MessageCreateParamsStreaming, {
              signal: attempt.signal,
              ...headers,
            });
          });
          yield* convertAnthropicStream(events);
        },
      }),
    async countTokens(request, signal) {
      const estimate = (): TokenCount => ({ tokens: counter.request(request), exact: false });
      if (!countsTokens) return estimate();
      try {
        return await callWithRetries({ ...options, signal }, async (attempt) => {
          const { messages } = await connect(attempt);
          const countBy = messages.countTokens?.bind(messages);
          if (!countBy) return estimate();
          const count = await learning.ask((dialect) => {
            const asked = buildAnthropicBody(request, model, dialect);
            const { model: id, messages: sent, system, tools, tool_choice, thinking } = asked;
            const body = { model: id, messages: sent, system, tools, tool_choice, thinking } as unknown;
            return countBy((signsBodies ? body : attempt.frame(body)) as Anthropic.MessageCountTokensParams, {
              signal: attempt.signal,
              ...makeBetaHeaders(listBetas(dialect, thinking !== undefined)),
            });
          });
          return { tokens: count.input_tokens, exact: true };
        });
      } catch (error) {
        // Many gateways can't count tokens of a model that they have.
        if (isApiError(error) && error.kind === 'model') return estimate();
        throw error;
      }
    },
  };
}

const SUMMARY_TIMEOUT_MS = 300_000;

const makeBetaHeaders = (betas: readonly string[]): { headers?: Record<string, string> } =>
  betas.length > 0 ? { headers: { 'anthropic-beta': betas.join(',') } } : {};
