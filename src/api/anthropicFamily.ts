/** Shared by Anthropic's own API, Bedrock and Vertex: the Messages API through one of Anthropic's SDKs. */
import type { Anthropic } from '@anthropic-ai/sdk';
import { ANTHROPIC_QUIRKS, findAnthropicDialect, listBetas } from './anthropicDialect';
import { anthropicBody } from './anthropicMessages';
import { fromAnthropicStream } from './anthropicStream';
import { isApiError } from './apiError';
import { singleCall, streamCall, type Attempt } from './call';
import { toApiError } from './classifyError';
import { findFamily } from '../core/vendors/families';
import type { HandlerOptions } from './handlerOptions';
import { LearnedQuirks } from './quirks';
import { requestCounter } from './requestCounter';
import type { ApiHandler, ModelInfo, TokenCount, Vendor } from './types';

/** The part of Anthropic's clients that is used. */
export interface MessagesClient {
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

export interface FamilyOptions extends HandlerOptions {
  readonly name: string;
  readonly vendor: Vendor;
  /** Bedrock has no way to count tokens (its SDK's types say so; the method is there all the same). */
  readonly countsTokens: boolean;
  readonly secrets: readonly string[];
  /** A client of one try. The SDK is loaded here, at the first call. */
  readonly connect: (attempt: Attempt) => Promise<MessagesClient>;
}

/** The options of every client of Anthropic's SDKs: no retries, no logs, no tokens from the environment. */
export const clientOptions = ({ fetch, sdkTimeoutMs }: Attempt) => ({
  fetch,
  timeout: sdkTimeoutMs,
  maxRetries: 0,
  logLevel: 'off' as const,
});

/** A handler over a client of one of the SDKs. Its calls throw {@link ApiError}, or the signal's reason. */
export function anthropicFamilyHandler(options: FamilyOptions): ApiHandler {
  const { model, vendor, connect, countsTokens, name, secrets } = options;
  // AWS signs the bytes of a body.
  const signsBodies = vendor === 'bedrock';
  const counter = requestCounter(options.counter, model.id, 'anthropic');
  const modelInfo: ModelInfo = { ...model, vendor, accounting: 'anthropic' };
  const learning = new LearnedQuirks(findAnthropicDialect(model.id), ANTHROPIC_QUIRKS, (raw) =>
    toApiError(raw, { name, secrets, now: 0 }),
  );
  return {
    modelInfo,
    // "Amazon Bedrock: not available" (guide "Compaction that keeps recent turns").
    ...(vendor !== 'bedrock' && findFamily(model.id)?.compacts === true && { compacts: true }),
    stream: (request, signal) =>
      streamCall({
        ...options,
        // A summary arrives whole, at its end.
        ...(request.compact && { timeouts: { firstByteMs: WHOLE_SUMMARY_MS, ...options.timeouts } }),
        signal,
        countUsage: (output) => counter.usage(request, output),
        async *attempt(attempt) {
          const client = await connect(attempt);
          const events = await learning.ask((dialect) => {
            const body = { ...anthropicBody(request, model, dialect), stream: true };
            const headers = makeBetaHeaders(listBetas(dialect, 'thinking' in body, request.compact));
            const framed = signsBodies ? body : attempt.frame(body);
            return client.messages.create(framed as unknown as Anthropic.MessageCreateParamsStreaming, {
              signal: attempt.signal,
              ...headers,
            });
          });
          yield* fromAnthropicStream(events);
        },
      }),
    async countTokens(request, signal) {
      const estimate = (): TokenCount => ({ tokens: counter.request(request), exact: false });
      if (!countsTokens) return estimate();
      try {
        return await singleCall({ ...options, signal }, async (attempt) => {
          const { messages } = await connect(attempt);
          const countBy = messages.countTokens?.bind(messages);
          if (!countBy) return estimate();
          const count = await learning.ask((dialect) => {
            const asked = anthropicBody(request, model, dialect);
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
        // Gateways often have no such path; the model itself may well be there.
        if (isApiError(error) && error.kind === 'model') return estimate();
        throw error;
      }
    },
  };
}

/** As long as a whole call may take. */
const WHOLE_SUMMARY_MS = 300_000;

const makeBetaHeaders = (betas: readonly string[]): { headers?: Record<string, string> } =>
  betas.length > 0 ? { headers: { 'anthropic-beta': betas.join(',') } } : {};
